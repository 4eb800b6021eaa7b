"""Cases of the mirror image: sizes around the block size along each axis."""

import numpy as np

from gpukit.course import Case, areas, of_photograph

BLOCK = (32, 8)
SHAPES = areas(*BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a photograph of rows x cols pixels."""
    photo = rng.uniform(0, 255, (rows, cols)).astype(np.float32)
    return of_photograph(photo, photo[:, ::-1], BLOCK)
