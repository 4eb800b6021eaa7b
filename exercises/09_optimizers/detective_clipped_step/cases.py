"""Cases of a clipped step: gradients above the limit, below it, and all zeros."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
LIMIT, LR, MU = (float(np.float32(value)) for value in (2, 0.05, 0.9))
# How long the gradient is, in quarters of the limit.
QUARTERS = (8, 1, 0, 3, 12, 6, 4)
# The length, and that of the gradient.
SHAPES = {name: (*n, q) for (name, n), q in zip(lengths(BLOCK).items(), QUARTERS, strict=True)}


def case(rng: np.random.Generator, n: int, quarters: int) -> Case:
    """Return the case of n weights and a gradient of so many quarters of the limit."""
    w, grad, velocity = rng.normal(0, [[1], [3], [5]], (3, n)).astype(np.float32)
    grad[:1] *= 100  # clipping each number by itself would turn the gradient
    length = np.linalg.norm(grad.astype(np.float64))
    grad *= np.float32(quarters / 4 * LIMIT / length if n else 1)
    norm = np.array([np.linalg.norm(grad.astype(np.float64))], np.float32)
    w64, g, v = (array.astype(np.float64) for array in (w, grad, velocity))
    long = float(norm[0])
    factor = LIMIT / max(long, LIMIT)

    def left(weights: np.ndarray, speeds: np.ndarray) -> dict[str, np.ndarray]:
        return {"new_w": weights.astype(np.float32), "new_velocity": speeds.astype(np.float32)}

    def along(by: float) -> dict[str, np.ndarray]:
        speeds = MU * v + by * g
        return left(w64 - LR * speeds, speeds)

    terms = np.abs(v) + np.abs(g)
    return Case(
        args={
            "w": w,
            "grad": grad,
            "norm": norm,
            "velocity": velocity,
            "new_w": poison(n),
            "new_velocity": poison(n),
        },
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=along(factor),
        scale={"new_w": np.abs(w64) + LR * terms, "new_velocity": terms},
    )
