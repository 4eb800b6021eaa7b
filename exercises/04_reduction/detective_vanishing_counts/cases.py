"""Cases of the histogram: full and partial blocks, one element, none."""

import numpy as np

from gpukit.course import Case, lengths

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n pixels, most of them dark."""
    values = np.minimum(rng.exponential(40, n), 255).astype(np.uint8)
    values[1:2], values[2:3] = 255, 0
    return Case(
        args={"values": values, "counts": np.zeros(256, np.int32)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"counts": np.bincount(values, minlength=256).astype(np.int32)},
        per="block",
    )
