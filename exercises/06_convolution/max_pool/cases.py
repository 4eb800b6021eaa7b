"""Cases of the max-pooling: awkward sizes, windows that overlap or leave gaps, all negative."""

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


def pooled(x: np.ndarray, size: int, strides: tuple[int, int], rows: int, cols: int) -> np.ndarray:
    """Return all windows that begin within x, each as a row of pixels; NaN stands outside."""
    down, across = strides
    margin = max(strides) * max(rows, cols) + size
    wide = np.pad(x, ((0, margin), (0, margin)), constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(wide, (size, size))
    return windows[: rows * down : down, : cols * across : across].reshape(rows, cols, -1)


def case(rng: np.random.Generator, rows: int, cols: int, size: int, stride: int) -> Case:
    """Return the case of rows x cols windows; x has as many more pixels as are left out."""
    shape = ((rows - 1) * stride + size + stride - 1, (cols - 1) * stride + size + stride - 1)
    x = (rng.normal(-3, 1, shape) - 1e-3).astype(np.float32)
    x[: shape[0] // 2, : shape[1] // 3] += np.float32(6)
    x[2 * shape[0] // 3 :, shape[1] // 2 :] = lanes.LEAST
    x[2 * shape[0] // 3 :, 3 * shape[1] // 4 :] = -np.inf
    windows = pooled(x, size, (stride, stride), rows, cols)
    right = windows.max(axis=2)
    with np.errstate(over="ignore"):  # as in a kernel
        total = windows.sum(axis=2)
    terms = np.abs(np.where(np.isfinite(windows), windows, 0).astype(np.float64)).sum(axis=2)
    turned = poison((rows, cols))
    least = min(rows, cols)
    turned[:least, :least] = right[:least, :least]

    def left(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"out": values.astype(np.float32)}

    fixed = (
        {
            "The windows are 2 x 2 pixels here, whatever size says.": left(
                pooled(x, 2, (stride, stride), rows, cols).max(axis=2)
            ),
        }
        if size > 2
        else {}
    )
    return Case(
        args={"x": x, "size": size, "stride": stride, "out": poison((rows, cols))},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1])),
        block=BLOCK,
        expected=left(right),
        scale={"out": terms},  # for the mistakes: some add
        mistakes={
            **fixed,
            "Where all pixels of a window are negative the result is 0: the maximum begins with 0. "
            "Begin with the first pixel or with -infinity.": left(np.maximum(right, 0)),
            **{
                f"The maximum begins with {start:g}, a number that is not low enough: all pixels "
                "of a window may be lower. Begin with the first pixel or with -infinity.": left(
                    np.maximum(right, start)
                )
                for start in lanes.STARTS
            },
            "The stride is left out: the window of a result begins at row * stride, col * "
            "stride.": left(pooled(x, size, (1, 1), rows, cols).max(axis=2)),
            "The stride is left out along the rows of the picture: a window begins in row row * "
            "stride.": left(pooled(x, size, (1, stride), rows, cols).max(axis=2)),
            "The stride is left out along the columns of the picture: a window begins in column "
            "col * stride.": left(pooled(x, size, (stride, 1), rows, cols).max(axis=2)),
            "The windows begin `size` pixels apart. It is the stride that says where they begin: "
            "row * stride.": left(pooled(x, size, (size, size), rows, cols).max(axis=2)),
            "The windows are one pixel too large each way: i and j go from 0 to size - 1.": left(
                pooled(x, size + 1, (stride, stride), rows, cols).max(axis=2)
            ),
            "This is the mean of each window; its largest pixel is asked.": left(total / size**2),
            "This is the smallest pixel of each window.": left(windows.min(axis=2)),
            "This is the sum of each window; its largest pixel is asked.": left(total),
            "This is the first pixel of each window: nothing was compared with it.": left(
                windows[:, :, 0]
            ),
            "This is the last pixel of each window: each one replaced the one before. Keep the "
            "larger of the two.": left(windows[:, :, -1]),
            "Only the diagonal of each window was looked at: a window needs two loops, one for its "
            "rows and one for its columns.": left(windows[:, :, :: size + 1].max(axis=2)),
            "The first row and the first column of each window are left out, all but its first "
            "pixel: "
            "both loops go over all of the window.": left(
                np.maximum(
                    windows[:, :, 0],
                    windows.reshape(rows, cols, size, size)[:, :, 1:, 1:].max(
                        axis=(2, 3), initial=-np.inf
                    ),
                )
            ),
            "Only the first row of each window was looked at: a window needs two loops.": left(
                windows[:, :, :size].max(axis=2)
            ),
            "Only the first column of each window was looked at: a window needs two loops.": left(
                windows[:, :, ::size].max(axis=2)
            ),
            "This is the largest size without its sign: abs() does not belong here.": left(
                np.abs(windows).max(axis=2)
            ),
            "The guard exchanges the sizes: row is less than out.shape[0], col less than "
            "out.shape[1].": {"out": turned},
        },
    )
