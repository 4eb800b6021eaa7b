"""Divergent barriers: the error names the threads that arrived and those that did not."""

import numpy as np
import pytest

from gpukit import cuda, errors
from tests.safety.attempt import assert_fails, guarded, on_cpu

pytestmark = on_cpu


@cuda.jit
def in_if_kernel(a):
    t = cuda.threadIdx.x
    if t < 3:
        cuda.syncthreads()  # here
    a[t] = 1


@cuda.jit
def in_else_kernel(a):
    t = cuda.threadIdx.x
    if t % 2 == 0:
        a[t] = 1
    else:
        cuda.syncthreads()  # here


@cuda.jit
def in_while_kernel(a):
    t = cuda.threadIdx.x
    k = 0
    while k < t:
        cuda.syncthreads()  # here
        k += 1
    a[t] = k


@cuda.jit
def in_for_kernel(a):
    t = cuda.threadIdx.x
    for _ in range(t + 1):
        a[t] += 1
        cuda.syncthreads()  # here


@cuda.jit
def after_break_kernel(a):
    t = cuda.threadIdx.x
    for k in range(8):
        if k == t:
            break
        cuda.syncthreads()  # here
    a[t] = 1


@cuda.jit
def after_continue_kernel(a):
    t = cuda.threadIdx.x
    for k in range(8):
        if k == t:
            continue
        cuda.syncthreads()  # here
    a[t] = 1


@cuda.jit
def on_data_kernel(a):
    t = cuda.threadIdx.x
    if a[t] == 0 and t != 5:
        cuda.syncthreads()  # here


@cuda.jit
def count_in_if_kernel(a):
    t = cuda.threadIdx.x
    if t >= 6:
        a[t] = cuda.syncthreads_count(1)  # here


@cuda.jit(device=True)
def synchronize(a):
    cuda.syncthreads()  # here
    a[0] = 1


@cuda.jit
def in_device_function_kernel(a):
    if cuda.threadIdx.x < 4:
        synchronize(a)


@cuda.jit
def half_block_kernel(a):
    tile = cuda.shared.array(8, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    half = 4
    while half > 0:
        if t < half:
            cuda.syncthreads()  # here
            tile[t] += tile[t + half]
        half //= 2
    a[t] = tile[t]


# name, kernel, threads that arrived at the barrier, threads that did not
TABLE = [
    ("in an if", in_if_kernel, "0-2", "3-7"),
    ("in an else", in_else_kernel, "1, 3, 5, 7", "0, 2, 4, 6"),
    ("in a while", in_while_kernel, "1-7", "0"),
    ("in a for", in_for_kernel, "1-7", "0"),
    ("after a break", after_break_kernel, "1-7", "0"),
    ("after a continue", after_continue_kernel, "1-7", "0"),
    ("under a data-dependent condition", on_data_kernel, "0-4, 6-7", "5"),
    ("syncthreads_count", count_in_if_kernel, "6-7", "0-5"),
    ("in a device function", in_device_function_kernel, "0-3", "4-7"),
    ("in a tree reduction", half_block_kernel, "0-3", "4-7"),
]


@pytest.mark.parametrize(
    ("kernel", "inside", "outside"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
@pytest.mark.costly
def test_a_divergent_barrier_names_the_threads_that_arrived_and_the_missing_ones(
    kernel, inside, outside
):
    with guarded(8) as a:
        assert_fails(
            lambda: kernel[1, 8](a),
            errors.BarrierDivergence,
            f"was reached by threads {inside} of block 0",
            f"not by threads {outside},",
            "What to do: move the barrier out",
        )


def test_a_smaller_block_does_not_name_the_threads_of_a_larger_one():
    for threads, outside in ((40, "3-39"), (8, "3-7")):
        with pytest.raises(errors.BarrierDivergence) as caught:
            in_if_kernel[1, threads](np.zeros(threads))
        assert caught.value.missing == outside


def test_a_divergent_barrier_names_its_block():
    with guarded(8) as a:
        error = assert_fails(lambda: third_block_kernel[4, 8](a), errors.BarrierDivergence)
    assert error.block == (2, 0, 0)


@cuda.jit
def third_block_kernel(a):
    if cuda.blockIdx.x == 2 and cuda.threadIdx.x == 0:
        return_to = 1
    else:
        return_to = 0
    if return_to == 0 and cuda.blockIdx.x == 2:
        cuda.syncthreads()  # here
    a[cuda.threadIdx.x] = return_to


@cuda.jit
def some_returned_some_skip_kernel(a):
    t = cuda.threadIdx.x
    if t < 3:
        return
    if t < 6:
        cuda.syncthreads()  # here
    a[t] = 1


def test_a_barrier_that_some_threads_skip_diverges_though_others_have_returned():
    with guarded(8) as a:
        assert_fails(lambda: some_returned_some_skip_kernel[1, 8](a), errors.BarrierDivergence)
