"""Matrix products, for the cases of several exercises."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.course.case import Array, Case, poison


def in_tiles(tile: int) -> dict[str, tuple[int, int, int]]:
    """Return M, K and N at which products in square tiles go wrong, easiest first."""
    return {
        "one tile": (tile, tile, tile),
        "three steps along K": (tile, 3 * tile, tile),
        "two by three tiles": (2 * tile, tile, 3 * tile),
        "K one less than a tile": (tile, tile - 1, tile),
        "one more in every direction": (tile + 1, tile + 1, tile + 1),
        "three different primes": (31, 53, 37),
        "a row times a column": (1, 29, 1),
        "a single number": (1, 1, 1),
    }


def dot(a: Array, b: Array) -> tuple[Array, Array]:
    """Return `a @ b` in float32, summed in float64, and the sums of the sizes of its terms.

    >>> right, sizes = dot(np.array([1, -2]), np.array([3, 4]))
    >>> float(right), float(sizes)
    (-5.0, 11.0)
    """
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    return (wide_a @ wide_b).astype(np.float32), np.abs(wide_a) @ np.abs(wide_b)


def case(rng: np.random.Generator, m: int, k: int, n: int, **launch: Any) -> Case:
    """Return the case of `out = a @ b`, where a is (m, k) and b is (k, n), with this launch."""
    a = rng.normal(size=(m, k)).astype(np.float32)
    b = rng.normal(size=(k, n)).astype(np.float32)
    right, sizes = dot(a, b)
    return Case(
        args={"a": a, "b": b, "out": poison((m, n))},
        expected={"out": right},
        scale={"out": sizes},
        **launch,
    )
