"""Cases of the brighter photograph: sizes on both sides of a block, along each axis."""

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
        expected={"out": np.minimum(2 * photo, np.float32(255))},
        mistakes={
            "The bright pixels pass 255: nothing holds them there.": {"out": 2 * photo},
            "The picture is as bright as it was: no pixel was doubled.": {"out": photo},
            "Every pixel is 255: that is max where min is meant.": {
                "out": np.maximum(2 * photo, np.float32(255))
            },
        },
    )
