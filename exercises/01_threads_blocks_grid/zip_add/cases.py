"""Cases of the sum of two vectors: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 64
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    a, b = rng.normal(size=(2, n)).astype(np.float32)
    shifted = poison(n)
    shifted[1:] = (a + b)[:-1]
    return Case(
        args={"a": a, "b": b, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": a + b},
        mistakes={
            "The values are those of a alone: b is never added.": {"out": a},
            "These are the differences a - b, not the sums.": {"out": a - b},
            "b is read back to front: out[i] is a[i] + b[i], with the same i.": {
                "out": a + b[::-1]
            },
            "These are products a * b, not the sums.": {"out": a * b},
            "Each sum stands one place too far on, and the first is missing: indices begin at 0.": {
                "out": shifted
            },
            "Each element is a[i] + a[i]: b is never read.": {"out": a + a},
        },
    )
