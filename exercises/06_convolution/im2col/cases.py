"""Cases of im2col: windows wider than tall and taller than wide, several channels."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = (32, 4)
# Channels, rows and columns of positions, rows and columns of a window.
SHAPES = {
    "one row of a block": (1, 4, 8, 2, 2),
    "a wide window": (1, 3, 11, 2, 3),
    "a tall window": (1, 7, 5, 3, 2),
    "two channels": (2, 1, 31, 2, 3),
    "one pixel": (1, 1, 1, 1, 1),
    "one position": (3, 1, 1, 3, 5),
    "windows of one pixel": (3, 9, 7, 1, 1),
    "many blocks": (4, 8, 16, 3, 3),
}


def case(
    rng: np.random.Generator, channels: int, down: int, across: int, k_rows: int, k_cols: int
) -> Case:
    """Return the case of an image with down x across positions of a window."""
    x = rng.normal(size=(channels, down + k_rows - 1, across + k_cols - 1)).astype(np.float32)
    taps, positions = channels * k_rows * k_cols, down * across
    windows = np.lib.stride_tricks.sliding_window_view(x, (k_rows, k_cols), axis=(1, 2))
    return Case(
        args={"x": x, "k_rows": k_rows, "k_cols": k_cols, "cols": poison((taps, positions))},
        grid=(-(-positions // BLOCK[0]), -(-taps // BLOCK[1])),
        block=BLOCK,
        expected={"cols": windows.transpose(0, 3, 4, 1, 2).reshape(taps, positions)},
    )
