"""Blocks with nothing to do, and kernels that raise."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, counts, reals

TILE = 8
N = 100


@cuda.jit
def scale_kernel(x, out):
    """Is launched with as many blocks as the elements need."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = np.float32(2) * x[i]


def doubled(x, out):
    return 2 * x


@cuda.jit
def scale_block_each_kernel(x, out):  # BUG
    """Is launched with as many blocks as there are elements."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = np.float32(2) * x[i]


case(
    scale_block_each_kernel, scale_kernel, "idle-threads", Launch(N, BLOCK),
    fixed_launch=Launch(2, BLOCK),
    arguments=lambda: (reals(N), blank(N)),
    expected=doubled,
)  # fmt: skip


@cuda.jit
def scale_one_more_block_kernel(x, out):  # BUG
    """Is launched with n // BLOCK + 1 blocks, and n is a multiple of BLOCK."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = np.float32(2) * x[i]


case(
    scale_one_more_block_kernel, scale_kernel, "idle-threads", Launch(128 // BLOCK + 1, BLOCK),
    fixed_launch=Launch(2, BLOCK),
    arguments=lambda: (reals(128), blank(128)),
    expected=doubled,
)  # fmt: skip


@cuda.jit
def invert_square_grid_kernel(image, out):  # BUG
    """Is launched with a square grid for an image that is long and low."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = np.float32(1) - image[row, col]


@cuda.jit
def invert_kernel(image, out):
    """Is launched with a grid of the image's shape."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = np.float32(1) - image[row, col]


case(
    invert_square_grid_kernel, invert_kernel, "idle-threads", Launch((3, 3), (TILE, TILE)),
    fixed_launch=Launch((3, 1), (TILE, TILE)),
    arguments=lambda: (reals(6, 21), blank(6, 21)),
    expected=lambda image, out: 1 - image,
)  # fmt: skip


@cuda.jit
def square_four_each_kernel(x, out):  # BUG
    """Does four elements a thread, in a grid made for one a thread."""
    first = 4 * cuda.grid(1)
    for k in range(first, min(first + 4, x.shape[0])):
        out[k] = x[k] * x[k]


@cuda.jit
def square_kernel(x, out):
    """Is launched with a quarter of the threads."""
    first = 4 * cuda.grid(1)
    for k in range(first, min(first + 4, x.shape[0])):
        out[k] = x[k] * x[k]


case(
    square_four_each_kernel, square_kernel, "idle-threads", Launch(4, 32),
    fixed_launch=Launch(1, 32),
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda x, out: x * x,
)  # fmt: skip


# --- Kernels that raise ----------------------------------------------------------------------


@cuda.jit
def root_raises_kernel(x, out):
    """Raises for negative elements, which it is given."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        if x[i] < 0:
            raise ValueError("negative")  # BUG
        out[i] = x[i]


@cuda.jit
def root_clamped_kernel(x, out):
    """Takes negative elements for zero."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = max(x[i], np.float32(0))


case(
    root_raises_kernel, root_clamped_kernel, "raised",
    arguments=lambda: (reals(BLOCK), blank(BLOCK)),
    expected=lambda x, out: np.maximum(x, 0),
)  # fmt: skip


@cuda.jit
def average_asserts_kernel(sums, sizes, out):
    """Asserts that no group is empty; one is."""
    i = cuda.grid(1)
    if i < sums.shape[0]:
        assert sizes[i] > 0  # BUG
        out[i] = sums[i] // sizes[i]


@cuda.jit
def average_kernel(sums, sizes, out):
    """Gives an empty group the average zero."""
    i = cuda.grid(1)
    if i < sums.shape[0]:
        out[i] = sums[i] // sizes[i] if sizes[i] > 0 else 0


case(
    average_asserts_kernel, average_kernel, "raised",
    arguments=lambda: (counts(BLOCK, 50), counts(BLOCK, 5), np.full(BLOCK, -1, np.int32)),
    expected=lambda sums, sizes, out: np.where(sizes > 0, sums // np.maximum(sizes, 1), 0),
)  # fmt: skip
