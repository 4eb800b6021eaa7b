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
            "w": w,
            "grad": grad,
            "velocity": velocity,
            "new_w": poison(n),
            "new_velocity": poison(n),
        },
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=along(speed),
        scale={"new_w": np.abs(w64) + LR * terms, "new_velocity": terms},
    )
