"""Accesses past the end of an image or a matrix: the wrong axis, guard or pitch."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import Launch, blank, case, reals

TILE = 8


@cuda.jit
def invert_swapped_axes_kernel(image, out):
    """Takes the row from x: with a wide image the rows run past the end."""
    row, col = cuda.grid(2)
    if row < image.shape[1] and col < image.shape[0]:
        out[row, col] = np.float32(1) - image[row, col]  # BUG


@cuda.jit
def invert_kernel(image, out):
    """Takes the column from x."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = np.float32(1) - image[row, col]


case(
    invert_swapped_axes_kernel, invert_kernel, "out-of-bounds",
    Launch((2, 1), (TILE, TILE)),
    arguments=lambda: (reals(5, 11), blank(5, 11)),
    expected=lambda image, out: 1 - image,
)  # fmt: skip


@cuda.jit
def add_bias_unguarded_rows_kernel(x, bias, out):
    """Guards the columns and forgets the rows."""
    col, row = cuda.grid(2)
    if col < x.shape[1]:
        out[row, col] = x[row, col] + bias[col]  # BUG


@cuda.jit
def add_bias_kernel(x, bias, out):
    """Guards both axes."""
    col, row = cuda.grid(2)
    if col < x.shape[1] and row < x.shape[0]:
        out[row, col] = x[row, col] + bias[col]


case(
    add_bias_unguarded_rows_kernel, add_bias_kernel, "out-of-bounds",
    Launch((1, 1), (TILE, TILE)),
    arguments=lambda: (reals(6, 7), reals(7), blank(6, 7)),
    expected=lambda x, bias, out: x + bias,
)  # fmt: skip


@cuda.jit
def grey_alpha_channel_kernel(image, out):
    """Reads channel 3, alpha, of an image that has red, green and blue only."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        grey = image[row, col, 0] + image[row, col, 1] + image[row, col, 2]
        out[row, col] = grey * image[row, col, 3]  # BUG


@cuda.jit
def grey_kernel(image, out):
    """Uses the three channels there are."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = image[row, col, 0] + image[row, col, 1] + image[row, col, 2]


case(
    grey_alpha_channel_kernel, grey_kernel, "out-of-bounds", Launch((1, 1), (TILE, TILE)),
    arguments=lambda: (reals(7, 5, 3), blank(7, 5)),
    expected=lambda image, out: image.sum(2),
)  # fmt: skip


@cuda.jit
def copy_wrong_stride_kernel(image, flat):
    """Counts rows of the flat copy in steps of the height; its rows are as long as the width."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        flat[row * image.shape[0] + col] = image[row, col]  # BUG


@cuda.jit
def copy_kernel(image, flat):
    """Counts rows in steps of the width."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        flat[row * image.shape[1] + col] = image[row, col]


case(
    copy_wrong_stride_kernel, copy_kernel, "out-of-bounds", Launch((1, 1), (TILE, TILE)),
    arguments=lambda: (reals(8, 5), blank(40)),
    expected=lambda image, flat: image.ravel(),
)  # fmt: skip
