"""Cases of the dot product: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    a, b = rng.normal(0.5, 1, (2, n)).astype(np.float32)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    blocks = max(1, -(-n // BLOCK))

    def one(value: float) -> dict[str, np.ndarray]:
        return {"out": np.array([value], np.float32)}

    whole = n // BLOCK * BLOCK
    last = (n - 1) // BLOCK * BLOCK
    rows = np.zeros((blocks, BLOCK))  # the products of each block
    rows.reshape(-1)[:n] = wide_a * wide_b
    levels = sum(rows[:, ::step].sum() for step in (64, 32, 16, 8, 4, 2, 1))
    return Case(
        args={"a": a, "b": b, "out": np.zeros(1, np.float32)},
        grid=blocks,
        block=BLOCK,
        expected=one(wide_a @ wide_b),
        scale={"out": np.array([np.abs(wide_a) @ np.abs(wide_b)])},
        mistakes={
            "The elements behind the last whole block are missing.": one(
                wide_a[:whole] @ wide_b[:whole]
            ),
            "Only one block's sum is there: each block stored its own over the others'. Add with "
            "cuda.atomic.add.": one(wide_a[last:] @ wide_b[last:]),
            "This is the sum of a alone: b is not multiplied in.": one(wide_a.sum()),
            "This is the sum of b alone: a is not multiplied in.": one(wide_b.sum()),
            "This is the product of a with itself: b is asked as the other factor.": one(
                wide_a @ wide_a
            ),
            "Here a[i] and b[i] were added; they should be multiplied.": one(
                (wide_a + wide_b).sum()
            ),
            "This is 128 times the right sum: every thread of a block added tile[0] to out, and "
            "only thread 0 should.": one(BLOCK * rows.sum()),
            "out[0] grew at every level of the tree: the atomic belongs behind the loop.": one(
                levels
            ),
            "The last level of the tree is missing: half must come down to 1. The sum of products "
            "1, 3, 5, ... is left in tile[1].": one(rows[:, ::2].sum()),
            "The first level of the tree is missing: half begins at 64.": one(rows[:, :64].sum()),
            "The fractions are lost: the shared array must be of np.float32, not of whole "
            "numbers.": one(np.trunc(rows).sum()),
        },
        per="block",
    )
