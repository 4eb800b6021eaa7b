"""Cases of the black-and-white photograph: awkward sizes, pixels just below and above 128."""

import numpy as np

from gpukit.course import Case, areas, of_photograph

BLOCK = (32, 8)
SHAPES = areas(*BLOCK)
# Next to 128, and outside 0 to 255, where a division or a cast gives more than two values.
BELOW = np.nextafter(np.float32(128), np.float32(0))
AWKWARD = np.array(
    [128, BELOW, 127.5, 127.999, 128.4, -3.5, 256, 300, 511.5, 65541, -65300, 1e7, -1e7], np.float32
)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a photograph of rows x cols pixels."""
    photo = rng.uniform(-20, 300, (rows, cols)).astype(np.float32)
    awkward = rng.random((rows, cols)) < 0.3
    photo[awkward] = rng.choice(AWKWARD, int(awkward.sum()))
    first = photo.reshape(-1)[: AWKWARD.size]
    first[:] = AWKWARD[: first.size]
    if rows > 60 and cols > 60:  # converting these to an integer is undefined
        photo[-1, -2:] = 3e38, -3e38
    white = np.where(photo >= 128, np.float32(255), np.float32(0))
    return of_photograph(photo, white, BLOCK)
