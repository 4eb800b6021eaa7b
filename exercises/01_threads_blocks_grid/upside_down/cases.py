"""Cases of upside down: sizes on both sides of a block, along each axis."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (32, 8)
SHAPES = areas(*BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a photograph of rows x cols pixels."""
    photo = rng.uniform(0, 255, (rows, cols)).astype(np.float32)
    turned = photo[::-1].copy()
    row = np.arange(rows)
    middle = np.where(row[:, None] == rows // 2, poison((rows, cols)), turned)
    in_block = row // BLOCK[1] * BLOCK[1] + BLOCK[1] - 1 - row % BLOCK[1]
    each_block = poison((rows, cols))
    each_block[in_block[in_block < rows]] = photo[in_block < rows]
    of_grid, short = poison((rows, cols)), -rows % BLOCK[1]  # rows of the grid below the picture
    of_grid[short:] = photo[short:][::-1]
    return Case(
        args={"photo": photo, "out": poison((rows, cols))},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1])),
        block=BLOCK,
        expected={"out": turned},
        mistakes={
            "Nothing was moved: every pixel is where it was.": {"out": photo},
            "The middle row is empty where their number is odd: it belongs to neither half.": {
                "out": middle if rows % 2 else turned
            },
            "Each block turns its own rows; the whole picture is asked: out.shape[0] - 1 - row.": {
                "out": each_block
            },
            "The rows are counted from the end of the grid; the last row of the picture is "
            "out.shape[0] - 1.": {"out": of_grid},
            "Left and right are exchanged, not top and bottom: the row must change.": {
                "out": photo[:, ::-1].copy()
            },
            "Top and bottom are exchanged, but so are left and right: only the row changes.": {
                "out": photo[::-1, ::-1].copy()
            },
        },
    )
