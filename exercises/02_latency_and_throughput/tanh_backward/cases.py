"""Cases of the backward pass of tanh: lengths around the block size, and zero."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, some of them very near 1 or -1."""
    y = np.tanh(rng.normal(0, 1.5, n)).astype(np.float32)
    steps = rng.integers(5, 9, y[4::7].size)  # slopes of 6e-7 to 1e-6
    y[4::7] = np.copysign(1 - steps * 2.0**-24, y[4::7])
    y[:1] = -0.75
    y[1:2], y[2:3], y[3:4] = 0, 1, -1
    grad = rng.normal(size=n).astype(np.float32)
    grad[5:6] = 0
    wide, slope = grad.astype(np.float64), 1 - y.astype(np.float64) ** 2
    return Case(
        args={"y": y, "grad_out": grad, "grad_x": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"grad_x": (wide * slope).astype(np.float32)},
        # The rounding error of y * y, half a unit; the subtraction from 1 is exact.
        scale={"grad_x": np.abs(wide) * (np.abs(slope) + y.astype(np.float64) ** 2 / 8)},
    )
