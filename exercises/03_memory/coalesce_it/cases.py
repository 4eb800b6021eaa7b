"""Cases of the square roots: lengths around the block size, and zero."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 64
EACH = 8
AWKWARD = np.array([0, 1e-12, 1e12], np.float32)
SHAPES = {
    **lengths(BLOCK),
    "eight whole blocks": (8 * EACH * BLOCK,),
    # It ends inside a sector: a warp that indexes from the end touches five sectors, not four.
    "eight blocks minus three elements": (8 * EACH * BLOCK - 3,),
}


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers."""
    x = rng.uniform(0, 9, n).astype(np.float32)
    x[1 : 1 + AWKWARD.size] = AWKWARD[: max(0, n - 1)]
    return Case(
        args={"x": x, "out": poison(n)},
        grid=max(1, -(-n // (EACH * BLOCK))),
        block=BLOCK,
        expected={"out": np.sqrt(x)},
    )
