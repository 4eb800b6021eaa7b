"""Cases of the replicas: `every` divides the number of steps, does not, or exceeds it."""

import numpy as np

from gpukit.course import Case, called, poison, some

# Ranks, weights, steps, steps between two averages.
SHAPES = {
    "every step": (2, 3, 4, 1),
    "every second step": (2, 3, 4, 2),
    "three ranks": (3, 4, 9, 3),
    "a shorter last period": (2, 3, 8, 3),
    "fewer steps than one period": (3, 2, 2, 4),
    "one step": (2, 2, 1, 1),
    "one rank": (1, 3, 5, 2),
    "many steps": (2, 7, 31, 5),
}


def case(rng: np.random.Generator, ranks: int, n: int, steps: int, every: int) -> Case:
    """Return the case of replicas that each have a quadratic loss of their own."""
    curvature = rng.uniform(0.2, 1.0, (ranks, n)) * np.linspace(1, 2, ranks)[:, None]
    target = rng.normal(0, 2, (steps, ranks, n))
    start, lr = rng.normal(0, 1, n), 0.3
    weights = np.tile(start, (ranks, 1))
    for step in range(steps):
        weights -= lr * curvature * (weights - target[step])
        if step % every == every - 1 or step == steps - 1:
            weights[:] = weights.mean(axis=0)
    return called(
        args={
            "curvature": curvature,
            "target": target,
            "start": start,
            "lr": lr,
            "every": every,
            "weights": poison((ranks, n), float),
        },
        expected={"weights": weights},
        scale={"weights": np.full_like(weights, 10)},
        shown=f"{some(ranks, 'rank')}, {n} weights, {some(steps, 'step')}, every = {every}",
    )
