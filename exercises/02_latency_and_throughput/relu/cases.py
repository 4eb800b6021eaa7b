"""Cases of relu: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
AWKWARD = np.array([-1.5, 1e-7, 8, 1e-30, -1e-30, 7.5, 0, -0.0, 3e-38], np.float32)
# In one length alone: (x + abs(x)) / 2 passes the largest float32, and no integer is as large.
HUGE = np.array([3.4e38, -3.4e38], np.float32)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers."""
    x = rng.normal(size=n).astype(np.float32)
    x[: AWKWARD.size] = AWKWARD[:n]
    huge = n == BLOCK + 1
    if huge:
        x[-2:] = HUGE
    zero = np.float32(0)
    leaky = {
        f"Negative numbers became {slope:g} * x: that is a leaky relu. They become 0.": {
            "out": np.where(x > 0, x, np.float32(slope) * x)
        }
        for slope in (0.01, 0.1, 0.2)
    }
    return Case(
        args={"x": x, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": np.maximum(x, np.float32(0))},
        mistakes={
            "The fractions are cut off: somewhere the numbers pass through whole ones.": {
                "out": np.where(x > 1e38, np.float32(2.0**63), np.trunc(np.maximum(x, zero)))
            },
            "This is the larger of x[i] and x[0]; it should be the larger of x[i] and 0.": {
                "out": np.maximum(x, x[:1])
            },
            "Small positive numbers became 0: each number above 0 stays as it is.": {
                "out": np.where(x > 1e-6, x, zero)
            },
            "The numbers above 6 became 6: relu has no upper bound.": {
                "out": np.clip(x, zero, np.float32(6))
            },
            "The numbers above 1 became 1: relu has no upper bound.": {
                "out": np.clip(x, zero, np.float32(1))
            },
            "A comparison alone is 1 or 0: where x is positive, x itself is asked.": {
                "out": (x > 0).astype(np.float32)
            },
            "Only the positive numbers were written. Where x is negative, out must become 0.": {
                "out": np.where(x > 0, x, poison(n))
            },
            "Where x is 0 nothing was written: neither x > 0 nor x < 0 holds there.": {
                "out": np.where(x == 0, poison(n), np.maximum(x, zero))
            },
            "These are the absolute values: a negative number became positive, not 0.": {
                "out": np.abs(x)
            },
            "The positive numbers became 0 and the negative ones stayed: min for max.": {
                "out": np.minimum(x, np.float32(0))
            },
            "The numbers are as they were: the negative ones did not become 0.": {"out": x},
        }
        | leaky,
    )
