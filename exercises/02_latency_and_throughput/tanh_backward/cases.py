"""Cases of the gradient of tanh: lengths on both sides of a block, and none at all."""

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
    # The mistakes in float32 and in a kernel's order: near 1 the rounding of y * y shows.
    one = np.float32(1)
    short = one - y * y
    again = np.tanh(y.astype(np.float64)).astype(np.float32)
    with np.errstate(divide="ignore"):
        divided = grad / short
    return Case(
        args={"y": y, "grad_out": grad, "grad_x": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"grad_x": (wide * slope).astype(np.float32)},
        # Half a unit of y * y, and no more: the slope is what is left of 1.
        scale={"grad_x": np.abs(wide) * (np.abs(slope) + y.astype(np.float64) ** 2 / 8)},
        mistakes={
            "This is the slope alone: grad_out is not multiplied in.": {"grad_x": short},
            "This is grad_out * (1 - y): the y is not squared.": {"grad_x": grad * (one - y)},
            "The tanh is taken a second time: y is tanh(x) already.": {
                "grad_x": grad * (one - again * again)
            },
            "This is grad_out - y * y: the parentheses around 1 - y * y are missing.": {
                "grad_x": grad - y * y
            },
            "This is grad_out * y * (1 - y), the slope of a sigmoid. That of tanh is 1 - y * y.": {
                "grad_x": grad * y * (one - y)
            },
            "y and grad_out are exchanged: y belongs into 1 - y * y, and grad_out before it.": {
                "grad_x": y * (one - grad * grad)
            },
            "This is grad_out * (1 + y * y): the slope is 1 - y * y.": {
                "grad_x": grad * (one + y * y)
            },
            "This is grad_out divided by the slope; it is multiplied by it.": {"grad_x": divided},
            "This is 1 - y * abs(y): for negative y the slope is 1 - y * y, too.": {
                "grad_x": grad * (one - y * np.abs(y))
            },
            "grad_out alone is stored: the slope is not multiplied in.": {"grad_x": grad},
            "Near 1 and -1 two nearly equal numbers are subtracted after rounding, and little is "
            "right "
            "of what is left: subtract y * y from 1 first, then multiply by grad_out.": {
                "grad_x": grad - grad * y * y
            },
            "Small slopes became 0. Near 1 the slope is small, not 0: leave 1 - y * y as it is.": {
                "grad_x": grad * np.where(short < np.float32(1e-6), 0, short)
            },
        },
    )
