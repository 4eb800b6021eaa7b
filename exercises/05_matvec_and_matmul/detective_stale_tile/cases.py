"""Cases of the tiled product: whole tiles, and ragged ones in each direction."""

import numpy as np

from gpukit.course import Case, poison

TILE = 16
# M, K, N
SHAPES = {
    "one tile": (TILE, TILE, TILE),
    "three steps along K": (TILE, 3 * TILE, TILE),
    "two by three tiles": (2 * TILE, TILE, 3 * TILE),
    "K one less than a tile": (TILE, TILE - 1, TILE),
    "one more in every direction": (TILE + 1, TILE + 1, TILE + 1),
    "three different primes": (31, 53, 37),
    "a row times a column": (1, 29, 1),
    "a single number": (1, 1, 1),
    "many tiles": (4 * TILE, 4 * TILE, 4 * TILE),
}


def products(a: np.ndarray, b: np.ndarray, part: slice) -> dict[str, np.ndarray]:
    """Return the product of which only a part of each sum is there."""
    return {"out": (a[:, part] @ b[part]).astype(np.float32)}


def case(rng: np.random.Generator, m: int, k: int, n: int) -> Case:
    """Return the case of a (m, k) and b (k, n)."""
    a = rng.normal(size=(m, k)).astype(np.float32)
    b = rng.normal(size=(k, n)).astype(np.float32)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    mistakes = {
        **{
            f"Only the first {end} products of each sum are there: the number of steps must come "
            "from K, (k_size + TILE - 1) // TILE.": products(wide_a, wide_b, slice(end))
            for end in range(TILE, 4 * TILE + 1, TILE)
            if end < k
        },
        "The last products of each sum are missing: the number of steps is rounded down.": (
            products(wide_a, wide_b, slice(k // TILE * TILE))
        ),
        "Only the products of the last step are there: acc is set to 0 once, before the loop.": (
            products(wide_a, wide_b, slice((k - 1) // TILE * TILE, k))
        ),
    }
    return Case(
        args={"a": a, "b": b, "out": poison((m, n))},
        grid=(-(-n // TILE), -(-m // TILE)),
        block=(TILE, TILE),
        expected={"out": (wide_a @ wide_b).astype(np.float32)},
        scale={"out": np.abs(wide_a) @ np.abs(wide_b)},
        mistakes=mistakes,
    )
