"""Cases of the grid-stride loop: the grid stays small, whatever the length."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 64
BLOCKS = 2
ALL = BLOCKS * BLOCK
SHAPES = {**lengths(BLOCK), "a long one": (2**14 - 1,)}


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(size=n).astype(np.float32)
    once = poison(n)
    once[:ALL] = x[:ALL] ** 2
    half = np.where(np.arange(n) % ALL < BLOCK, x * x, poison(n))
    whole, fixed = poison(n), poison(n)
    whole[: n // ALL * ALL] = x[: n // ALL * ALL] ** 2
    fixed[: ALL * ALL] = x[: ALL * ALL] ** 2
    mistakes = {
        "The last elements are empty: the number of turns is x.size // 128, rounded down. The last "
        "turn has work for a part of the threads.": {"out": whole}
    }
    if n > BLOCK:
        mistakes |= {
            "Only the first 128 elements were written: each thread took one and stopped. After it, "
            "a thread goes on by the number of all threads.": {"out": once},
            "Every second stretch of 64 elements is empty: all blocks begin at the same elements. "
            "Begin at cuda.grid(1), not at cuda.threadIdx.x.": {"out": half},
        }
    if n > ALL * ALL:
        mistakes |= {
            "Only the first 16384 elements were written: the loop has a fixed number of turns. It "
            "must go on until x.size.": {"out": fixed}
        }
    return Case(
        args={"x": x, "out": poison(n)},
        grid=BLOCKS,
        block=BLOCK,
        expected={"out": x * x},
        mistakes=mistakes,
    )
