"""What mistakes in the loop of a matrix product leave, for the cases of several exercises."""

from __future__ import annotations

import numpy as np

from gpukit.course.case import Array

Outputs = dict[str, Array]


def of_part(a: Array, b: Array, part: slice) -> Outputs:
    """Return the product of a (m, k) and b (k, n) of which only a part of each sum is there."""
    return of_parts(a, b, [part])


def of_parts(a: Array, b: Array, parts: list[slice]) -> Outputs:
    """Return the product where parts of each sum are added, some of them twice."""
    whole = np.sum([a[:, part] @ b[part] for part in parts], axis=0)
    return {"out": whole.astype(np.float32)}


def wrong_steps(a: Array, b: Array, tile: int) -> dict[str, Outputs]:
    """Return what wrong steps through tiles along K leave, by the sentence that names them."""
    k = a.shape[1]
    return {
        **{
            f"Only the first {end} products of each sum are there: the number of steps must come "
            "from K, (k_size + TILE - 1) // TILE.": of_part(a, b, slice(end))
            for end in range(tile, 4 * tile + 1, tile)
            if end < k
        },
        "The last products of each sum are missing: the number of steps is rounded down.": (
            of_part(a, b, slice(k // tile * tile))
        ),
        "Only the products of the last step are there: acc is set to 0 once, before the loop.": (
            of_part(a, b, slice((k - 1) // tile * tile, k))
        ),
    }
