"""Cases of the blur: images of whole tiles, of partial ones, and of one pixel."""

import numpy as np

from gpukit.course import Case, areas, poison

TILE = 16
SHAPES = {**areas(TILE, TILE), "many blocks": (62, 40)}


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of an image of rows x cols pixels."""
    image = rng.uniform(50, 200, (rows, cols)).astype(np.float32)
    padded = np.pad(image.astype(np.float64), 1)
    means = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).sum((2, 3)) / 9
    return Case(
        args={"image": image, "out": poison((rows, cols))},
        grid=(-(-cols // TILE), -(-rows // TILE)),
        block=(TILE, TILE),
        expected={"out": means.astype(np.float32)},
        scale={"out": means},
    )
