"""Cases of the one-dimensional convolution: lengths around the block size, and zero."""

import numpy as np

from gpukit.course import Case, lengths, poison, products

BLOCK = 128
RADIUS = 3
SIZE = 2 * RADIUS + 1
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(1, 1, n).astype(np.float32)
    weight = rng.normal(1, 1, SIZE).astype(np.float32)
    padded = np.pad(x, (RADIUS, SIZE))  # long enough for a window even where x is empty
    windows = np.lib.stride_tricks.sliding_window_view(padded, SIZE)[:n]
    right, sizes = products.dot(windows, weight)
    return Case(
        args={"x": x, "weight": weight, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": right},
        scale={"out": sizes},
    )
