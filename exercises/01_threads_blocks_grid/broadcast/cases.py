"""Cases of the broadcast sum: sizes on both sides of a block, along each axis."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (32, 4)
SHAPES = areas(*BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of rows x cols sums."""
    column = rng.normal(size=rows).astype(np.float32)
    row = rng.normal(size=cols).astype(np.float32)
    return Case(
        args={"column": column, "row": row, "out": poison((rows, cols))},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1])),
        block=BLOCK,
        expected={"out": column[:, None] + row},
        mistakes={
            "These are products of column and row, not sums.": {"out": column[:, None] * row},
            "Every row holds the same numbers: column is never added.": {
                "out": np.broadcast_to(row, (rows, cols))
            },
        },
    )
