"""Cases of loss scaling: gradients that vanish in float16, that overflow, and that are NaN."""

import numpy as np

from gpukit.course import Case, called, poison, some

EVERY = 3
# Weights, steps, the exponent of the first scale, and the index of a kind of gradients.
SHAPES = {
    "two steps": (4, 2, 10, 0),
    "one weight": (1, 5, 10, 0),
    "small gradients, many good steps": (5, 11, 14, 1),
    "overflow from step to step": (3, 7, 24, 2),
    "a NaN among good steps": (6, 13, 12, 3),
    "an infinite and a good element": (2, 9, 20, 4),
}
NAMES = {
    "weights": ("the weights after each step", []),
    "scales": ("the scale after each step", []),
    "made": ("what scaled_step returned", []),
}
KINDS = ("ordinary", "small", "large", "ordinary, some NaN", "ordinary and large ones")


def case(rng: np.random.Generator, n: int, steps: int, exponent: int, kind: int) -> Case:
    """Return the case of n weights and `steps` steps, with gradients of one kind."""
    kind = min(kind, len(KINDS) - 1)
    start = rng.normal(0, 0.5, n).astype(np.float32)
    grads = rng.choice([-1, 1], (steps, n)) * rng.uniform(0.5, 1, (steps, n))
    grads *= (0.01, 4e-8, 0.02, 0.01, 0.001)[kind]
    if kind == 3:
        grads[np.arange(1, steps, 5), n - 1] = np.nan
    if kind == 4:
        grads[::4, 0] = 0.5 * rng.choice([-1, 1])
    # Every weight moves by many units in its last place.
    lr = 0.1 / (0.01, 4e-8, 0.02, 0.01, 0.001)[kind]
    right = expected(start, grads, 2.0**exponent, lr)
    return called(
        args={
            "grads": grads,
            "start": start,
            "scale": 2.0**exponent,
            "lr": lr,
            **{name: poison(array.shape, array.dtype) for name, array in right.items()},
        },
        expected=right,
        scale={"weights": np.full(right["weights"].shape, 1.0 + steps)},
        shown=f"{some(n, 'weight')}, {some(steps, 'step')}, "
        f"gradients: {KINDS[kind]}; the scale begins at {2.0**exponent:g}",
        names=NAMES,
    )


def expected(start: np.ndarray, grads: np.ndarray, scale: float, lr: float) -> dict:
    """Return the weights, the scale and whether the step was made, after each step."""
    weights, good, rows = start.astype(np.float64), 0, []
    for grad in grads:
        with np.errstate(over="ignore"):
            scaled = (grad * scale).astype(np.float16).astype(np.float64)
        made = bool(np.isfinite(scaled).all())
        if made:
            weights, good = weights - lr * scaled / scale, good + 1
        if not made:
            scale, good = scale / 2, 0
        elif good == EVERY:
            scale, good = scale * 2, 0
        rows.append((weights, scale, made))
    return {
        "weights": np.array([row[0] for row in rows], np.float32),
        "scales": np.array([row[1] for row in rows], np.float32),
        "made": np.array([row[2] for row in rows], np.int32),
    }
