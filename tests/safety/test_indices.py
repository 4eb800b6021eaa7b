"""Correct accesses at the edge of an array, too few indices, indices beside slices."""

import numpy as np
import pytest

from gpukit import cuda, errors
from tests.safety.attempt import assert_fails, assert_good_launch, guarded, on_cpu

pytestmark = on_cpu


# Correct accesses at the edge


@cuda.jit
def store_kernel(a, first):
    a[cuda.grid(1) + first] = 1


def test_negative_indices_down_to_minus_n_count_from_the_end():
    with guarded(5) as a:
        store_kernel[1, 5](a, -5)
        assert a.tolist() == [1] * 5


@cuda.jit
def short_circuit_kernel(a):
    i = cuda.grid(1)
    if i < a.shape[0] and a[i] == 0:
        a[i] = 1


@cuda.jit
def conditional_kernel(a):
    i = cuda.grid(1)
    value = a[i] if i < a.shape[0] else 3.0
    if value == 0:
        a[i] = 1


@cuda.jit
def early_return_kernel(a):
    i = cuda.grid(1)
    if i >= a.shape[0]:
        return
    a[i] = 1


@pytest.mark.parametrize(
    "kernel",
    [short_circuit_kernel, conditional_kernel, early_return_kernel],
    ids=lambda k: k.__name__,
)
def test_a_guarded_access_of_threads_past_the_end_is_no_error(kernel):
    with guarded(5) as a:
        kernel[2, 32](a)
        assert a.tolist() == [1] * 5
    assert_good_launch()


# Too few indices


@cuda.jit
def row_as_scalar_kernel(a, out):
    out[0] = a[0]  # here


def test_too_few_indices_for_a_scalar_are_refused_at_their_line():
    with guarded((3, 4)) as a:
        assert_fails(
            lambda: row_as_scalar_kernel[1, 1](a, np.zeros(4)),
            errors.KernelTypeError,
            "A 1-dimensional array is stored in one element",
            "index the array on the right once per axis",
        )


@cuda.jit
def row_of_other_type_kernel(a, n):
    a[0] *= n  # here


def test_an_augmented_assignment_to_a_row_of_another_type_is_refused_at_its_line():
    with guarded((4, 3), np.uint64) as a:  # uint64 times int64 is float64: Numba's inference fails
        assert_fails(
            lambda: row_of_other_type_kernel[1, 1](a, 2),
            errors.KernelTypeError,
            "Numba cannot infer the types of this statement",
            "give arrays one index per axis",
        )


# A single index beside a slice


@cuda.jit
def row_kernel(a, j):
    row = a[j, :]  # here
    row[0] = 5


@cuda.jit
def column_kernel(a, j):
    a[:, j][0] = 5  # here


@cuda.jit
def fill_row_kernel(a, j):
    a[j, 1:] = 5  # here


@cuda.jit
def last_axis_kernel(a, j):
    a[..., j] = 5  # here


@cuda.jit
def whole_row_kernel(a, j):
    a[j] = 5  # here


@cuda.jit
def whole_row_by_remainder_kernel(a, j):
    a[(j + cuda.laneid) % a.shape[0]] = 5  # here


BESIDE_A_SLICE = [row_kernel, column_kernel, fill_row_kernel, last_axis_kernel, whole_row_kernel]


@pytest.mark.parametrize("kernel", BESIDE_A_SLICE)
@pytest.mark.parametrize("j", [4, 50, -5])
def test_an_index_beside_a_slice_is_bounds_checked(kernel, j):
    with guarded((4, 4)) as a:
        assert_fails(lambda: kernel[1, 1](a, j), errors.OutOfBounds, f"index {j}", "shape is (4,)")


def test_a_negative_index_beside_a_slice_counts_from_the_end():
    with guarded((4, 3)) as a:
        fill_row_kernel[1, 1](a, -1)
        assert a[3].tolist()[1:] == [5, 5]


def test_an_index_after_an_ellipsis_is_for_the_last_axis():
    with guarded((2, 3, 4)) as a:
        last_axis_kernel[1, 1](a, 3)
        assert (a[..., 3] == 5).all()
        assert a.sum() == 5 * 6


def test_any_row_of_an_array_without_rows_is_out_of_bounds():
    with guarded((0, 3)) as a:
        assert_fails(
            lambda: whole_row_by_remainder_kernel[1, 24](a, 0), errors.OutOfBounds, "shape is (0,)"
        )


@cuda.jit
def two_of_three_kernel(a, i, j):
    a[i, j] = 5  # here


@cuda.jit
def read_two_of_three_kernel(a, i, j):
    row = a[i, j]  # here
    row[0] = 5


@pytest.mark.parametrize("kernel", [two_of_three_kernel, read_two_of_three_kernel])
@pytest.mark.parametrize(("i", "j"), [(2, 0), (0, 3), (-3, 0), (0, 1 << 40)])
def test_all_indices_of_a_subarray_are_bounds_checked(kernel, i, j):
    with guarded((2, 3, 4)) as a:
        assert_fails(
            lambda: kernel[1, 1](a, i, j), errors.OutOfBounds, f"({i}, {j})", "shape is (2, 3)"
        )


# Constants

TABLE = np.arange(4.0)


@cuda.jit
def write_captured_kernel(out):
    TABLE[0] = out[0]  # here


@cuda.jit
def write_constant_kernel(out):
    table = cuda.const.array_like(TABLE)
    table[0] = out[0]  # here


@cuda.jit
def add_to_captured_kernel(out):
    cuda.atomic.add(TABLE, 0, out[0])  # here


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (add_to_captured_kernel, "TABLE is an array defined outside the kernel"),
        (write_captured_kernel, "TABLE is an array defined outside the kernel"),
        (write_constant_kernel, "The kernel writes to an array that is read-only"),
    ],
)
def test_a_captured_array_cannot_be_written(kernel, message):
    with guarded(4) as out:
        assert_fails(lambda: kernel[1, 1](out), errors.KernelTypeError, message)
