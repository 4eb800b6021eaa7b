"""Cases of the gradient of weights: fewer and more samples than a block takes, ragged layers."""

import numpy as np

from gpukit.course import Case

TILE, SHARE = 16, 16
# Samples, outputs, inputs.
SHAPES = {
    "one block": (16, 16, 16),
    "one sample more": (17, 16, 16),
    "three blocks share": (48, 16, 16),
    "one of each": (1, 1, 1),
    "one less each way": (15, 15, 15),
    "one more each way": (17, 17, 17),
    "three primes": (37, 29, 53),
    "many blocks": (64, 32, 48),
}


def case(rng: np.random.Generator, samples: int, outputs: int, inputs: int) -> Case:
    """Return the case of a layer and so many samples."""
    grad, net = rng.normal(0, 1, (2, samples, outputs)).astype(np.float32)
    x = rng.uniform(-1, 2, (samples, inputs)).astype(np.float32)
    kind = rng.random(net.shape)
    net[kind < 0.2], net[kind > 0.9] = 0, 1e-30  # beside where relu bends
    net[0, 0], grad[0, 0] = 1, -2  # so that no mask is the right one by chance
    g, n, wide = (array.astype(np.float64) for array in (grad, net, x))

    def left(masked: np.ndarray, by: np.ndarray = wide) -> dict[str, np.ndarray]:
        return {"grad_weight": (masked.T @ by).astype(np.float32)}

    right = np.where(n > 0, g, 0)
    last = (samples - 1) // SHARE * SHARE
    parts = [right[k : k + SHARE].T @ wide[k : k + SHARE] for k in range(0, samples, SHARE)]
    largest = np.max([*parts, np.zeros((outputs, inputs))], axis=0)
    return Case(
        args={
            "grad_out": grad, "net": net, "x": x,
            "grad_weight": np.zeros((outputs, inputs), np.float32),
        },
        grid=(-(-inputs // TILE), -(-outputs // TILE), -(-samples // SHARE)),
        block=(TILE, TILE, 1),
        expected=left(right),
        scale={"grad_weight": np.abs(g).T @ np.abs(wide)},
        mistakes={
            "The gradient is masked by its own sign; relu lets it through where net is positive.": (
                left(np.where(g > 0, g, 0))
            ),
            "The mask of relu is missing: where net is not positive, nothing comes back.": left(g),
            "Where net is 0 the gradient passes here; there relu is flat: the comparison is net > "
            "0.": left(np.where(n >= 0, g, 0)),
            "The mask is turned around: the gradient goes through where net was positive.": left(
                np.where(n > 0, 0, g)
            ),
            "Both net and the gradient must be positive here; only net must be.": left(
                np.where((n > 0) & (g > 0), g, 0)
            ),
            "Only the last block along z counts: each stored its own sum over the others'.": left(
                right[last:], wide[last:]
            ),
            "Only the first 16 samples count: first is cuda.blockIdx.z * SHARE, and all blocks "
            "along z add.": left(right[:SHARE], wide[:SHARE]),
            "Each gradient is too large: every block along z took all samples. Block z takes 16 "
            "of them.": left(right * -(-samples // SHARE)),
            "Nothing is left of a sum: an atomic addition gives what stood there before, and to "
            "store "
            "that takes the addition back.": (
                {"grad_weight": np.zeros((outputs, inputs), np.float32)} if samples <= SHARE else {}
            ),
            "The blocks keep the largest of their sums, and 0: it is cuda.atomic.add, not max.": {
                "grad_weight": largest.astype(np.float32)
            },
            "This is the mean over the samples; their sum is asked.": left(right / samples),
            "net itself was multiplied in: it decides only whether the gradient goes through.": (
                left(np.where(n > 0, g * n, 0))
            ),
        },
    )  # fmt: skip
