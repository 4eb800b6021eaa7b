"""What the 32 lanes of a warp hold that share a row, for the cases of several exercises."""

from __future__ import annotations

import numpy as np

from gpukit.course.case import Array

WARP = 32
LEVELS = (16, 8, 4, 2, 1)  # of the shuffles that join what the lanes hold


def scores(rng: np.random.Generator, rows: int, cols: int) -> Array:
    """Return rows of scores that lie around several centres, each fifth row around two.

    There the middle third is 300 higher, so that only the maximum of the row keeps every exponent
    small: no other number of the row does, nor the mean.
    """
    around = np.resize([0, 1000, -1e6, 50, 50], rows)
    x = rng.normal(0, 2, (rows, cols)) + around[:, None]
    x[4::5, cols // 3 : 2 * cols // 3] += 300
    return x.astype(np.float32)


def own(values: Array, join: np.ufunc, nothing: float) -> Array:
    """Return for each row what each lane makes of its own columns: k, k + 32, ...

    >>> own(np.ones((1, 33)), np.add, 0)[0, :3]
    array([2., 1., 1.])
    """
    rows, cols = values.shape
    padded = np.full((rows, -(-cols // WARP) * WARP), float(nothing))
    padded[:, :cols] = values
    return np.asarray(join.reduce(padded.reshape(rows, -1, WARP), axis=1))


def shuffled_down(held: Array, join: np.ufunc) -> Array:
    """Return what each lane holds after shuffles down; only lane 0 holds all.

    A lane that has no other to take from gets its own value.
    """
    for offset in LEVELS:
        other = held.copy()
        other[:, :-offset] = held[:, offset:]
        held = join(held, other)
    return held
