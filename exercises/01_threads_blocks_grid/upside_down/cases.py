"""Cases of upside down: sizes on both sides of a block, along each axis."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (32, 8)
SHAPES = areas(*BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a photograph of rows x cols pixels."""
    photo = rng.uniform(0, 255, (rows, cols)).astype(np.float32)
    turned = photo[::-1].copy()
    of_grid, short = poison((rows, cols)), -rows % BLOCK[1]  # rows of the grid below the picture
    of_grid[short:] = photo[short:][::-1]
    return Case(
        args={"photo": photo, "out": poison((rows, cols))},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1])),
        block=BLOCK,
        expected={"out": turned},
    )
