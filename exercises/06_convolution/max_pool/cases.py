"""Cases of max pooling: awkward sizes, windows that overlap or leave gaps, all negative."""

import numpy as np

from gpukit.course import Case, lanes, poison

BLOCK = (16, 8)
# Rows and columns of the result, size of a window, stride.
SHAPES = {
    "exactly one block": (8, 16, 2, 2),
    "windows with gaps": (7, 15, 2, 3),
    "windows that overlap": (9, 17, 3, 2),
    "one pixel": (1, 1, 1, 1),
    "one less each way": (7, 15, 3, 3),
    "one row": (1, 37, 2, 2),
    "windows of one pixel": (16, 16, 1, 2),
    "large windows, far apart": (3, 5, 6, 4),
    "two primes": (29, 31, 2, 1),
    "many blocks": (32, 48, 2, 2),
}


def case(rng: np.random.Generator, rows: int, cols: int, size: int, stride: int) -> Case:
    """Return the case of rows x cols windows; the last stride - 1 rows and columns are in none."""
    shape = (rows * stride + size - 1, cols * stride + size - 1)
    x = (rng.normal(-3, 1, shape) - 1e-3).astype(np.float32)
    x[: shape[0] // 2, : shape[1] // 3] += np.float32(6)
    x[2 * shape[0] // 3 :, shape[1] // 2 :] = lanes.LEAST
    x[2 * shape[0] // 3 :, 3 * shape[1] // 4 :] = -np.inf
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size))[::stride, ::stride]
    windows = windows.reshape(rows, cols, -1)
    terms = np.abs(np.where(np.isfinite(windows), windows, 0).astype(np.float64)).sum(axis=2)
    return Case(
        args={"x": x, "size": size, "stride": stride, "out": poison((rows, cols))},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1])),
        block=BLOCK,
        expected={"out": windows.max(axis=2)},
        scale={"out": terms},  # widens the tolerance for mistakes that add
    )
