"""Data-dependent outputs: a flag that no thread set is not an unwritten output."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda

BLOCK, N = 32, 50
SHAPE = (2, BLOCK)


@cuda.jit
def plain_if_kernel(x, limit, flag):
    i = cuda.grid(1)
    if i < x.size:
        y = x[i] * 3.0
        if y > limit:
            flag[0] = 1


@cuda.jit
def and_kernel(x, limit, flag):
    i = cuda.grid(1)
    if i < x.size and x[i] > limit:
        flag[0] = 1


@cuda.jit
def own_place_kernel(x, limit, flag):
    i = cuda.grid(1)
    if i < x.size and (x[i] > limit or x[i] < -limit):
        flag[i] = 1


@cuda.jit
def early_return_kernel(x, limit, flag):
    i = cuda.grid(1)
    if i >= x.size:
        return
    if x[i] <= limit:
        return
    flag[i] = 1


@cuda.jit
def continue_kernel(x, limit, flag):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y = x[i]
        if y <= limit:
            continue
        flag[i] = 1


@cuda.jit
def break_kernel(x, limit, flag):
    i = cuda.grid(1)
    for k in range(i, x.size):
        if x[k] <= limit:
            break
        flag[i] = 1


@cuda.jit
def while_kernel(x, limit, flag):
    i = cuda.grid(1)
    k = i
    while k < x.size and x[k] > limit:
        flag[i] = 1
        k += 1


@cuda.jit
def chosen_place_kernel(x, limit, flag, other):
    i = cuda.grid(1)
    if i < x.size:
        target = flag if x[i] > limit else other
        target[i] = 1


@cuda.jit(device=True)
def is_large(x, i, limit):
    return x[i] > limit


@cuda.jit(device=True)
def raise_flag(flag, i, value, limit):
    if value > limit:
        flag[i] = 1


@cuda.jit
def device_test_kernel(x, limit, flag):
    i = cuda.grid(1)
    if i < x.size and is_large(x, i, limit):
        flag[i] = 1


@cuda.jit
def device_store_kernel(x, limit, flag):
    i = cuda.grid(1)
    if i < x.size:
        raise_flag(flag, i, x[i], limit)


@cuda.jit
def vote_kernel(x, limit, flag):
    i = cuda.grid(1)
    large = 0
    if i < x.size and x[i] > limit:
        large = 1
    if cuda.syncthreads_or(large):
        flag[cuda.blockIdx.x] = 1


@cuda.jit
def shared_kernel(x, limit, flag):
    tile = cuda.shared.array(BLOCK, np.float64)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[tid] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    if tid == 0:
        for k in range(BLOCK):
            if tile[k] > limit:
                flag[cuda.blockIdx.x] = 1


@cuda.jit
def counted_kernel(x, limit, flag, count):
    i = cuda.grid(1)
    if i < x.size and x[i] > limit:
        flag[cuda.atomic.add(count, 0, 1)] = i


@cuda.jit
def atomic_kernel(x, limit, flag):
    i = cuda.grid(1)
    if i < x.size and x[i] > limit:
        cuda.atomic.exch(flag, 0, 1)


@cuda.jit
def mode_kernel(x, limit, flag):
    i = cuda.grid(1)
    if limit < 0:
        flag[0] = 1
    elif i < x.size:
        x[i] += 1


@cuda.jit
def mode_and_place_kernel(x, limit, flag):
    i = cuda.grid(1)
    if i < x.size and limit < 0:
        flag[i] = 1


@cuda.jit
def mode_returns_kernel(x, limit, flag):
    i = cuda.grid(1)
    if i >= x.size:
        return
    if limit > 0:
        return
    flag[i] = x[i]


@cuda.jit
def capacity_kernel(x, limit, flag):
    i = cuda.grid(1)
    if i >= limit:
        flag[0] = 1
    elif i < x.size:
        x[i] += 1


FLAGS = (
    plain_if_kernel,
    and_kernel,
    own_place_kernel,
    early_return_kernel,
    continue_kernel,
    break_kernel,
    while_kernel,
    device_test_kernel,
    device_store_kernel,
    vote_kernel,
    shared_kernel,
    atomic_kernel,
    mode_kernel,
    mode_and_place_kernel,
    mode_returns_kernel,
    capacity_kernel,
)
WITH_ANOTHER = (chosen_place_kernel, counted_kernel)


def name(kernel):
    return kernel.py_func.__name__


def kinds(kernel, *arguments):
    """Return the kinds of findings, without those on blocks that a mode leaves idle."""
    found = gpukit.check(kernel)[SHAPE](*arguments).findings
    return [f.kind for f in found if f.kind != "idle-threads"]


@pytest.mark.parametrize("kernel", FLAGS, ids=name)
@pytest.mark.costly
def test_flag_that_no_thread_sets_is_no_finding(kernel):
    assert kinds(kernel, np.arange(float(N)), 1000.0, np.zeros(N, np.int32)) == []


@pytest.mark.parametrize("kernel", WITH_ANOTHER, ids=name)
def test_output_that_no_data_selects_is_no_finding(kernel):
    arguments = np.arange(float(N)), 1000.0, np.zeros(N, np.int32), np.zeros(N, np.int32)
    assert kinds(kernel, *arguments) == []


@cuda.jit
def reversed_guard_kernel(x, out):
    i = cuda.grid(1)
    if i > x.size + BLOCK:
        out[i] = x[i]


@cuda.jit
def beyond_the_grid_kernel(x, out):
    i = cuda.grid(1) + 2 * BLOCK
    y = x[cuda.threadIdx.x]
    if i < out.size:
        out[i] = y


@cuda.jit
def sum_or_nothing_kernel(x, flag, out):
    i = cuda.grid(1)
    if i < x.size and x[i] > 1000.0:
        flag[0] = 1
    if i >= x.size:
        if i < out.size:
            out[i] = 2.0


@pytest.mark.parametrize("kernel", [reversed_guard_kernel, beyond_the_grid_kernel], ids=name)
def test_output_that_the_launch_shape_never_reaches_is_a_warning(kernel):
    x, out = np.ones(N), np.zeros(N)
    found = gpukit.check(kernel)[SHAPE](x, out).findings
    assert [(f.kind, f.severity, f.array) for f in found if f.kind != "idle-threads"] == [
        ("never-written", "warning", "out")
    ]


def test_output_next_to_a_flag_is_a_warning_when_the_launch_shape_never_reaches_it():
    found = gpukit.check(sum_or_nothing_kernel)[SHAPE](
        np.ones(N), np.zeros(1), np.zeros(N)
    ).warnings
    assert [(f.kind, f.array) for f in found] == [("never-written", "out")]


def test_uninitialised_flag_that_no_thread_sets_is_a_note():
    flag = cuda.device_array(1, np.int32)
    found = gpukit.check(plain_if_kernel)[SHAPE](np.arange(float(N)), 1000.0, flag).findings
    assert [(f.kind, f.severity) for f in found] == [("never-written", "info")]
    assert "ceil_div" not in found[0].fix
