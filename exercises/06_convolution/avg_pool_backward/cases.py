"""Cases of the gradient of average pooling: windows that touch, overlap or leave gaps."""

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


def remaining(wide: np.ndarray, shape: tuple[int, int], size: int, stride: int) -> np.ndarray:
    """Return the share that remains where a thread for each window stores to all of its pixels.

    On the CPU target the threads of a row store together, to one pixel of their windows after the
    other.
    """
    left = np.full(shape, np.nan)
    rows, cols = np.indices(wide.shape)
    group = (rows // BLOCK[1] * wide.shape[1] + cols // BLOCK[0]) * BLOCK[1] + rows % BLOCK[1]
    for number in np.unique(group):
        r, c = rows[group == number], cols[group == number]
        for i, j in np.ndindex(size, size):
            left[r * stride + i, c * stride + j] = wide[r, c]
    return left


def shares(wide: np.ndarray, shape: tuple[int, int], size: int, stride: int) -> np.ndarray:
    """Return the sums where the first window is (row - size + 1) // stride, rounded down."""
    sums = np.zeros(shape)
    for row, col in np.ndindex(shape):
        down, across = (
            slice(max(0, (at - size + 1) // stride), at // stride + 1) for at in (row, col)
        )
        sums[row, col] = wide[down, across].sum()
    return sums


def case(rng: np.random.Generator, rows: int, cols: int, size: int, stride: int) -> Case:
    """Return the case of rows x cols windows; one row and column more belongs to no window."""
    shape = ((rows - 1) * stride + size + stride - 1, (cols - 1) * stride + size + stride - 1)
    grad = rng.normal(1, 1, (rows, cols)).astype(np.float32)
    wide = grad.astype(np.float64)
    total, count, sizes = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    first, last, begun = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for r, c in np.ndindex(rows, cols):
        window = np.s_[r * stride : r * stride + size, c * stride : c * stride + size]
        total[window] += wide[r, c]
        sizes[window] += np.abs(wide[r, c])
        begun[r * stride :, c * stride :] += wide[r, c]  # also behind its end
        first[window] = np.where(count[window] > 0, first[window], wide[r, c])
        last[window] = wide[r, c]
        count[window] += 1
    early = shares(wide, shape, size, stride)
    row, col = np.minimum(np.arange(shape[0]) // stride, rows - 1), np.arange(shape[1]) // stride
    row_of, col_of = np.arange(shape[0]) // stride, np.arange(shape[1]) // stride
    nearest = wide[np.ix_(row, np.minimum(col, cols - 1))]

    def left(values: np.ndarray, by: float | np.ndarray = size * size) -> dict[str, np.ndarray]:
        return {"grad_x": (values / by).astype(np.float32)}

    return Case(
        args={"grad_out": grad, "size": size, "stride": stride, "grad_x": poison(shape)},
        grid=(-(-shape[1] // BLOCK[0]), -(-shape[0] // BLOCK[1])),
        block=BLOCK,
        expected=left(total),
        scale={"grad_x": sizes / size**2},
        mistakes={
            "The shares are not divided by size * size: a window has so many pixels.": left(
                total, 1
            ),
            "The shares are divided by size; a window has size * size pixels.": left(total, size),
            "The shares are divided by the number of windows that hold the pixel. They are divided "
            "by the pixels of a window, size * size.": left(total, np.maximum(1, count)),
            "Each pixel has the share of one window only, the last that begins before it. Where "
            "windows overlap it gets shares of several.": left(last),
            "Each pixel has the share of one window only, the first that holds it. Where windows "
            "overlap it gets shares of several.": left(first),
            "Each pixel has the share of the window number row // stride, col // stride, where "
            "there is "
            "one. It may lie in several windows, those that begin up to size - 1 before it.": left(
                nearest * (row_of < rows)[:, None] * (col_of < cols)
            ),
            "Each pixel has the share of the window number row // stride, col // stride. A pixel "
            "may lie in several windows, and in none.": left(nearest),
            "The first window that holds a pixel is (row - size + 1) / stride rounded up, for "
            "rows and "
            "columns; rounded down it is one that ends before it.": left(early),
            "Pixels get shares of windows that end before them: window r holds the rows r * stride "
            "to r * stride + size - 1 only.": left(begun),
            "A thread for each window wrote to its pixels: where windows overlap several threads "
            "meet at a pixel, and one share remains. Take a thread for each pixel.": {
                "grad_x": np.where(
                    count > 0, left(remaining(wide, shape, size, stride))["grad_x"], poison(shape)
                )
            },
            "Pixels that lie in no window were not written; their gradient is 0, and somebody has "
            "to write it.": {"grad_x": np.where(count > 0, left(total)["grad_x"], poison(shape))},
        },
    )
