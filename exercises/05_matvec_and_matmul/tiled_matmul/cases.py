"""Cases of the tiled product: whole tiles, and ragged ones in each direction."""

import numpy as np

from gpukit.course import Case, poison, products

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
    "many tiles, the last ones ragged": (62, 56, 56),
}


def tiles_turned(padded: np.ndarray) -> np.ndarray:
    """Return the matrix with each of its tiles transposed in its place."""
    rows, cols = padded.shape
    tiles = padded.reshape(rows // TILE, TILE, cols // TILE, TILE)
    return tiles.transpose(0, 3, 2, 1).reshape(rows, cols)


def wrong_tiles(a: np.ndarray, b: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
    """Return what is left where the tiles are filled or read in a wrong way."""
    m, k, n = *a.shape, b.shape[1]
    down, steps, across = (-(-size // TILE) for size in (m, k, n))
    most = max(down, across)  # of the tiles along each side, where the two are exchanged
    left = np.zeros((most * TILE, steps * TILE))
    above = np.zeros((steps * TILE, most * TILE))
    left[:m, :k], above[:k, :n] = a, b
    side, along = np.arange(most * TILE), np.arange(steps * TILE)
    a_by_ty = left[side[:, None], along // TILE * TILE + side[:, None] % TILE]
    b_by_tx = above[along[:, None] // TILE * TILE + side % TILE, side]
    tile = np.arange(most)[:, None] * TILE
    exchanged = poison((most * TILE, most * TILE))
    exchanged[: across * TILE, : down * TILE] = np.kron(
        left[tile[:across] + along % TILE, along] @ above[along, tile[:down] + along % TILE].T,
        np.ones((TILE, TILE)),
    )
    found = {
        "The tile of b is turned: b_tile[ty, tx] is stored, and b_tile[k, tx] is read.": (
            left @ tiles_turned(above)
        ),
        "The tile of a is turned: a_tile[ty, tx] is stored, and a_tile[ty, k] is read.": (
            tiles_turned(left) @ above
        ),
        "Both tiles are turned: a_tile[ty, k] and b_tile[k, tx] are read.": (
            tiles_turned(left) @ tiles_turned(above)
        ),
        "tx stands where ty should when b is loaded: its row is t * TILE + ty.": left @ b_by_tx,
        "ty stands where tx should when a is loaded: its column is t * TILE + tx.": a_by_ty @ above,
        "Rows and columns are exchanged: x is the column, y the row. `col, row = cuda.grid(2)`.": (
            exchanged
        ),
    }
    return {words: {"out": out[:m, :n].astype(np.float32)} for words, out in found.items()}


def one_guard(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the products where a thread loads only if its row, column and both k are inside."""
    row, col, k = np.arange(len(a)), np.arange(b.shape[1]), np.arange(a.shape[1])
    begin = k // TILE * TILE
    of_a = begin + row[:, None] % TILE < k.size  # and the column of the thread that loads a
    of_b = begin[:, None] + col % TILE < k.size
    across = (col // TILE * TILE)[:, None] + k % TILE < col.size
    down = (row // TILE * TILE)[:, None] + k % TILE < row.size
    return np.asarray((a * of_a * down) @ (b * of_b * across.T))


def case(rng: np.random.Generator, m: int, k: int, n: int) -> Case:
    """Return the case of a (m, k) and b (k, n)."""
    a = rng.normal(size=(m, k)).astype(np.float32)
    b = rng.normal(size=(k, n)).astype(np.float32)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    right, least = (wide_a @ wide_b).astype(np.float32), min(m, n)
    guarded = poison((m, n))
    guarded[:least, :least] = right[:least, :least]
    mistakes = {
        **products.wrong_steps(wide_a, wide_b, TILE),
        "The guard of the store exchanges the sizes: row is less than out.shape[0], col less than "
        "out.shape[1].": {"out": guarded},
        **wrong_tiles(wide_a, wide_b),
        "Elements of the step before were added again: where a tile ends behind K, it must be set "
        "to 0 "
        "in each step, not only before the first.": products.of_parts(
            wide_a, wide_b, [slice(k), slice(max(0, k - TILE) if k % TILE else k, k // TILE * TILE)]
        ),
        "One condition guards both loads. A thread that has no element of out still loads for "
        "others: "
        "each tile has a guard of its own.": {"out": one_guard(wide_a, wide_b).astype(np.float32)},
    }
    if m < k:  # in other shapes the kernel leaves the matrices
        mistakes[
            "The number of steps comes from M, the rows of a. It comes from K, a.shape[1]."
        ] = products.of_part(wide_a, wide_b, slice(m))
    if n < k:
        mistakes[
            "The number of steps comes from N, the columns of b. It comes from K, a.shape[1]."
        ] = products.of_part(wide_a, wide_b, slice(n))
    return Case(
        args={"a": a, "b": b, "out": poison((m, n))},
        grid=(-(-n // TILE), -(-m // TILE)),
        block=(TILE, TILE),
        expected={"out": right},
        scale={"out": np.abs(wide_a) @ np.abs(wide_b)},
        mistakes=mistakes,
    )
