"""A step of SGD with momentum, for the cases of several exercises."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.course.case import Argument, Array, Case, poison

LR, MU = float(np.float32(0.05)), float(np.float32(0.9))


def vectors(rng: np.random.Generator, n: int) -> Array:
    """Return n weights, their gradient and their velocity."""
    return rng.normal(0, [[1], [3], [5]], (3, n)).astype(np.float32)


def case(inputs: dict[str, Argument], factor: float = 1, **launch: Any) -> Case:
    """Return the case of a step with these inputs and this launch; `factor` scales the gradient."""
    w, g, v = (np.asarray(inputs[name], np.float64) for name in ("w", "grad", "velocity"))
    new_v, terms = MU * v + factor * g, np.abs(v) + np.abs(g)
    new_w = w - LR * new_v
    return Case(
        args=inputs | {"new_w": poison(w.shape), "new_velocity": poison(w.shape)},
        expected={"new_w": new_w.astype(np.float32), "new_velocity": new_v.astype(np.float32)},
        scale={"new_w": np.abs(w) + LR * terms, "new_velocity": terms},
        **launch,
    )
