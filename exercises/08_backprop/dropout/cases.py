"""Cases of dropout: lengths around the block size, and zero."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
KEEP = 0.75


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers; in the longest ones, the dropped elements are infinite."""
    x, grad = rng.normal(0, 2, (2, n)).astype(np.float32)
    mask = (rng.uniform(0, 1, n) < KEEP).astype(np.uint8)
    mask[:1] = 1
    mask[1::16] = 0
    mask[2::16], x[2::16] = 1, 0  # zeros that are kept
    if n > 8 * BLOCK - BLOCK // 2:
        x[1::16], grad[1::16] = np.inf, -np.inf

    def dropped(values: np.ndarray) -> np.ndarray:
        return np.where(mask > 0, values.astype(np.float64) * (1 / KEEP), 0).astype(np.float32)

    return Case(
        args={"x": x, "mask": mask, "grad_out": grad, "y": poison(n), "grad_x": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"y": dropped(x), "grad_x": dropped(grad)},
    )
