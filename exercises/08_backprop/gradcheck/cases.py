"""Cases of the gradient check: ragged numbers of weights, gradients that are often a little off."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = 64
STEP = 1e-4
# Weights and samples.
SHAPES = {
    "exactly one block": (BLOCK, 3),
    "one weight": (1, 1),
    "one sample": (131, 1),
    "one less than a block": (BLOCK - 1, 5),
    "one more than a block": (BLOCK + 1, 2),
    "a prime": (131, 7),
    "two whole blocks": (2 * BLOCK, 8),
}


def case(rng: np.random.Generator, n: int, samples: int) -> Case:
    """Return the case of a neuron with n weights and `samples` samples."""
    x = rng.normal(0, 1, (samples, n))
    w = rng.normal(0, 0.7 / np.sqrt(n), n)
    x[:, ::3] *= 4  # so that some gradients are far above 1, others far below
    w[::3] /= 4
    target = rng.uniform(-1, 1, samples)
    net = x @ w
    exact = ((np.tanh(net) - target) * (1 - np.tanh(net) ** 2)) @ x
    # Right, 0, of the wrong sign, and off by less and by more than the tolerance.
    grad, limit = exact.copy(), 1e-4 * np.maximum(1, np.abs(exact))
    grad[1::8], grad[2::8] = 0, -exact[2::8]
    for first, off in ((3, 0.7), (4, -0.7), (5, 1.4), (6, -1.4), (7, -1.4)):
        grad[first::8] += off * limit[first::8]

    def loss(shift: np.ndarray | float) -> np.ndarray:
        """Return the loss for each weight, with the net inputs shifted by `shift`."""
        off = np.tanh(net[:, None] + shift) - target[:, None]
        return 0.5 * (off**2).sum(axis=0)

    moved = STEP * x
    numeric = (loss(moved) - loss(-moved)) / (2 * STEP)
    suspect = np.abs(numeric - grad) > 1e-4 * np.maximum(1, np.abs(numeric))
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
        expected={"numeric": numeric, "suspect": suspect.astype(np.int32)},
        # The division by STEP amplifies the rounding errors of the losses.
        scale={"numeric": np.full(n, (loss(0.0) + samples) / STEP)},
    )
