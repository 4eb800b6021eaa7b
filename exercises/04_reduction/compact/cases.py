"""Cases of the compacted vector: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, some of them 0."""
    x = np.round(rng.normal(0, 2, n)).astype(np.float32)
    kept = x[x > 0]
    return Case(
        args={"x": x, "ends": np.cumsum(x > 0).astype(np.int32), "out": poison(kept.size)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": kept},
        mistakes={
            "The numbers stand back to front; their order must stay.": {"out": kept[::-1]},
        },
        per="block",
    )
