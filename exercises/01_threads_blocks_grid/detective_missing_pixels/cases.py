"""Cases of the mirror image: sizes on both sides of a block, along each axis."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (32, 8)
SHAPES = areas(*BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a photograph of rows x cols pixels."""
    photo = rng.uniform(0, 255, (rows, cols)).astype(np.float32)
    mirrored = photo[:, ::-1].copy()
    unmirrored = np.where(np.arange(cols) == 0, poison((rows, cols)), np.roll(mirrored, 1, axis=1))
    middle = np.where(np.arange(cols) == cols // 2, poison((rows, cols)), mirrored)
    first = np.arange(cols) // BLOCK[0] * BLOCK[0]
    in_block = first + np.minimum(first + BLOCK[0], cols) - 1 - np.arange(cols)
    return Case(
        args={"photo": photo, "out": poison((rows, cols))},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1])),
        block=BLOCK,
        expected={"out": photo[:, ::-1]},
        mistakes={
            "The picture is mirrored about the wrong column: column 0 should take the last one, "
            "number cols - 1.": {"out": photo[:, np.minimum(cols - np.arange(cols), cols - 1)]},
            "Column 0 is empty, and the others take what stands one place too far right: the last "
            "column is number cols - 1, and column 0 takes it.": {"out": unmirrored},
            "The middle column is empty where their number is odd: it belongs to neither half.": {
                "out": middle if cols % 2 else mirrored
            },
            "Each block mirrors its own columns; the whole row is asked: cols - 1 - col.": {
                "out": photo[:, in_block]
            },
            "The picture is not mirrored at all.": {"out": photo},
            "Top and bottom are exchanged; left and right are asked.": {"out": photo[::-1]},
            "The picture is turned by half a turn: the rows are exchanged as well.": {
                "out": photo[::-1, ::-1]
            },
        },
    )
