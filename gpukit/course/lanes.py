"""What threads hold that share a row, lanes of a warp or a whole block, for several exercises."""

from __future__ import annotations

import numpy as np

from gpukit.course.case import Array

WARP = 32
LEVELS = (16, 8, 4, 2, 1)  # of the shuffles that join what the lanes hold
LEAST = float(np.finfo(np.float32).min)  # of all finite float32
# Numbers with which people begin a maximum instead of minus infinity, as float32 holds them.
STARTS = tuple(
    float(np.float32(start))
    for start in (-1e2, -1e3, -1e4, -1e5, -1e6, -1e9, -1e10, -1e20, -1e30, -1e37, -1e38, -3e38)
)
# Rows and columns at which kernels go wrong that give a warp a row, in blocks of four warps.
SHAPES = {
    "a column for each lane": (4, 32),
    "two columns for each lane": (4, 64),
    "one number": (1, 1),
    "one column more": (4, 33),
    "one column less": (5, 31),
    "a column for each second lane": (5, 16),
    "one row": (1, 129),
    "one column": (127, 1),
    "two primes": (61, 83),
    "as many rows as threads": (128, 17),
    "many rows": (64, 264),
}


def scores(rng: np.random.Generator, rows: int, cols: int) -> Array:
    """Return rows of scores that lie around several centres; in each seventh one lies far above.

    There only the maximum of the row keeps every exponent small: no other number of the row does,
    nor the mean, nor the maximum of some of the columns. The lowest centre is the least number.
    """
    around = np.resize([0, 1000, -1e6, 50, 50, LEAST, -1e30], rows)
    x = rng.normal(0, 2, (rows, cols)) + around[:, None]
    high = np.arange(4, rows, 7)
    x[high, rng.integers(0, cols, high.size)] += 300
    return np.asarray(x, np.float32)


def own(values: Array, join: np.ufunc, nothing: float, threads: int = WARP) -> Array:
    """Return for each row what each thread makes of its own columns: k, k + threads, ...

    >>> own(np.ones((1, 33)), np.add, 0)[0, :3]
    array([2., 1., 1.])
    """
    rows, cols = values.shape
    padded = np.full((rows, -(-cols // threads) * threads), float(nothing))
    padded[:, :cols] = values
    return np.asarray(join.reduce(padded.reshape(rows, -1, threads), axis=1))


def wrong_levels(held: Array) -> dict[str, Array]:
    """Return the sums that a tree with a wrong level makes of what threads hold, the last axis."""
    half = held.shape[-1] // 2
    return {
        "The last level of the tree is missing: half must come down to 1.": (
            held[..., ::2].sum(axis=-1)
        ),
        f"The first level of the tree is missing: half begins at {half}.": (
            held[..., :half].sum(axis=-1)
        ),
    }


def shuffled_down(held: Array, join: np.ufunc) -> Array:
    """Return what each lane holds after shuffles down; only lane 0 holds all.

    A lane that has no other to take from gets its own value.
    """
    for offset in LEVELS:
        other = held.copy()
        other[:, :-offset] = held[:, offset:]
        held = join(held, other)
    return held
