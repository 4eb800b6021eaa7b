"""Cases of the gradient of the weights: whole tiles, and partial ones in each direction."""

import numpy as np

from gpukit.course import Case, poison, products

TILE = 16
# Batch, outputs, inputs.
SHAPES = {
    "one tile": (TILE, TILE, TILE),
    "three steps along the batch": (3 * TILE, TILE, TILE),
    "two by three tiles": (TILE, 2 * TILE, 3 * TILE),
    "the batch one less than a tile": (TILE - 1, TILE, TILE),
    "one more in every direction": (TILE + 1, TILE + 1, TILE + 1),
    "three different primes": (53, 31, 37),
    "one weight": (29, 1, 1),
    "a batch of one": (1, 5, 7),
    "many tiles": (4 * TILE, 4 * TILE, 4 * TILE),
    "many tiles, the last ones ragged": (61, 56, 56),
}


def case(rng: np.random.Generator, batch: int, outputs: int, inputs: int) -> Case:
    """Return the case of a batch and a dense layer with these outputs and inputs."""
    grad = rng.normal(size=(batch, outputs)).astype(np.float32)
    x = rng.normal(size=(batch, inputs)).astype(np.float32)
    right, sizes = products.dot(grad.T, x)
    return Case(
        args={"grad_out": grad, "x": x, "grad_weight": poison((outputs, inputs))},
        grid=(-(-inputs // TILE), -(-outputs // TILE)),
        block=(TILE, TILE),
        expected={"grad_weight": right},
        scale={"grad_weight": sizes},
    )
