"""Cases of the gradient of relu: lengths on both sides of a block, zeros, infinite gradients."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers; in long ones some gradients are infinite."""
    x = rng.normal(0, 2, n).astype(np.float32)
    x[1::4] = 0
    x[2::8] = -0.5
    x[3::16], x[5::16] = 3e-38, -0.0  # positive, too; and the other zero
    grad = rng.normal(0, 2, n).astype(np.float32)
    if n > BLOCK:
        grad[2::8], grad[9::32], grad[3::32] = np.inf, -np.inf, np.inf  # one does pass
    finite = np.where(np.isinf(grad), np.float32(0), grad)
    with np.errstate(invalid="ignore"):
        times_x = np.where(x > 0, x * grad, np.float32(0))
    right = np.where(x > 0, grad, np.float32(0))

    def left(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"grad_x": values.astype(np.float32)}

    mistakes = {
        "Where x is 0 the gradient passes here; there relu is flat: the comparison is x > 0.": left(
            np.where(x >= 0, grad, 0)
        ),
        "A small positive x counts as 0: the comparison is x > 0.": left(
            np.where(x > 1e-6, grad, 0)
        ),
        "The gradient passes everywhere: x is not looked at.": left(grad),
        "This is relu of the gradient; it is x that decides, not the sign of grad_out.": left(
            np.maximum(grad, 0)
        ),
        "This is relu(x), the way forward; backwards, grad_out passes where x is positive.": left(
            np.maximum(x, 0)
        ),
        "This is the slope alone, 1 or 0: grad_out is not multiplied in.": left(x > 0),
        "x and grad_out are exchanged: grad_out passes where x is positive.": left(
            np.where(grad > 0, x, 0)
        ),
        "The gradient passes where x is negative, and is 0 where it is positive.": left(
            np.where(x < 0, grad, 0)
        ),
        "Where x is not positive nothing was written. The gradient there is 0, and somebody has to "
        "write it.": {"grad_x": np.where(x > 0, grad, poison(n))},
        "Where x is negative the sign of the gradient was turned; it is 0 there.": left(
            np.sign(x) * finite if np.isfinite(grad).all() else np.where(x > 0, grad, -grad)
        ),
        "This is grad_out * x: the slope of relu is 1, not x.": left(times_x),
    }
    return Case(
        args={"x": x, "grad_out": grad, "grad_x": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=left(right),
        mistakes=mistakes,
    )
