"""The inputs of a step of Adam and what it computes of them, for the cases of several exercises."""

from __future__ import annotations

import numpy as np

from gpukit.course.case import Argument, Array, lengths, poison

LR, BETA1, BETA2, EPS = (float(np.float32(value)) for value in (0.01, 0.9, 0.999, 1e-8))


def shapes(block: int, steps: tuple[int, ...]) -> dict[str, tuple[int, int]]:
    """Return the lengths for blocks of `block`, each with the number of a step."""
    return {name: (n, k) for (name, (n,)), k in zip(lengths(block).items(), steps, strict=True)}


def arguments(rng: np.random.Generator, n: int, step: int) -> dict[str, Argument]:
    """Return the arguments of a kernel; before the first step both means are 0."""
    size = 10 ** rng.uniform(-2, 3, n)
    size[3::11] = 0  # nothing ever happened here: only EPS keeps 0 / 0 away
    size[5::11] = 1e-6  # so small that it shows where EPS stands
    either = rng.choice([-1, 1], (2, n)) * rng.uniform(0.5, 1.5, (2, n)) * size
    w, (grad, m) = rng.normal(size=n).astype(np.float32), either.astype(np.float32)
    v = (rng.uniform(0.5, 1.5, n) * size**2).astype(np.float32)
    if step == 1:
        m[:], v[:] = 0, 0
    inputs: dict[str, Argument] = {"w": w, "grad": grad, "m": m, "v": v, "step": step}
    return inputs | {name: poison(n) for name in ("new_w", "new_m", "new_v")}


def means(grad: Array, m: Array, v: Array) -> tuple[Array, Array]:
    """Return both running means after a step."""
    return BETA1 * m + (1 - BETA1) * grad, BETA2 * v + (1 - BETA2) * grad * grad


def outputs(w: Array, m: Array, v: Array) -> dict[str, Array]:
    """Return what a kernel leaves: the weights and both means after a step."""
    return {
        name: out.astype(np.float32)
        for name, out in zip(("new_w", "new_m", "new_v"), (w, m, v), strict=True)
    }
