"""Inputs, slopes and a comparison for the tests of layer norm and batch norm."""

import numpy as np


def near(made, right, *, terms=1):
    """Compare with float64, each element within the roundings of a sum of so many terms."""
    made, right = np.asarray(made), np.asarray(right)
    assert made.shape == right.shape
    tolerance = 16 * np.finfo(made.dtype).eps * max(terms, 1) ** 0.5
    magnitude = np.abs(right).max(initial=1)
    wrong = ~(np.abs(made.astype(np.float64) - right) <= tolerance * magnitude)
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size} wrong, first at {np.argwhere(wrong)[0]}"


def drawn(rng, dtype, *shapes):
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def slopes(error, array, step=1e-6):
    """Return how a number changes with each element of an array, by differences."""
    found = np.empty_like(array)
    for place in np.ndindex(array.shape):
        kept = array[place]
        array[place] = kept + step
        above = error()
        array[place] = kept - step
        found[place] = (above - error()) / (2 * step)
        array[place] = kept
    return found
