"""Cases of a step with momentum: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
LR, MU = float(np.float32(0.05)), float(np.float32(0.9))


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n weights."""
    w, grad, velocity = rng.normal(0, [[1], [3], [5]], (3, n)).astype(np.float32)
    w64, g, v = w.astype(np.float64), grad.astype(np.float64), velocity.astype(np.float64)
    speed = MU * v + g

    def left(weights: np.ndarray, speeds: np.ndarray = speed) -> dict[str, np.ndarray]:
        return {"new_w": weights.astype(np.float32), "new_velocity": speeds.astype(np.float32)}

    def along(speeds: np.ndarray) -> dict[str, np.ndarray]:
        return left(w64 - LR * speeds, speeds)

    terms = np.abs(v) + np.abs(g)
    return Case(
        args={
            "w": w, "grad": grad, "velocity": velocity,
            "new_w": poison(n), "new_velocity": poison(n),
        },
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=along(speed),
        scale={"new_w": np.abs(w64) + LR * terms, "new_velocity": terms},
        mistakes={
            "The weights move along the velocity, uphill: it is w - LR * new_velocity.": left(
                w64 + LR * speed
            ),
            "The weights move by the old velocity; it is the new one that moves them.": left(
                w64 - LR * v
            ),
            "The weights move by the gradient alone: the velocity is not used.": left(w64 - LR * g),
            "The learning rate is missing in the move of the weights.": left(w64 - speed),
            "The learning rate is applied twice, to the gradient and to the move.": along(
                MU * v + LR * g
            ),
            "The learning rate belongs to the move, w - LR * new_velocity; here it went into the "
            "velocity.": left(w64 - (MU * v + LR * g), MU * v + LR * g),
            "The gradient counts only 1 - MU here. In this momentum it is added whole: MU * "
            "velocity + grad.": along(MU * v + (1 - MU) * g),
            "The velocity loses nothing: it is MU * velocity + grad.": along(v + g),
            "The gradient is multiplied by MU, too: it is MU * velocity + grad.": along(
                MU * (v + g)
            ),
            "MU belongs to the velocity, not to the gradient: MU * velocity + grad.": along(
                v + MU * g
            ),
            "The gradient is subtracted from the velocity and the velocity from the weights: minus "
            "stands twice, so they go uphill.": along(MU * v - g),
            "The velocity is pointed downhill and added. That is a convention, too, but here it is "
            "MU * velocity + grad, and w - LR * new_velocity.": left(
                w64 + LR * (MU * v - g), MU * v - g
            ),
            "The velocity holds the learning rate and is added: MU * velocity - LR * grad. Here "
            "it is "
            "MU * velocity + grad, and w - LR * new_velocity.": left(
                w64 + MU * v - LR * g, MU * v - LR * g
            ),
            "This is Nesterov's move, grad + MU * new_velocity; plain momentum moves by "
            "new_velocity.": left(w64 - LR * (g + MU * speed)),
            "MU and LR are exchanged: MU is the share of the velocity that stays.": left(
                w64 - MU * (LR * v + g), LR * v + g
            ),
        },
    )  # fmt: skip
