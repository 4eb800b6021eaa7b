"""Cases of the grid-stride loop: the grid stays small, whatever the length."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 64
BLOCKS = 2
SHAPES = {**lengths(BLOCK), "a long one": (2**14 - 1,)}


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(size=n).astype(np.float32)
    once = poison(n)
    once[: BLOCKS * BLOCK] = x[: BLOCKS * BLOCK] ** 2
    half = np.where(np.arange(n) % (BLOCKS * BLOCK) < BLOCK, x * x, poison(n))
    return Case(
        args={"x": x, "out": poison(n)},
        grid=BLOCKS,
        block=BLOCK,
        expected={"out": x * x},
        mistakes={
            "Only the first 128 elements were written: each thread took one and stopped. After it, "
            "a thread goes on by the number of all threads.": {"out": once},
            "Every second stretch of 64 elements is empty: all blocks begin at the same elements. "
            "Begin at cuda.grid(1), not at cuda.threadIdx.x.": {"out": half},
        }
        if n > BLOCK
        else {},
    )
