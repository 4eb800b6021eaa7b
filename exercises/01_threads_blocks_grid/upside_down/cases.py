"""Cases of upside down: sizes on both sides of a block, along each axis."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (32, 8)
SHAPES = areas(*BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a photograph of rows x cols pixels."""
    photo = rng.uniform(0, 255, (rows, cols)).astype(np.float32)
    return Case(
        args={"photo": photo, "out": poison((rows, cols))},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1])),
        block=BLOCK,
        expected={"out": photo[::-1].copy()},
        mistakes={
            "Nothing was moved: every pixel is where it was.": {"out": photo},
            "Left and right are exchanged, not top and bottom: the row must change.": {
                "out": photo[:, ::-1].copy()
            },
            "Top and bottom are exchanged, but so are left and right: only the row changes.": {
                "out": photo[::-1, ::-1].copy()
            },
        },
    )
