"""Cases of the divided layers: the same number of hidden units on each rank, or different ones."""

import numpy as np

from gpukit.course import Case, called, poison, some

# Ranks, samples, inputs, hidden units per rank (some ranks have one more), outputs.
SHAPES = {
    "two ranks": (2, 4, 3, 2, 2),
    "three ranks": (3, 5, 4, 3, 2),
    "one rank": (1, 2, 3, 4, 2),
    "one sample": (2, 1, 7, 5, 3),
    "one hidden unit per rank or so": (3, 6, 2, 1, 5),
    "many hidden units": (2, 17, 11, 31, 13),
}


def case(
    rng: np.random.Generator, ranks: int, n: int, inputs: int, per_rank: int, outputs: int
) -> Case:
    """Return the case of layers with `per_rank` hidden units per rank, and one more on some."""
    hidden = ranks * per_rank + ranks // 2
    shapes = {
        "x": (n, inputs),
        "w1": (hidden, inputs),
        "b1": (hidden,),
        "w2": (outputs, hidden),
        "b2": (outputs,),
        "grad": (n, outputs),
    }
    given = {name: rng.normal(0, 1, shape).astype(np.float32) for name, shape in shapes.items()}
    x, w1, b1, w2, b2, grad = (array.astype(np.float64) for array in given.values())
    sums = x @ w1.T + b1
    sure = np.abs(sums) > 1e-3  # near 0, rounding would decide whether a gradient passes
    given["b1"] += np.where(sure.all(axis=0), 0, 0.01).astype(np.float32)
    sums = x @ w1.T + given["b1"].astype(np.float64)
    h, passes = np.maximum(sums, 0), sums > 0
    right = {"out": h @ w2.T + b2, "grad_x": ((grad @ w2) * passes) @ w1}
    terms = {
        "out": h @ np.abs(w2).T + np.abs(b2),
        "grad_x": ((np.abs(grad) @ np.abs(w2)) * passes) @ np.abs(w1),
    }

    def on_all(array: np.ndarray) -> np.ndarray:
        return np.tile(array.astype(np.float32), (ranks, 1, 1))

    return called(
        args={"ranks": ranks, **given}
        | {name: poison((ranks, *array.shape)) for name, array in right.items()},
        expected={name: on_all(array) for name, array in right.items()},
        scale={name: on_all(array) for name, array in terms.items()},
        shown=f"{some(ranks, 'rank')}, {some(n, 'sample')} of {inputs} inputs, "
        f"{hidden} hidden units in all, {outputs} outputs",
    )
