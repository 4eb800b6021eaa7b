"""Cases of the dot product: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    a, b = rng.normal(0.5, 1, (2, n)).astype(np.float32)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)

    def one(value: float) -> dict[str, np.ndarray]:
        return {"out": np.array([value], np.float32)}

    whole = n // BLOCK * BLOCK
    last = (n - 1) // BLOCK * BLOCK
    return Case(
        args={"a": a, "b": b, "out": np.zeros(1, np.float32)},
        grid=max(1, -(-n // BLOCK)),
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
        },
        per="block",
    )
