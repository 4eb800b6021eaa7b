"""What a launch is told to do about a barrier that not all threads of a block reach."""

import numpy as np

from gpukit import cuda
from tests.checked.advised import fixes
from tests.checked.plain_kernels import BLOCK, ones


@cuda.jit
def loop_in_if_kernel(x, out):
    i = cuda.grid(1)
    tile = cuda.shared.array(BLOCK, np.float32)
    if i < out.size:
        for k in range(2):
            tile[cuda.threadIdx.x] = x[i]
            cuda.syncthreads()
            out[i] += tile[0] * k
            cuda.syncthreads()


@cuda.jit
def in_if_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i]
        cuda.syncthreads()


@cuda.jit
def uneven_loop_kernel(x, out):
    for i in range(cuda.threadIdx.x, x.size, BLOCK):
        out[i] = x[i]
        cuda.syncthreads()


def advice_to(kernel):
    return fixes(kernel, 1, ones(BLOCK - 1), ones(BLOCK - 1))["barrier-divergence"]


def test_a_loop_with_a_barrier_is_to_be_taken_out_of_its_if():
    advice = advice_to(loop_in_if_kernel)
    line = loop_in_if_kernel.py_func.__code__.co_firstlineno + 4
    assert advice.startswith(
        f"take the loop of line {line + 1}, in which the barrier must stay, out of the `if` of "
        f"line {line}, and"
    )
    assert "guard each load from and store to global memory" in advice


def test_a_barrier_in_an_if_is_to_be_moved_out_of_it():
    assert advice_to(in_if_kernel).startswith("move the barrier out of the `if` of line ")


def test_all_threads_are_to_run_a_loop_with_a_barrier_the_same_number_of_times():
    advice = advice_to(uneven_loop_kernel)
    assert advice.startswith("let all threads of the block run the loop of line ")
    assert (
        "the same number of times, with an `if` around what only some of them have to do" in advice
    )


@cuda.jit
def grid_stride_kernel(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i]
        cuda.syncthreads()


def test_a_grid_stride_loop_with_a_barrier_is_named():
    line = grid_stride_kernel.py_func.__code__.co_firstlineno + 2
    assert f"run the loop of line {line} the same number of times" in advice_to(grid_stride_kernel)
