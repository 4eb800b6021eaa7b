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
            "The fractions are cut off: somewhere the pixels pass through whole numbers.": {
                "out": np.trunc(np.minimum(2 * photo, np.float32(255)))
            },
            "The bright pixels were never written: where twice the pixel passes 255, out is 255.": {
                "out": np.where(2 * photo < 255, 2 * photo, poison(photo.shape))
            },
            "It is held at 256, and white is 255.": {"out": np.minimum(2 * photo, np.float32(256))},
            "Every pixel is 255: that is max where min is meant.": {
                "out": np.maximum(2 * photo, np.float32(255))
            },
        },
    )
