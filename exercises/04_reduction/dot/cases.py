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

    return Case(
        args={"a": a, "b": b, "out": np.zeros(1, np.float32)},
        grid=blocks,
        block=BLOCK,
        expected=one(wide_a @ wide_b),
        scale={"out": np.array([np.abs(wide_a) @ np.abs(wide_b)])},
        per="block",
    )
