"""Cases of the gradient of the cross-entropy: ragged batches and classes, large logits."""

import numpy as np

from gpukit.course import Case, beside, poison

BLOCK = (32, 4)
# Samples and classes.
SHAPES = {
    "exactly one block": (4, 32),
    "one sample, one class": (1, 1),
    **beside(4, 32),
    "one class": (37, 1),
    "one sample": (1, 67),
    "two primes": (13, 41),
    "ten classes": (33, 10),
    "many blocks": (16, 96),
}


def case(rng: np.random.Generator, samples: int, classes: int) -> Case:
    """Return the case of the logits of `samples` samples for `classes` classes."""
    around = np.resize([0, 100, -200, 3], samples)
    logits = (rng.normal(0, 2, (samples, classes)) + around[:, None]).astype(np.float32)
    target = rng.integers(0, classes, samples).astype(np.int32)
    wide = logits.astype(np.float64)
    largest = wide.max(axis=1)
    log_sum = (largest + np.log(np.exp(wide - largest[:, None]).sum(axis=1))).astype(np.float32)
    softmax = np.exp(wide - log_sum.astype(np.float64)[:, None])
    one_hot = (np.arange(classes) == target[:, None]).astype(np.float64)
    return Case(
        args={
            "logits": logits,
            "log_sum": log_sum,
            "target": target,
            "grad": poison((samples, classes)),
        },
        grid=(-(-classes // BLOCK[0]), -(-samples // BLOCK[1])),
        block=BLOCK,
        expected={"grad": ((softmax - one_hot) / samples).astype(np.float32)},
        scale={"grad": (softmax + one_hot) / samples},
    )
