"""Cases of the data parallel step: gradients with a norm above the limit, and below it."""

import numpy as np

from gpukit.course import Case, called, poison, some

LR, MOMENTUM, LIMIT = 0.1, 0.9, 1.0
LONG, SHORT = 1, 2
# Ranks, examples per rank, inputs, steps, whether the norms of gradients exceed the limit.
SHAPES = {
    "one rank": (1, 4, 3, 2, LONG),
    "one step, short gradients": (2, 4, 3, 1, SHORT),
    "one step, long gradients": (2, 4, 3, 1, LONG),
    "three ranks, short gradients": (3, 5, 4, 3, SHORT),
    "three ranks, long gradients": (3, 5, 4, 3, LONG),
    "many steps": (2, 16, 7, 9, LONG),
}


def case(rng: np.random.Generator, ranks: int, n: int, inputs: int, steps: int, kind: int) -> Case:
    """Return the case of `steps` steps, with n examples per rank in each."""
    x = rng.normal(0, 1, (steps, ranks, n, inputs))
    # Ranks see different data, so that the norms of their gradients differ.
    y = rng.normal(0, 1, (steps, ranks, n)) + 3 * np.arange(ranks)[:, None]
    start = rng.normal(0, 1, inputs)
    if kind == SHORT:
        x, y, start = x / 8, y / 8, start / 8
    weights, velocity = start.copy(), np.zeros(inputs)
    for one, other in zip(x, y, strict=True):
        rows, wanted = one.reshape(-1, inputs), other.reshape(-1)
        grad = rows.T @ (rows @ weights - wanted) / len(rows)
        grad *= LIMIT / max(np.linalg.norm(grad), LIMIT)
        velocity = MOMENTUM * velocity + grad
        weights = weights - LR * velocity
    right = {"velocity": velocity, "weights": weights}
    return called(
        args={"x": x, "y": y, "start": start}
        | {name: poison((ranks, inputs), float) for name in right},
        expected={name: np.tile(array, (ranks, 1)) for name, array in right.items()},
        scale={name: np.full((ranks, inputs), 10.0) for name in right},
        shown=f"{some(ranks, 'rank')} with {n} examples of {inputs} inputs each, "
        f"{some(steps, 'step')}, {'short' if kind == SHORT else 'long'} gradients",
    )
