"""Unscaling gradients: exact for powers of two, and NaN and infinity are noticed in the launch."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.kernels.optimizers import loss_scale
from tests.kernels.counts import cost_of

BLOCK = loss_scale.BLOCK
SIZES = [1, BLOCK - 1, BLOCK, BLOCK + 1, 1009]


def unscaled(grad, factor=1.0):
    """The gradient after unscale, and the flag."""
    grad, found = grad.copy(), np.zeros(1, np.int32)
    gpukit.unscale(grad, found, factor)
    return grad, found[0]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_power_of_two_divides_exactly(n, dtype, signed):
    grad = signed(n, dtype=dtype)
    made, found = unscaled(grad * dtype(2**16), 2**-16)
    np.testing.assert_array_equal(made, grad, strict=True)
    assert found == 0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", SIZES)
def test_one_value_that_is_not_finite_is_noticed_wherever_it_is(value, n, signed):
    for at in {0, n // 2, n - 1}:
        grad = signed(n)
        grad[at] = value
        assert unscaled(grad)[1] == 1


def test_all_values_may_be_infinite():
    assert unscaled(np.full((3, 100), np.inf, np.float32))[1] == 1


def test_the_largest_and_the_least_numbers_are_finite():
    kinds = np.finfo(np.float32)
    assert unscaled(np.array([kinds.max, kinds.min, kinds.tiny, kinds.smallest_subnormal]))[1] == 0


def test_what_overflows_by_the_factor_is_noticed():
    made, found = unscaled(np.array([1e38], np.float32), 2**16)
    assert (made[0], found) == (np.inf, 1)


def test_a_flag_that_is_set_stays_set(signed):
    found = np.ones(1, np.int32)
    gpukit.unscale(signed(5), found)
    assert found[0] == 1


def test_an_empty_gradient_is_finite():
    assert unscaled(np.zeros((0, 3), np.float32))[1] == 0


@pytest.mark.watched
def test_checker_finds_nothing_where_many_threads_set_the_flag():
    grad = cuda.to_device(np.full(BLOCK + 9, np.nan, np.float32))
    found = cuda.to_device(np.zeros(1, np.int32))
    report = gpukit.check(loss_scale.unscale_kernel)[2, BLOCK](np.float32(1), found, grad)
    assert report.errors == []


@pytest.mark.watched
def test_cost_is_what_is_counted_where_all_are_finite(signed):
    arguments = np.float32(1), np.zeros(1, np.int32), signed(300)
    found = gpukit.profile(loss_scale.unscale_kernel)[2, BLOCK](*arguments).total
    assert cost_of(found) == loss_scale.VARIANTS[0].cost(300)
    assert found["global_atomic_requests"] == 0
