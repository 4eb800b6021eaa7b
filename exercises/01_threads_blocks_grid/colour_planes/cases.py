"""Cases of the colour planes: one plane or several, sizes on both sides of a block."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (16, 8, 1)
SHAPES = {
    **{name: (3, *shape) for name, shape in areas(*BLOCK[:2]).items()},
    "one plane": (1, 9, 17),
    "four planes": (4, 8, 16),
}


def case(rng: np.random.Generator, planes: int, rows: int, cols: int) -> Case:
    """Return the case of a photograph of some planes."""
    photo = rng.uniform(0, 255, (planes, rows, cols)).astype(np.float32)
    factor = rng.uniform(0.5, 1.5, planes).astype(np.float32)
    tinted = factor[:, None, None] * photo
    return Case(
        args={"planes": photo, "factor": factor, "out": poison(photo.shape)},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1]), planes),
        block=BLOCK,
        expected={"out": np.minimum(tinted, np.float32(255))},
        mistakes={
            "The bright pixels pass 255: nothing holds them there.": {"out": tinted},
            "Every value is 255 or more: that is max where min is meant.": {
                "out": np.maximum(tinted, np.float32(255))
            },
            "Every plane has the factor of the first one.": {
                "out": np.minimum(factor[0] * photo, np.float32(255))
            },
        },
    )
