"""Cases of the gradient of average pooling: windows that are adjacent, overlap or leave gaps."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = (16, 8)
# Rows and columns of the results, size of a window, stride.
SHAPES = {
    "windows side by side": (4, 8, 2, 2),
    "windows that overlap": (3, 7, 3, 2),
    "windows with gaps": (3, 5, 2, 3),
    "one pixel": (1, 1, 1, 1),
    "one window": (1, 1, 15, 1),
    "windows one pixel apart": (1, 17, 1, 1),
    "small windows one pixel apart": (6, 9, 2, 1),
    "windows of four pixels": (3, 5, 4, 3),
    "two primes": (13, 23, 3, 1),
    "many blocks": (15, 23, 3, 2),
}


def case(rng: np.random.Generator, rows: int, cols: int, size: int, stride: int) -> Case:
    """Return the case of rows x cols windows; the last stride - 1 rows and columns are in none."""
    shape = (rows * stride + size - 1, cols * stride + size - 1)
    grad = rng.normal(1, 1, (rows, cols)).astype(np.float32)
    wide = grad.astype(np.float64)
    total, sizes = np.zeros(shape), np.zeros(shape)
    for r, c in np.ndindex(rows, cols):
        window = np.s_[r * stride : r * stride + size, c * stride : c * stride + size]
        total[window] += wide[r, c]
        sizes[window] += np.abs(wide[r, c])
    return Case(
        args={"grad_out": grad, "size": size, "stride": stride, "grad_x": poison(shape)},
        grid=(-(-shape[1] // BLOCK[0]), -(-shape[0] // BLOCK[1])),
        block=BLOCK,
        expected={"grad_x": (total / size**2).astype(np.float32)},
        scale={"grad_x": sizes / size**2},
    )
