"""Kernels that use only `cuda.grid(1)` and `cuda.gridsize(1)`, whose blocks may run merged."""

import numpy as np
import pytest

from gpukit import cuda, errors
from tests.safety.attempt import on_cpu

pytestmark = on_cpu


@cuda.jit
def grid_stride_kernel(a, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = 2 * a[i]


@cuda.jit
def gridsize_kernel(out):
    out[cuda.grid(1)] = cuda.gridsize(1)


@cuda.jit
def block_kernel(out):
    i = cuda.grid(1)
    out[i] = cuda.blockIdx.x * 10_000 + cuda.threadIdx.x


@cuda.jit
def local_array_kernel(a, out):
    mine = cuda.local.array(4, np.int64)
    i = cuda.grid(1)
    for k in range(4):
        mine[k] = a[i] + k
    total = 0
    for k in range(4):
        total += mine[3 - k]
    out[i] = total


@pytest.mark.parametrize(("grid", "block"), [(1024, 256), (96, 33), (64, 1), (37, 128), (64, 1024)])
@pytest.mark.costly
def test_grid_stride_loop_visits_every_element_once(grid, block):
    a = np.arange(300_001.0)
    out = np.full(300_001, np.nan)
    grid_stride_kernel[grid, block](a, out)
    np.testing.assert_array_equal(out, 2 * a)


@pytest.mark.parametrize(("grid", "block"), [(128, 32), (100, 7), (1, 5)])
def test_gridsize_is_that_of_the_launch(grid, block):
    out = np.zeros(grid * block, np.int64)
    gridsize_kernel[grid, block](out)
    assert (out == grid * block).all()


def test_block_and_thread_indices_are_those_of_the_launch():
    out = np.full(128 * 32, -1)
    block_kernel[128, 32](out)
    i = np.arange(128 * 32)
    np.testing.assert_array_equal(out, i // 32 * 10_000 + i % 32)


def test_local_arrays_of_different_threads_are_separate():
    a = np.arange(256 * 64)
    out = np.full(256 * 64, -1)
    local_array_kernel[256, 64](a, out)
    np.testing.assert_array_equal(out, 4 * a + 6)


@pytest.mark.parametrize("spare", [0, 17, 255])
def test_error_names_the_block_and_the_thread_of_the_launch(spare, monkeypatch):
    monkeypatch.setenv("GPUKIT_THREADS", "1")
    with pytest.raises(errors.OutOfBounds) as caught:
        gridsize_kernel[1024, 256](np.zeros(1000 * 256 + spare, np.int64))
    assert caught.value.block == (1000, 0, 0)
    assert caught.value.thread == (spare, 0, 0)
    assert caught.value.index == (1000 * 256 + spare,)
