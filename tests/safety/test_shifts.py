"""Shifts by negative or too large amounts give PTX's results, and are safe in loop bounds."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda

AMOUNTS = np.array([0, 1, 31, 32, 63, 64, 65, 1000, -1, -4, -(2**63)], np.int64)
NUMBERS = np.array([1, 3, -1, -8, 2**31, 2**62 + 1, -(2**63)], np.int64)


@cuda.jit
def shift_kernel(numbers, amounts, left, right):
    i = cuda.threadIdx.x
    for k in range(amounts.shape[0]):
        left[i, k] = numbers[i] << amounts[k]
        right[i, k] = numbers[i] >> amounts[k]


@cuda.jit
def in_place_kernel(numbers, amounts, left, right):
    i = cuda.threadIdx.x
    for k in range(amounts.shape[0]):
        x = numbers[i]
        x <<= amounts[k]
        left[i, k] = x
        right[i, k] = numbers[i]
        right[i, k] >>= amounts[k]


def expected(shift):
    """Return PTX's results: an amount below 0 or beyond the width shifts all bits out."""
    rows = []
    for number in NUMBERS.tolist():
        counts = [amount if 0 <= amount < 64 else 64 for amount in AMOUNTS.tolist()]
        values = [number << c if shift == "left" else number >> c for c in counts]
        rows.append([(v + 2**63) % 2**64 - 2**63 for v in values])
    return np.array(rows)


def plain(kernel, *arguments):
    kernel[1, len(NUMBERS)](*arguments)


def checked(kernel, *arguments):
    assert gpukit.check(kernel)[1, len(NUMBERS)](*arguments).errors == []


@pytest.mark.parametrize("kernel", [shift_kernel, in_place_kernel])
@pytest.mark.parametrize("launch", [plain, checked])
def test_a_shift_by_any_amount_gives_the_result_of_ptx(launch, kernel):
    left, right = np.zeros((2, len(NUMBERS), len(AMOUNTS)), np.int64)
    launch(kernel, NUMBERS, AMOUNTS, left, right)
    np.testing.assert_array_equal(left, expected("left"))
    np.testing.assert_array_equal(right, expected("right"))


def test_an_unsigned_right_shift_beyond_the_width_gives_zero():
    @cuda.jit
    def kernel(x, amount, out):
        out[0] = x[0] >> amount

    out = np.ones(1, np.uint64)
    kernel[1, 1](np.array([2**63 + 5], np.uint64), np.uint64(70), out)
    assert out[0] == 0


@pytest.mark.parametrize("launch", [plain, checked])
def test_a_loop_bound_shifted_by_a_negative_constant_is_finite(launch):
    @cuda.jit
    def kernel(n, out):
        out[cuda.threadIdx.x] = 0
        for _ in range(2, 2 + ((n << (-4)) & 3)):
            out[cuda.threadIdx.x] += 1

    out = np.full(len(NUMBERS), 9, np.int32)
    launch(kernel, 5, out)
    assert not out.any()


def test_a_loop_bound_shifted_by_a_negative_constant_writes_nothing_outside():
    @cuda.jit
    def kernel(n, out):
        own = cuda.local.array(4, np.uint32)
        for k in range(4):
            own[k] = 1
        for _ in range(2, 2 + ((own[-n] << (-4)) & 3)):
            out[cuda.threadIdx.x] += 1

    out = np.zeros(8)
    kernel[1, 8](0, out)
    assert not out.any()
