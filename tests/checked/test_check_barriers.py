"""Where advice puts a missing barrier: never inside an `if` that diverges within a block."""

import inspect
import re

import numpy as np

import gpukit
from gpukit import cuda

BLOCK = 64


@cuda.jit
def tree_kernel(x, out):
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    acc = x[tid]
    tile[tid] = acc
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        if tid % (2 * step) == 0:
            acc += tile[tid + step]
            tile[tid] = acc
        step *= 2
    out[tid] = acc


@cuda.jit
def scan_kernel(x, out):
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        if tid >= step:
            before = tile[tid - step]
            tile[tid] += before
        cuda.syncthreads()
        step *= 2
    out[tid] = tile[tid]


@cuda.jit
def guarded_kernel(x, out):
    tile = cuda.shared.array(BLOCK, np.float32)
    i = cuda.grid(1)
    if i < x.shape[0]:
        tile[i] = x[i]
        out[i] = tile[BLOCK - 1 - i]


@cuda.jit
def first_block_kernel(x, out):
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        tile[tid] = x[tid]
        out[tid] = tile[BLOCK - 1 - tid]


@cuda.jit
def loop_in_guard_kernel(x, out):
    tile = cuda.shared.array(BLOCK, np.float32)
    i = cuda.grid(1)
    if i < x.shape[0]:
        for _ in range(3):
            tile[i] = x[i]
            out[i] = tile[BLOCK - 1 - i]


@cuda.jit
def two_loops_kernel(x, out):
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    for _ in range(1):
        tile[tid] = x[tid]
    for _ in range(1):
        out[tid] = tile[BLOCK - 1 - tid]


@cuda.jit
def in_place_kernel(x, out):
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        tile[tid] += tile[(tid + step) % BLOCK]
        cuda.syncthreads()
        step *= 2
    out[tid] = tile[tid]


def fix(kernel):
    """Return the advice on a kernel's race, with lines counted from the decorator."""
    arrays = np.ones(BLOCK, np.float32), np.ones(BLOCK, np.float32)
    (race,) = (f for f in gpukit.check(kernel)[1, BLOCK](*arrays).findings if f.array == "tile")
    first = inspect.getsourcelines(kernel.py_func)[1]
    return re.sub(r"line (\d+)", lambda found: f"line +{int(found[1]) - first}", race.fix)


def test_advised_barrier_of_a_tree_is_inside_the_loop_and_outside_the_if():
    assert fix(tree_kernel).startswith(
        "put `cuda.syncthreads()` inside the loop, after the `if` of line +9"
    )


def test_advice_is_to_split_the_if_when_the_loop_already_has_a_barrier():
    assert fix(scan_kernel) == (
        "split the `if` of line +8, which some threads skip: one `if` for line +9, then "
        "`cuda.syncthreads()`, where all threads of the block reach it, then one for line +10"
    )


def test_advice_is_to_split_a_guard_around_a_write_and_a_read():
    assert fix(guarded_kernel).startswith("split the `if` of line +4")


def test_advised_barrier_may_be_inside_an_if_that_is_uniform_per_block():
    assert "between line +5 and line +6" in fix(first_block_kernel)


def test_no_barrier_inside_a_loop_that_some_threads_skip_is_advised():
    assert "between line +6 and line +7" in fix(loop_in_guard_kernel)


def test_advised_barrier_between_two_loops_names_their_lines_in_source_order():
    assert fix(two_loops_kernel).startswith("put `cuda.syncthreads()` between line +5 and line +7")


def test_advice_for_an_in_place_loop_with_a_barrier_is_to_read_before_writing():
    advice = fix(in_place_kernel)
    assert advice.endswith("read into a variable, call `cuda.syncthreads()`, then write")
