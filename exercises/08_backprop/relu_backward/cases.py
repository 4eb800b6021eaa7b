"""Cases of the backward pass of relu: awkward lengths, zeros, infinite gradients."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers; if there are more than BLOCK, some gradients are infinite."""
    x = rng.normal(0, 2, n).astype(np.float32)
    x[1::4] = 0
    x[2::8] = -0.5
    x[3::16], x[5::16] = 3e-38, -0.0  # a tiny positive number, and negative zero
    grad = rng.normal(0, 2, n).astype(np.float32)
    if n > BLOCK:
        grad[2::8], grad[9::32], grad[3::32] = np.inf, -np.inf, np.inf  # the last of them pass
    return Case(
        args={"x": x, "grad_out": grad, "grad_x": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"grad_x": np.where(x > 0, grad, np.float32(0))},
    )
