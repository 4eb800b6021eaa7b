"""Cases of softplus: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, a few of them far from 0."""
    x = rng.normal(0, 3, n).astype(np.float32)
    x[::5] *= 30
    wide = x.astype(np.float64)
    return Case(
        args={"x": x, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": np.logaddexp(0, wide).astype(np.float32)},
        mistakes={
            "This is log(1 + exp(-abs(x))): max(x, 0) is not added.": {
                "out": np.log1p(np.exp(-np.abs(wide))).astype(np.float32)
            },
            "This is log(1 + exp(-x)): the sign of x is wrong.": {
                "out": np.logaddexp(0, -wide).astype(np.float32)
            },
            "Where exp(x) is small it is lost: 1 + exp(x) is 1 in float32. math.log1p(e) computes "
            "log(1 + e) without that sum.": {
                "out": np.maximum(x, 0) + np.log(1 + np.exp(-np.abs(x)))
            },
            "x was added where it is negative too: max(x, 0) belongs there.": {
                "out": (wide + np.log1p(np.exp(-np.abs(wide)))).astype(np.float32)
            },
            "This is relu: nothing of the smooth bend is left.": {"out": np.maximum(x, 0)},
        },
    )
