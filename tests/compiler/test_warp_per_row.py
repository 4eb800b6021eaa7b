"""Kernels in which each warp has its own work, such as one matrix row per warp."""

import numpy as np
import pytest

from gpukit import cuda, errors
from tests.safety.attempt import on_cpu

pytestmark = on_cpu


@cuda.jit(device=True)
def warp_sum(value):
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    return value


@cuda.jit
def row_sums_kernel(a, out):
    row = cuda.grid(1) // 32
    lane = cuda.threadIdx.x % 32
    if row < a.shape[0]:
        total = a.dtype.type(0)
        for col in range(lane, a.shape[1], 32):
            total += a[row, col]
        total = warp_sum(total)
        if lane == 0:
            out[row] = total


@cuda.jit
def indices_kernel(out):
    i = cuda.grid(1)
    warp = i // 32
    cuda.syncwarp()
    out[i, 0] = warp
    out[i, 1] = i % 32
    out[i, 2] = cuda.threadIdx.x
    out[i, 3] = cuda.blockIdx.x
    out[i, 4] = cuda.blockDim.x
    out[i, 5] = cuda.gridDim.x
    out[i, 6] = cuda.gridsize(1)
    out[i, 7] = cuda.threadIdx.x // 32
    out[i, 8] = cuda.laneid
    out[i, 9] = cuda.blockIdx.y


@cuda.jit
def read_next_kernel(a, out):
    warp = cuda.grid(1) // 32
    cuda.syncwarp()
    out[cuda.grid(1)] = a[warp + 1]


@pytest.mark.parametrize("cols", [0, 1, 31, 32, 33, 63, 64, 65, 1000])
@pytest.mark.parametrize("block", [32, 64, 96, 256, 1024])
def test_each_warp_sums_its_row_for_any_block_and_row_size(block, cols):
    a = np.random.default_rng(cols).integers(-9, 9, (37, cols)).astype(np.float32)
    out = np.full(37, np.nan, np.float32)
    row_sums_kernel[-(-37 * 32 // block), block](a, out)
    np.testing.assert_array_equal(out, a.sum(axis=1))


@pytest.mark.parametrize("block", [64, 256])
def test_all_indices_and_dimensions_are_those_of_the_launch(block):
    out = np.full((3 * block * 2, 10), -1)
    indices_kernel[(6, 1), block](out)
    i = np.arange(6 * block)
    right = [
        i // 32,
        i % 32,
        i % block,
        i // block,
        block + 0 * i,
        6 + 0 * i,
        6 * block + 0 * i,
        i % block // 32,
        i % 32,
        0 * i,
    ]
    np.testing.assert_array_equal(out, np.stack(right, axis=1))


def test_every_warp_of_blocks_along_y_runs_once():
    counts = np.zeros((2 * 64, 3), np.int64)

    @cuda.jit
    def count_kernel(counts):
        warp = cuda.grid(1) // 32
        cuda.syncwarp()
        cuda.atomic.add(counts, (warp * 32 + cuda.laneid, cuda.blockIdx.y), 1)

    count_kernel[(2, 3), 64](counts)
    assert (counts == 1).all()


@pytest.mark.parametrize("thread", [0, 31, 32, 255])
def test_an_error_names_the_block_and_the_thread_of_the_launch(thread, monkeypatch):
    monkeypatch.setenv("GPUKIT_THREADS", "1")
    warp = (5 * 256 + thread) // 32
    with pytest.raises(errors.OutOfBounds) as caught:
        read_next_kernel[9, 256](np.zeros(warp + 1, np.int64), np.zeros(9 * 256, np.int64))
    assert caught.value.block == (5, 0, 0)
    assert caught.value.thread == (thread // 32 * 32, 0, 0)
    assert caught.value.index == (warp + 1,)
