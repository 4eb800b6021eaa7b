"""Cases of the colour planes: one plane or several, sizes around the block size."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (16, 8, 1)
SHAPES = {
    **{name: (3, *shape) for name, shape in areas(*BLOCK[:2]).items()},
    "one plane": (1, 9, 17),
    "four planes": (4, 8, 16),
    "five planes": (5, 9, 17),
}


def case(rng: np.random.Generator, planes: int, rows: int, cols: int) -> Case:
    """Return the case of a photograph of `planes` planes."""
    photo = rng.uniform(-20, 330, (planes, rows, cols)).astype(np.float32)
    factor = rng.uniform(0.2, 2.5, planes).astype(np.float32)
    factor[3:4] = 0
    tinted = factor[:, None, None] * photo
    return Case(
        args={"planes": photo, "factor": factor, "out": poison(photo.shape)},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1]), planes),
        block=BLOCK,
        expected={"out": np.minimum(tinted, np.float32(255))},
    )
