"""The hyperbolic tangent of float32, which the compiler has its own of: vectors, no branches."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit import cuda, target

pytestmark = pytest.mark.skipif(target.wanted() == "cuda", reason="a GPU has a tanh of its own")
PLACES = 2  # units in the last place; what CUDA promises of its tanhf


@cuda.jit
def tanh_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = math.tanh(x[i])


def tanh(x):
    out = np.full_like(x, 7)
    tanh_kernel[-(-len(x) // 256), 256](x, out)
    return out


def off(x):
    """Return by how many units in the last place the results are off."""
    right = np.tanh(x.astype(np.float64))
    return np.abs(tanh(x) - right) / np.spacing(np.abs(right).astype(np.float32))


def test_numbers_of_every_size_are_right_within_two_places():
    sizes = np.concatenate([np.linspace(0, 12, 400_001), np.logspace(-44, 38, 100_001)])
    x = np.concatenate([-sizes, sizes]).astype(np.float32)
    assert off(x).max() <= PLACES


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_any_number_is_right_within_two_places(values):
    assert off(np.array(values, np.float32)).max() <= PLACES


def test_infinities_and_nan():
    out = tanh(np.array([np.inf, -np.inf, np.nan], np.float32))
    np.testing.assert_array_equal(out, [1, -1, np.nan])


def test_zero_keeps_its_sign():
    assert np.signbit(tanh(np.array([0.0, -0.0], np.float32))).tolist() == [False, True]


def test_float64_keeps_its_precision():
    x = np.linspace(-3, 3, 1001)
    np.testing.assert_allclose(tanh(x), np.tanh(x), rtol=1e-14)


def test_an_integer_is_taken_as_float64():
    x, out = np.arange(-3, 4), np.zeros(7)
    tanh_kernel[1, 7](x, out)
    np.testing.assert_allclose(out, np.tanh(x), rtol=1e-14)
