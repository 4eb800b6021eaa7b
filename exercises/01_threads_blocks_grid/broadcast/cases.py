"""Cases of the broadcast sum: sizes on both sides of a block, along each axis."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (32, 4)
SHAPES = areas(*BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of rows x cols sums."""
    left = rng.normal(size=rows).astype(np.float32)
    top = rng.normal(size=cols).astype(np.float32)
    mistakes = {
        "These are products of left and top, not sums.": {"out": left[:, None] * top},
        "Every row holds the same numbers: left is never added.": {
            "out": np.broadcast_to(top, (rows, cols))
        },
        "top is read at the row; it has an element for each column of out.": {
            "out": np.broadcast_to((left + top[np.arange(rows) % cols])[:, None], (rows, cols))
        },
        "left is read at the column; it has an element for each row of out.": {
            "out": np.broadcast_to(left[np.arange(cols) % rows] + top, (rows, cols))
        },
        "Every column holds the same numbers: top is never added.": {
            "out": np.broadcast_to(left[:, None], (rows, cols))
        },
    }
    return Case(
        args={"left": left, "top": top, "out": poison((rows, cols))},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1])),
        block=BLOCK,
        expected={"out": left[:, None] + top},
        mistakes=mistakes,
    )
