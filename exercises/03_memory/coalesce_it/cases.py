"""Cases of the roots: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 64
EACH = 8
SHAPES = {**lengths(BLOCK), "eight whole blocks": (8 * EACH * BLOCK,)}


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers."""
    x = rng.uniform(0, 9, n).astype(np.float32)
    first = poison(n)
    threads = max(1, -(-n // (EACH * BLOCK))) * BLOCK
    first[:threads] = np.sqrt(x[:threads])
    return Case(
        args={"x": x, "out": poison(n)},
        grid=threads // BLOCK,
        block=BLOCK,
        expected={"out": np.sqrt(x)},
        mistakes={
            "Each thread took one element and stopped; there are eight times as many elements as "
            "threads.": {"out": first},
        }
        if n > threads
        else {},
    )
