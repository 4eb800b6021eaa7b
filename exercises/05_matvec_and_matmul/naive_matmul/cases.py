"""Cases of the naive product: whole blocks, and ragged ones in each direction."""

import numpy as np

from gpukit.course import Case, poison, products

TILE = 16  # of threads, along x and y
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
    "many tiles, the last ones ragged": (64, 61, 56),
}


def case(rng: np.random.Generator, m: int, k: int, n: int) -> Case:
    """Return the case of a (m, k) and b (k, n)."""
    a = rng.normal(size=(m, k)).astype(np.float32)
    b = rng.normal(size=(k, n)).astype(np.float32)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    right, height, width = (wide_a @ wide_b).astype(np.float32), min(m, n), min(m, n)
    guarded, whole = poison((m, n)), np.trunc(a[:, :, None] * b).sum(axis=1)
    guarded[:height, :width] = right[:height, :width]
    exchanged, across, down = poison((m, n)), -(-n // TILE), -(-m // TILE)
    exchanged[: across * TILE, : down * TILE] = right[: across * TILE, : down * TILE]
    # Some mistakes leave the matrices in all other shapes.
    special = {}
    if k == n:
        product = {"out": (wide_a @ wide_b.T).astype(np.float32)}
        special["b is read along its rows: b[col, k] for b[k, col]."] = product
    if k == m:
        product = {"out": (wide_a.T @ wide_b).astype(np.float32)}
        special["a is read along its columns: a[k, row] for a[row, k]."] = product
    if k < n:
        narrow = poison((m, n))
        narrow[:, :k] = right[:, :k]
        special[
            "The guard compares col with K, the columns of a. It is less than out.shape[1]."
        ] = {"out": narrow}
    if k > 64:
        special[
            "Only the first 64 products of each sum are there: the end of the loop is a.shape[1]."
        ] = products.of_part(wide_a, wide_b, slice(64))
    if m < k:
        special[
            "The loop over k ends at M, the rows of a. It ends at K, the columns of a: a.shape[1]."
        ] = products.of_part(wide_a, wide_b, slice(m))
    if n < k:
        special[
            "The loop over k ends at N, the columns of b. It ends at K, the columns of a: "
            "a.shape[1]."
        ] = products.of_part(wide_a, wide_b, slice(n))
    if m <= k and n <= k:
        each = wide_a[:, :n] * wide_b[:m]
        special["This is one product, a[row, col] * b[row, col]. It needs a sum over k."] = {
            "out": each.astype(np.float32)
        }
        special[
            "The same product is added again and again, a[row, col] * b[row, col]: the factors are "
            "a[row, k] and b[k, col]."
        ] = {"out": (k * each).astype(np.float32)}
    return Case(
        args={"a": a, "b": b, "out": poison((m, n))},
        grid=(-(-n // TILE), -(-m // TILE)),
        block=(TILE, TILE),
        expected={"out": right},
        scale={"out": np.abs(wide_a) @ np.abs(wide_b)},
        mistakes={
            "The last product of each sum is missing: the loop ends one too early.": {
                "out": (wide_a[:, :-1] @ wide_b[:-1]).astype(np.float32)
            },
            "The first product of each sum is missing: the loop begins with 1.": {
                "out": (wide_a[:, 1:] @ wide_b[1:]).astype(np.float32)
            },
            "Only the last product is there: each one replaced the one before, not added to it.": {
                "out": (wide_a[:, -1:] @ wide_b[-1:]).astype(np.float32)
            },
            "The products are rounded to whole numbers before they are added: no int() in the sum, "
            "which begins with np.float32(0).": {"out": whole.astype(np.float32)},
            "Rows and columns are exchanged: x is the column, y the row. "
            "`col, row = cuda.grid(2)`.": {"out": exchanged},
            "The guard exchanges the sizes: row is less than out.shape[0], col less than "
            "out.shape[1].": {"out": guarded},
            **special,
        },
    )
