"""Inputs, finite differences and a comparison for the tests of layer norm and batch norm."""

import numpy as np


def assert_near(actual, expected, *, terms=1):
    """Compare with float64, with tolerance for the rounding of a sum of `terms` terms."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    tolerance = 16 * np.finfo(actual.dtype).eps * max(terms, 1) ** 0.5
    magnitude = np.abs(expected).max(initial=1)
    wrong = ~(np.abs(actual.astype(np.float64) - expected) <= tolerance * magnitude)
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size} wrong, first at {np.argwhere(wrong)[0]}"


def random_arrays(rng, dtype, *shapes):
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def finite_differences(error, array, step=1e-6):
    """Return the central differences of `error` with respect to each element of an array."""
    found = np.empty_like(array)
    for place in np.ndindex(array.shape):
        original = array[place]
        array[place] = original + step
        above = error()
        array[place] = original - step
        found[place] = (above - error()) / (2 * step)
        array[place] = original
    return found
