"""Cases of black and white: sizes on both sides of a block, with pixels of exactly 128."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (32, 8)
SHAPES = areas(*BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a photograph of rows x cols pixels."""
    photo = rng.integers(0, 256, (rows, cols)).astype(np.float32)
    photo[rng.random((rows, cols)) < 0.1] = 128
    photo[0, 0] = 128

    def two(white: np.ndarray) -> np.ndarray:
        return np.where(white, np.float32(255), np.float32(0))

    return Case(
        args={"photo": photo, "out": poison((rows, cols))},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1])),
        block=BLOCK,
        expected={"out": two(photo >= 128)},
        mistakes={
            "A pixel of exactly 128 is to be white: >= is asked, not >.": {"out": two(photo > 128)},
            "Black and white are exchanged: 255 is white, and it is for the bright pixels.": {
                "out": two(photo < 128)
            },
            "The bright pixels are 1, and white is 255: a comparison is only 0 or 1.": {
                "out": (photo >= 128).astype(np.float32)
            },
            "The dark pixels were never written: every pixel needs a value, the black ones 0.": {
                "out": np.where(photo >= 128, np.float32(255), poison(photo.shape))
            },
        },
    )
