"""Cases of the histogram: full and partial blocks, one element, none."""

import numpy as np

from gpukit.course import Case, lengths

BLOCK = 128
MOST = 4
SHAPES = {
    **{name: (n, MOST) for name, (n,) in lengths(BLOCK).items()},
    "many elements, one block": (3000, 1),
    "many elements, two blocks": (2600, 2),
    "many elements, three blocks": (5003, 3),
    "one value, more than 255 times in each thread": (33000, 1),
    "many elements": (9000, MOST),
}


def case(rng: np.random.Generator, n: int, most: int) -> Case:
    """Return the case of n pixels, most of them dark, and at most `most` blocks."""
    values = np.minimum(rng.exponential(40, n), 255).astype(np.uint8)
    values[1:2], values[2:3] = 255, 0
    if n > 255 * BLOCK:
        values[:] = 7
    return Case(
        args={"values": values, "counts": np.zeros(256, np.int32)},
        grid=max(1, min(most, MOST, -(-n // BLOCK))),
        block=BLOCK,
        expected={"counts": np.bincount(values, minlength=256).astype(np.int32)},
        per="block",
    )
