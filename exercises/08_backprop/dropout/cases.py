"""Cases of dropout: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
KEEP = 0.75


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers; in one length infinite ones are dropped."""
    x, grad = rng.normal(0, 2, (2, n)).astype(np.float32)
    mask = (rng.uniform(0, 1, n) < KEEP).astype(np.uint8)
    mask[:1] = 1
    mask[1::16] = 0
    mask[2::16], x[2::16] = 1, 0  # what is 0 may stay
    if n > 8 * BLOCK - BLOCK // 2:
        x[1::16], grad[1::16] = np.inf, -np.inf
    stays = mask > 0
    wide, back = x.astype(np.float64), grad.astype(np.float64)

    def left(y: np.ndarray, grad_x: np.ndarray) -> dict[str, np.ndarray]:
        return {"y": y.astype(np.float32), "grad_x": grad_x.astype(np.float32)}

    def kept(by: float, back_by: float | None = None) -> dict[str, np.ndarray]:
        return left(np.where(stays, wide * by, 0), np.where(stays, back * (back_by or by), 0))

    return Case(
        args={"x": x, "mask": mask, "grad_out": grad, "y": poison(n), "grad_x": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=kept(1 / KEEP),
        mistakes={
            "What stays is not divided by KEEP: without that the sums of the next layer are too "
            "small.": kept(1),
            "What stays is multiplied by KEEP; it is divided, so that it becomes larger.": kept(
                KEEP
            ),
            "What stays is divided by the share that is dropped, 1 - KEEP; it is KEEP.": kept(
                1 / (1 - KEEP)
            ),
            "The gradient is not divided by KEEP. It goes the way that the numbers went.": kept(
                1 / KEEP, 1
            ),
            "What was divided by KEEP forwards is multiplied by it backwards. The slope of "
            "x / KEEP is 1 / KEEP.": kept(1 / KEEP, KEEP),
            "The mask is turned round: 1 is for what stays.": left(
                np.where(stays, 0, wide / KEEP), np.where(stays, 0, back / KEEP)
            ),
            "The gradient passes everywhere: where mask is 0 nothing passes back.": left(
                np.where(stays, wide / KEEP, 0), back / KEEP
            ),
            "Where a number that stays is 0, its gradient became 0, too: mask says what passes "
            "back, not the value.": left(
                np.where(stays, wide / KEEP, 0), np.where(stays & (wide != 0), back / KEEP, 0)
            ),
            "The gradient was sent through the values: grad_out / KEEP passes where mask is 1, "
            "whatever x was.": left(
                np.where(stays, wide / KEEP, 0),
                np.where(stays, np.where(stays, wide, 0) * np.where(stays, back, 0) / KEEP, 0),
            ),
            "What is dropped was not written. It is 0, and somebody has to write it.": {
                "y": np.where(stays, (wide / KEEP).astype(np.float32), poison(n)),
                "grad_x": np.where(stays, (back / KEEP).astype(np.float32), poison(n)),
            },
            "x and grad_out are exchanged: y comes from x, grad_x from grad_out.": left(
                np.where(stays, back / KEEP, 0), np.where(stays, wide / KEEP, 0)
            ),
        },
    )
