"""Cases of the gradient check: ragged numbers of weights, a formula with wrong signs."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = 64
STEP = 1e-4
# Weights and samples.
SHAPES = {
    "exactly one block": (64, 3),
    "one weight": (1, 1),
    "one less than a block": (63, 5),
    "one more than a block": (65, 2),
    "a prime": (131, 7),
    "two whole blocks": (128, 8),
}


def case(rng: np.random.Generator, n: int, samples: int) -> Case:
    """Return the case of a neuron with n weights and so many samples."""
    x = rng.normal(0, 1, (samples, n))
    w = rng.normal(0, 0.7 / np.sqrt(n), n)
    target = rng.uniform(-1, 1, samples)
    net = x @ w
    exact = ((np.tanh(net) - target) * (1 - np.tanh(net) ** 2)) @ x
    grad = exact.copy()
    planted = (np.arange(n) % 5 == 2) & (np.abs(exact) > 0.01)
    grad[planted] *= -1

    def loss(shift: np.ndarray | float, of: slice = slice(None)) -> np.ndarray:
        """Return for each weight the loss of these samples, the sum in each shifted so far."""
        off = np.tanh(net[:, None] + shift) - target[:, None]
        return 0.5 * (off[of] ** 2).sum(axis=0)

    def marked(numeric: np.ndarray, marks: np.ndarray | None = None) -> dict[str, np.ndarray]:
        far = np.abs(numeric - grad) > 1e-4 * np.maximum(1, np.abs(numeric))
        return {"numeric": numeric, "suspect": (far if marks is None else marks).astype(np.int32)}

    moved, all_moved = STEP * x, np.broadcast_to(STEP * x.sum(axis=1)[:, None], x.shape)
    right = (loss(moved) - loss(-moved)) / (2 * STEP)
    far = np.abs(right - grad) > 1e-4 * np.maximum(1, np.abs(right))
    first = (loss(moved, slice(1)) - loss(-moved, slice(1))) / (2 * STEP)
    return Case(
        args={
            "x": x, "target": target, "w": w, "grad": grad,
            "numeric": poison(n, np.float64), "suspect": poison(n, np.int32),
        },
        grid=-(-n // BLOCK),
        block=BLOCK,
        expected=marked(right),
        # The losses are rounded, and the division by STEP makes that larger.
        scale={"numeric": np.full(n, (loss(0.0) + samples) / STEP)},
        mistakes={
            "This is a forward difference, (loss above - loss) / STEP, whose error is as large as "
            "STEP. Take (loss above - loss below) / (2 * STEP).": marked(
                (loss(moved) - loss(0.0)) / STEP
            ),
            "This is a backward difference, (loss - loss below) / STEP, whose error is as large as "
            "STEP. Take (loss above - loss below) / (2 * STEP).": marked(
                (loss(0.0) - loss(-moved)) / STEP
            ),
            "Each value is twice what it should be: the two losses lie 2 * STEP apart, and half of "
            "the squares is the loss.": marked(2 * right),
            "Each value is half of what it should be: the loss is half of the squares, once.": (
                marked(right / 2)
            ),
            "The sign is wrong: it is the loss above minus the loss below.": marked(-right),
            "All weights were moved at once: for each result only its own weight moves.": marked(
                (loss(all_moved) - loss(-all_moved)) / (2 * STEP)
            ),
            "Only the first sample was looked at: the loss is a sum over all.": marked(first),
            "This is the mean over the samples; the loss is their sum.": marked(right / samples),
            "The difference is not divided by 2 * STEP.": marked(right * 2 * STEP),
            "This is the gradient by a formula. The check is worth something because it needs none "
            "and only tries out.": marked(exact),
            "The marks are exchanged: 1 is for weights where the formula does not agree.": marked(
                right, ~far
            ),
            "Only formulas that are too small are marked: the distance is abs(numeric - grad).": (
                marked(right, right - grad > 1e-4 * np.maximum(1, np.abs(right)))
            ),
            "Only formulas that are too large are marked: the distance is abs(numeric - grad).": (
                marked(right, grad - right > 1e-4 * np.maximum(1, np.abs(right)))
            ),
            "No weight is marked, though some of the formula's signs are wrong.": marked(
                right, np.zeros(n, bool)
            ),
            "Every weight is marked, for a difference is never exactly the gradient: allow 1e-4 * "
            "max(1, abs(numeric)).": marked(right, np.ones(n, bool)),
        },
    )  # fmt: skip
