"""Cases of the gradient of tanh: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers."""
    y = np.tanh(rng.normal(0, 1.5, n)).astype(np.float32)
    grad = rng.normal(size=n).astype(np.float32)
    wide, slope = grad.astype(np.float64), 1 - y.astype(np.float64) ** 2
    return Case(
        args={"y": y, "grad_out": grad, "grad_x": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"grad_x": (wide * slope).astype(np.float32)},
        scale={"grad_x": 2 * np.abs(grad)},
        mistakes={
            "This is the slope alone: grad_out is not multiplied in.": {
                "grad_x": slope.astype(np.float32)
            },
            "This is grad_out * (1 - y): the y is not squared.": {
                "grad_x": (wide * (1 - y)).astype(np.float32)
            },
            "The tanh is taken a second time: y is tanh(x) already.": {
                "grad_x": (wide * (1 - np.tanh(y.astype(np.float64)) ** 2)).astype(np.float32)
            },
        },
    )
