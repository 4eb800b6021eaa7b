"""Cases of the gradient check: ragged numbers of weights, a formula that is often a little off."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = 64
STEP = 1e-4
# Weights and samples.
SHAPES = {
    "exactly one block": (64, 3),
    "one weight": (1, 1),
    "one sample": (131, 1),
    "one less than a block": (63, 5),
    "one more than a block": (65, 2),
    "a prime": (131, 7),
    "two whole blocks": (128, 8),
}


def case(rng: np.random.Generator, n: int, samples: int) -> Case:
    """Return the case of a neuron with n weights and so many samples."""
    x = rng.normal(0, 1, (samples, n))
    w = rng.normal(0, 0.7 / np.sqrt(n), n)
    x[:, ::3] *= 4  # so that some slopes are far above 1, and others far below
    w[::3] /= 4
    target = rng.uniform(-1, 1, samples)
    net = x @ w
    exact = ((np.tanh(net) - target) * (1 - np.tanh(net) ** 2)) @ x
    # Right, 0, with a wrong sign, and off by less and by more than is allowed.
    grad, limit = exact.copy(), 1e-4 * np.maximum(1, np.abs(exact))
    grad[1::8], grad[2::8] = 0, -exact[2::8]
    for first, off in ((3, 0.7), (4, -0.7), (5, 1.4), (6, -1.4), (7, -1.4)):
        grad[first::8] += off * limit[first::8]

    def loss(shift: np.ndarray | float, of: slice = slice(None)) -> np.ndarray:
        """Return for each weight the loss of these samples, the sum in each shifted so far."""
        off = np.tanh(net[:, None] + shift) - target[:, None]
        return 0.5 * (off[of] ** 2).sum(axis=0)

    def beyond(numeric: np.ndarray) -> np.ndarray:
        return np.abs(numeric - grad) > 1e-4 * np.maximum(1, np.abs(numeric))

    def marked(numeric: np.ndarray, marks: np.ndarray | None = None) -> dict[str, np.ndarray]:
        marks = beyond(numeric) if marks is None else marks
        return {"numeric": numeric, "suspect": marks.astype(np.int32)}

    moved = STEP * x
    right = (loss(moved) - loss(-moved)) / (2 * STEP)
    first = (loss(moved, slice(1)) - loss(-moved, slice(1))) / (2 * STEP)
    return Case(
        args={
            "x": x,
            "target": target,
            "w": w,
            "grad": grad,
            "numeric": poison(n, np.float64),
            "suspect": poison(n, np.int32),
        },
        grid=-(-n // BLOCK),
        block=BLOCK,
        expected=marked(right),
        # The losses are rounded, and the division by STEP makes that larger.
        scale={"numeric": np.full(n, (loss(0.0) + samples) / STEP)},
    )
