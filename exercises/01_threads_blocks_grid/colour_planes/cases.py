"""Cases of the colour planes: one plane or several, sizes on both sides of a block."""

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
    """Return the case of a photograph of some planes."""
    photo = rng.uniform(-20, 330, (planes, rows, cols)).astype(np.float32)
    factor = rng.uniform(0.2, 2.5, planes).astype(np.float32)
    factor[3:4] = 0
    tinted = factor[:, None, None] * photo
    held = np.minimum(factor, np.float32(1))[:, None, None] * photo
    tinted_to_white, missing = np.minimum(tinted, np.float32(255)), poison(photo.shape)
    grid = (-(-cols // BLOCK[0]), -(-rows // BLOCK[1]), planes)
    by_row = factor[np.arange(rows) % planes][:, None]
    by_column = factor[np.arange(cols) % planes]
    limited = {
        f"Only the first {most} planes were written: the number of planes is out.shape[0].": {
            "out": np.where(np.arange(planes)[:, None, None] < most, tinted_to_white, missing)
        }
        for most in (3, 4)
        if planes > most
    }
    # What out[row, col, plane] reaches.
    deep, high, wide = (
        min(planes, grid[1] * BLOCK[1]),
        min(rows, grid[0] * BLOCK[0]),
        min(cols, planes),
    )
    turned = poison(photo.shape)
    corner = (slice(deep), slice(high), slice(wide))
    turned[corner] = np.minimum(factor[:wide] * photo[corner], np.float32(255))
    return Case(
        args={"planes": photo, "factor": factor, "out": poison(photo.shape)},
        grid=grid,
        block=BLOCK,
        expected={"out": tinted_to_white},
        mistakes={
            "The bright pixels pass 255: nothing holds them there.": {"out": tinted},
            "Values below 0 became 0: 255 is the only bound.": {
                "out": np.clip(tinted, 0, np.float32(255))
            },
            "Every value is 255 or more: that is max where min is meant.": {
                "out": np.maximum(tinted, np.float32(255))
            },
            "The factor is held at 1; it is the product that must not pass 255.": {
                "out": np.minimum(held, np.float32(255))
            },
            "The factor is held at 1; it is the product that must not pass 255, and pixels above "
            "255 still do.": {"out": held},
            "The factor is chosen by the row; it belongs to the plane.": {
                "out": np.minimum(by_row * photo, np.float32(255))
            },
            "The factor is chosen by the column; it belongs to the plane.": {
                "out": np.minimum(by_column * photo, np.float32(255))
            },
            "The pixel is held at 255 before the factor; it is the product that must not pass "
            "255.": {
                "out": np.minimum(
                    factor[:, None, None] * np.minimum(photo, np.float32(255)), np.float32(255)
                )
            },
            "The pixel is held at 255 instead of the product.": {
                "out": factor[:, None, None] * np.minimum(photo, np.float32(255))
            },
            "Planes with the factor 0 were not written: they become 0, and somebody has to write "
            "it.": {"out": np.where(factor[:, None, None] == 0, missing, tinted_to_white)},
            "No factor is multiplied in: the picture is as it was.": {"out": photo},
            "The arrays are indexed [row, col, plane] here; it is [plane, row, col].": {
                "out": turned
            },
            "Every plane has the factor of the first one.": {
                "out": np.minimum(factor[0] * photo, np.float32(255))
            },
        }
        | limited,
    )
