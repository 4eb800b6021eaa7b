"""Cases of the brighter photograph: sizes on both sides of a block, along each axis."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (32, 8)
SHAPES = areas(*BLOCK)
# Where twice the pixel is near 255, and outside 0 to 255.
AWKWARD = np.array([127.25, 127.75, 0, -3.5, 255, 300], np.float32)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a photograph of rows x cols pixels."""
    photo = rng.uniform(0, 255, (rows, cols)).astype(np.float32)
    awkward = rng.random((rows, cols)) < 0.2
    photo[awkward] = rng.choice(AWKWARD, int(awkward.sum()))
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
            "Pixels below 0 became 0: 255 is the only bound, and a pixel of -3 becomes -6.": {
                "out": np.clip(2 * photo, 0, np.float32(255))
            },
            "Pixels below 0 lost their sign: a pixel of -3 becomes -6.": {
                "out": np.minimum(2 * np.abs(photo), np.float32(255))
            },
            "Every pixel is 255: that is max where min is meant.": {
                "out": np.maximum(2 * photo, np.float32(255))
            },
        },
    )
