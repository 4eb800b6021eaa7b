"""Cases of the gradient of the cross-entropy: ragged batches and classes, large scores."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = (32, 4)
# Samples and classes.
SHAPES = {
    "exactly one block": (4, 32),
    "one sample, one class": (1, 1),
    "one less each way": (3, 31),
    "one more each way": (5, 33),
    "one class": (37, 1),
    "one sample": (1, 67),
    "two primes": (13, 41),
    "ten classes": (33, 10),
    "many blocks": (16, 96),
}


def case(rng: np.random.Generator, samples: int, classes: int) -> Case:
    """Return the case of so many samples and classes."""
    around = np.resize([0, 100, -200, 3], samples)
    scores = (rng.normal(0, 2, (samples, classes)) + around[:, None]).astype(np.float32)
    target = rng.integers(0, classes, samples).astype(np.int32)
    wide = scores.astype(np.float64)
    high = wide.max(axis=1)
    log_sum = (high + np.log(np.exp(wide - high[:, None]).sum(axis=1))).astype(np.float32)
    shares = np.exp(wide - log_sum.astype(np.float64)[:, None])
    hot = (np.arange(classes) == target[:, None]).astype(np.float64)

    def left(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"grad": values.astype(np.float32)}

    def only_hot(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"grad": np.where(hot > 0, values.astype(np.float32), poison(hot.shape))}

    with np.errstate(over="ignore"):  # as in a kernel
        plain = np.exp(scores).astype(np.float64)
    return Case(
        args={
            "scores": scores, "log_sum": log_sum, "target": target,
            "grad": poison((samples, classes)),
        },
        grid=(-(-classes // BLOCK[0]), -(-samples // BLOCK[1])),
        block=BLOCK,
        expected=left((shares - hot) / samples),
        scale={"grad": (shares + hot) / samples},
        mistakes={
            "The 1 of the right class is not subtracted: where col == target[row] the gradient is "
            "share - 1.": left(shares / samples),
            "The gradient is not divided by the number of samples: the loss is their mean.": left(
                shares - hot
            ),
            "The gradient is divided by the number of classes. The loss is the mean over the "
            "samples: grad.shape[0].": left((shares - hot) / classes),
            "The gradient is divided by the number of all scores. The loss is the mean over the "
            "samples: grad.shape[0].": left((shares - hot) / (classes * samples)),
            "The sign is wrong: it is share minus 1, so that a larger score for the right class "
            "makes the loss smaller.": left((hot - shares) / samples),
            "Only the 1 is divided by the number of samples: parentheses around share - 1 are "
            "missing.": left(shares - hot / samples),
            "Only the share is divided by the number of samples, not the 1: subtract first.": left(
                shares / samples - hot
            ),
            "1 is subtracted from every share; only the right class, col == target[row], has it.": (
                left((shares - 1) / samples)
            ),
            "The gradient of the wrong classes is 0 here. It is their share: their scores should "
            "fall.": left(hot * (shares - 1) / samples),
            "Only the right class of each sample was written. The others have a gradient, too: "
            "their share.": only_hot((shares - 1) / samples),
            "log_sum is not subtracted in the exponent: exp(score) alone is no share.": left(
                (plain - hot) / samples
            ),
            "This takes score - log_sum, the logarithm of the share: exp is missing.": left(
                (wide - log_sum[:, None] - hot) / samples
            ),
            "Class 0 counts as the right one for every sample: it is target[row].": left(
                (shares - (np.arange(classes) == 0)) / samples
            ),
            "The class after the right one has the 1: classes are counted from 0.": left(
                (shares - (np.arange(classes) == target[:, None] + 1)) / samples
            ),
        },
    )  # fmt: skip
