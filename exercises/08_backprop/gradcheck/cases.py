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

    moved, all_moved = STEP * x, np.broadcast_to(STEP * x.sum(axis=1)[:, None], x.shape)
    right = (loss(moved) - loss(-moved)) / (2 * STEP)
    distance = np.abs(right - grad)
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
                right, ~beyond(right)
            ),
            "suspect is only written where the formula does not agree. Elsewhere it is 0, and "
            "somebody has to write it.": {
                "numeric": right,
                "suspect": np.where(beyond(right), 1, poison(n, np.int32)).astype(np.int32),
            },
            "Only as many weights as there are samples were checked: the guard is i < w.size.": {
                "numeric": np.where(np.arange(n) < samples, right, poison(n, np.float64)),
                "suspect": np.where(
                    np.arange(n) < samples, beyond(right), poison(n, np.int32)
                ).astype(np.int32),
            },
            "Only formulas that are too small are marked: the distance is abs(numeric - grad).": (
                marked(right, right - grad > 1e-4 * np.maximum(1, np.abs(right)))
            ),
            "Only formulas that are too large are marked: the distance is abs(numeric - grad).": (
                marked(right, grad - right > 1e-4 * np.maximum(1, np.abs(right)))
            ),
            "No weight is marked, though the formula is wrong for many.": marked(
                right, np.zeros(n, bool)
            ),
            "Only wrong signs are marked. A formula can be wrong in its size alone: compare the "
            "distance, abs(numeric - grad), with what is allowed.": marked(right, right * grad < 0),
            "The sizes are compared without their signs: the distance is abs(numeric - grad).": (
                marked(
                    right,
                    np.abs(np.abs(right) - np.abs(grad)) > 1e-4 * np.maximum(1, np.abs(right)),
                )
            ),
            "What is allowed does not grow with the result: it is 1e-4 * max(1, abs(numeric)).": (
                marked(right, distance > 1e-4)
            ),
            "What is allowed gets too small where the result is near 0: it is 1e-4 * max(1, "
            "abs(numeric)).": marked(right, distance > 1e-4 * np.abs(right)),
            "What is allowed is the smaller of both, min; it is the larger, 1e-4 * max(1, "
            "abs(numeric)).": marked(right, distance > 1e-4 * np.minimum(1, np.abs(right))),
            "What is allowed is a sum, 1e-4 * (1 + abs(numeric)); it is the larger of both, 1e-4 * "
            "max(1, abs(numeric)).": marked(right, distance > 1e-4 * (1 + np.abs(right))),
            "What is allowed has no abs(): for negative results, too, it grows with their size, "
            "1e-4 * max(1, abs(numeric)).": marked(right, distance > 1e-4 * np.maximum(1, right)),
            "Too much is allowed: errors far above 1e-4 * max(1, abs(numeric)) are not marked.": (
                marked(right, distance > 1e-3 * np.maximum(1, np.abs(right)))
            ),
            "Too little is allowed: errors below 1e-4 * max(1, abs(numeric)) are marked, too.": (
                marked(right, distance > 1e-5 * np.maximum(1, np.abs(right)))
            ),
            "Every weight is marked, for a difference is never exactly the gradient: allow 1e-4 * "
            "max(1, abs(numeric)).": marked(right, np.ones(n, bool)),
        },
    )  # fmt: skip
