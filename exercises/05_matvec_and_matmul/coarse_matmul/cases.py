"""Cases of the coarsened product: whole blocks, and ragged ones in each direction."""

import numpy as np

from gpukit.course import Case, poison, products

BLOCK = (32, 2)
EACH = 4
# M, K, N
SHAPES = {
    "one block": (8, 48, 32),
    "one row less": (7, 16, 32),
    "one more in every direction": (9, 17, 33),
    "one column less": (8, 5, 31),
    "a row times a column": (1, 29, 1),
    "a single number": (1, 1, 1),
    "three different primes": (31, 53, 37),
    "many rows": (62, 61, 56),
}


def case(rng: np.random.Generator, m: int, k: int, n: int) -> Case:
    """Return the case of a (m, k) and b (k, n)."""
    a = rng.normal(size=(m, k)).astype(np.float32)
    b = rng.normal(size=(k, n)).astype(np.float32)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    right = (wide_a @ wide_b).astype(np.float32)
    across, down = -(-n // BLOCK[0]), -(-m // (BLOCK[1] * EACH))
    row, groups, missed = np.arange(m)[:, None], BLOCK[1] * down, poison((m, n))
    strided = np.arange(groups)[:, None] + EACH * np.arange(EACH)
    below = np.zeros((m + EACH, n), np.float32)  # the sums of rows behind the last stay 0
    below[:m] = right
    # Some mistakes leave the matrices in all other shapes.
    special = {}
    if k > 64:
        special[
            "Only the first 64 products of each sum are there: the end of the loop is a.shape[1]."
        ] = products.of_part(wide_a, wide_b, slice(64))
    if n < k:
        special[
            "The loop over k ends at N, the columns of b. It ends at K, the columns of a: "
            "a.shape[1]."
        ] = products.of_part(wide_a, wide_b, slice(n))
    if m < k:
        special[
            "The loop over k ends at M, the rows of a. It ends at K, the columns of a: a.shape[1]."
        ] = products.of_part(wide_a, wide_b, slice(m))
    return Case(
        args={"a": a, "b": b, "out": poison((m, n))},
        grid=(across, down),
        block=BLOCK,
        expected={"out": right},
        scale={"out": np.abs(wide_a) @ np.abs(wide_b)},
        mistakes={
            "Only every fourth row was written: each thread has four rows.": {
                "out": np.where(row % EACH == 0, right, missed)
            },
            "All four rows of a thread hold the same sums: a[top, k] for a[top + r, k].": {
                "out": right[np.arange(m) // EACH * EACH]
            },
            "The four rows of a thread stand upside down: the sum of row top + r belongs there.": {
                "out": below[np.arange(m) // EACH * EACH + EACH - 1 - np.arange(m) % EACH]
            },
            "The groups of rows overlap: the first row of a thread is EACH times its group.": {
                "out": np.where(row < groups + EACH - 1, right, missed)
            },
            "Each thread made results of one row. Its four results lie below each other, in the "
            "rows from top = EACH * group on.": {"out": np.where(row < groups, right, missed)},
            "The rows of a thread are top, top + 1, top + 2, top + 3: it is top + r, with top = "
            "EACH * group.": {"out": np.where(np.isin(row, strided), right, missed)},
            "Each thread made two rows. EACH is 4: the launch has one thread for four rows.": {
                "out": np.where(row < 2 * groups, right, missed)
            },
            "A thread without four whole rows did nothing. Guard each row by itself: "
            "top + r < out.shape[0].": {"out": np.where(row < m // EACH * EACH, right, missed)},
            "The last product of each sum is missing: the loop ends one too early.": (
                products.of_part(wide_a, wide_b, slice(k - 1))
            ),
            "Only the last product is there: each one replaced the one before. It is `+=`.": (
                products.of_part(wide_a, wide_b, slice(k - 1, k))
            ),
            **special,
        },
    )
