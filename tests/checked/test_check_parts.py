"""gpukit.check and statements that write many elements at once: rows, parts, slices."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda

ROWS = 40


@cuda.jit
def row_kernel(out):
    out[cuda.grid(1)] = 5


@cuda.jit
def slice_kernel(out):
    out[cuda.grid(1), :] = 5


@cuda.jit
def ellipsis_kernel(out):
    out[..., cuda.grid(1)] = 5


@cuda.jit
def one_row_kernel(out):
    out[0] = cuda.threadIdx.x


@cuda.jit
def one_slice_kernel(out):
    out[0, 1:] = cuda.threadIdx.x


@pytest.mark.parametrize("kernel", [row_kernel, slice_kernel])
def test_rows_that_are_written_whole_have_no_finding(kernel):
    out = cuda.device_array((ROWS, 3), np.float32)
    assert gpukit.check(kernel)[1, ROWS](out).findings == []
    assert (out.copy_to_host() == 5).all()


def test_columns_that_are_written_whole_have_no_finding():
    out = cuda.device_array((3, ROWS), np.float32)
    assert gpukit.check(ellipsis_kernel)[1, ROWS](out).findings == []


@pytest.mark.parametrize("kernel", [one_row_kernel, one_slice_kernel])
def test_two_threads_that_write_one_row_are_a_race(kernel):
    (found,) = gpukit.check(kernel)[1, 64](np.zeros((1, 3), np.float32)).errors
    assert (found.kind, found.array) == ("global-race", "out")


def test_row_outside_the_array_is_a_finding():
    (found,) = gpukit.check(row_kernel)[1, ROWS](np.zeros((ROWS - 1, 3))).errors
    assert (found.kind, found.index) == ("out-of-bounds", (ROWS - 1,))
