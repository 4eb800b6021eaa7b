"""Cases of the brighter photograph: sizes around the block size along each axis."""

import numpy as np

from gpukit.course import Case, areas, of_photograph

BLOCK = (32, 8)
SHAPES = areas(*BLOCK)
# Where twice the pixel is near 255, and outside 0 to 255.
AWKWARD = np.array([127.25, 127.75, 0, -3.5, 255, 300], np.float32)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a photograph of rows x cols pixels."""
    photo = rng.uniform(0, 255, (rows, cols)).astype(np.float32)
    awkward = rng.random((rows, cols)) < 0.2
    photo[awkward] = rng.choice(AWKWARD, int(awkward.sum()))
    return of_photograph(photo, np.minimum(2 * photo, np.float32(255)), BLOCK)
