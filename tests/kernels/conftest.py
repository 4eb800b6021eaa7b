"""Fixtures for kernel tests: seeded inputs, NaN-poisoned outputs, a strict comparison."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(20260)


@pytest.fixture
def signed(rng):
    """Return a function that makes arrays of both signs with exact zeros and 1000x outliers."""

    def make(*shape, dtype=np.float32):
        values = rng.standard_normal(shape)
        values[rng.random(shape) < 0.05] *= 1000
        values[rng.random(shape) < 0.05] = 0
        return values.astype(dtype)

    return make


@pytest.fixture
def poisoned():
    """Return a function that makes outputs full of NaN: an element left unwritten fails."""

    def make(*shape, dtype=np.float32):
        return np.full(shape, np.nan, dtype)

    return make


@pytest.fixture
def assert_close():
    """Return a comparison with tolerance for the rounding error of a sum of `length` terms.

    A sum of n products rounded in any order is off by at most n * eps * (sum of the absolute
    terms), and `magnitude` is that sum. A NaN on either side fails.
    """

    def compare(actual, expected, *, magnitude, length=1):
        actual, expected = np.asarray(actual), np.asarray(expected)
        assert actual.shape == expected.shape
        eps = np.finfo(actual.dtype).eps
        tolerance = (length + 1) * eps * np.abs(magnitude) + np.finfo(actual.dtype).tiny
        error = np.abs(actual.astype(np.float64) - expected)
        wrong = np.argwhere(np.atleast_1d(~(error <= tolerance)))
        assert len(wrong) == 0, f"{len(wrong)} of {actual.size} wrong, first at {wrong[0]}"

    return compare
