"""Shared memory keeps its poison wherever a missing initialisation could be seen."""

import numpy as np
import pytest

from gpukit import cuda
from tests.safety.attempt import on_cpu

pytestmark = on_cpu
BLOCK = 32
TWO_BLOCKS = 2 * BLOCK


@cuda.jit
def one_branch_kernel(out, n):
    tile = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    if t < n:
        tile[t] = cuda.blockIdx.x
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[t]


@cuda.jit
def added_to_kernel(out, n):
    tile = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    tile[t] += cuda.blockIdx.x
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[t]


@cuda.jit
def neighbour_read_too_soon_kernel(out, n):
    tile = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    tile[t] = cuda.blockIdx.x
    out[cuda.grid(1)] = tile[(t + 1) % BLOCK]


@cuda.jit
def returned_before_kernel(out, n):
    tile = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    if t >= n:
        return
    tile[t] = cuda.blockIdx.x
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[BLOCK - 1]


@cuda.jit
def larger_than_the_block_kernel(out, n):
    tile = cuda.shared.array(TWO_BLOCKS, np.float32)
    t = cuda.threadIdx.x
    tile[t] = cuda.blockIdx.x
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[t + BLOCK]


@pytest.mark.parametrize(
    "kernel",
    [
        one_branch_kernel, added_to_kernel, neighbour_read_too_soon_kernel, returned_before_kernel,
        larger_than_the_block_kernel,
    ],
    ids=lambda k: k.py_func.__name__,
)  # fmt: skip
def test_unwritten_shared_memory_shows_nothing_of_the_block_before(kernel, monkeypatch):
    monkeypatch.setenv("GPUKIT_THREADS", "1")  # the blocks run one after the other
    out = np.full((3, BLOCK), -1, np.float32)
    kernel[3, BLOCK](out.reshape(-1), 20)
    unwritten = out[:, 30 if kernel is one_branch_kernel else 5]
    assert len(set(unwritten.view(np.int32).tolist())) == 1


@cuda.jit
def own_element_kernel(out, a):
    tile = cuda.shared.array((4, 8), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = a[cuda.blockIdx.x] if tx < 5 else 7
    cuda.syncthreads()
    out[cuda.blockIdx.x, ty, tx] = tile[3 - ty, 7 - tx]


def test_array_that_every_thread_writes_first_needs_no_poison():
    out = np.full((3, 4, 8), np.nan, np.float32)
    own_element_kernel[3, (8, 4)](out, np.arange(3, dtype=np.float32))
    wanted = np.broadcast_to(np.arange(3)[:, None, None], out.shape).copy()
    wanted[:, :, :3] = 7
    np.testing.assert_array_equal(out, wanted)
