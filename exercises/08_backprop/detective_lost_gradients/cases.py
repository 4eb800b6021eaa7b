"""Cases of the gradient of weights: fewer and more samples than one block, ragged layers."""

import numpy as np

from gpukit.course import Case, beside

TILE, SAMPLES = 16, 16
# Samples, outputs, inputs.
SHAPES = {
    "one block": (SAMPLES, TILE, TILE),
    "one sample more": (SAMPLES + 1, TILE, TILE),
    "three blocks along z": (3 * SAMPLES, TILE, TILE),
    "one of each": (1, 1, 1),
    **beside(SAMPLES, TILE, TILE),
    "three primes": (37, 29, 53),
    "many blocks": (64, 32, 48),
}


def case(rng: np.random.Generator, samples: int, outputs: int, inputs: int) -> Case:
    """Return the case of `samples` samples and a dense layer with these outputs and inputs."""
    grad, net = rng.normal(0, 1, (2, samples, outputs)).astype(np.float32)
    x = rng.uniform(-1, 2, (samples, inputs)).astype(np.float32)
    kind = rng.random(net.shape)
    net[kind < 0.2], net[kind > 0.9] = 0, 1e-30  # at the kink of relu and just above it
    net[0, 0], grad[0, 0] = 1, -2  # so that no wrong mask passes by chance
    g, wide = grad.astype(np.float64), x.astype(np.float64)
    right = np.where(net > 0, g, 0).T @ wide
    return Case(
        args={
            "grad_out": grad,
            "net": net,
            "x": x,
            "grad_weight": np.zeros((outputs, inputs), np.float32),
        },
        grid=(-(-inputs // TILE), -(-outputs // TILE), -(-samples // SAMPLES)),
        block=(TILE, TILE, 1),
        expected={"grad_weight": right.astype(np.float32)},
        scale={"grad_weight": np.abs(g).T @ np.abs(wide)},
    )
