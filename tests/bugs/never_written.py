"""Outputs, or parts of them, that no thread writes."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import Launch, blank, case, reals

TILE = 8
HALF = 32
N = 2 * HALF - 10
TWO = Launch(2, HALF)


@cuda.jit
def relu_short_guard_kernel(x, out):
    """Guards with n - 1 and leaves the last element out."""
    i = cuda.grid(1)
    if i < out.shape[0] - 1:
        out[i] = max(x[i], np.float32(0))  # BUG


@cuda.jit
def relu_kernel(x, out):
    """Guards with n."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = max(x[i], np.float32(0))


def rectified(x, out):
    return np.maximum(x, 0)


case(
    relu_short_guard_kernel, relu_kernel, "never-written", TWO,
    arguments=lambda: (reals(N), blank(N)),
    expected=rectified,
)  # fmt: skip


@cuda.jit
def relu_short_grid_kernel(x, out):
    """Is launched with n // 32 blocks, which is one too few."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = max(x[i], np.float32(0))  # BUG


case(
    relu_short_grid_kernel, relu_kernel, "never-written", Launch(N // HALF, HALF),
    fixed_launch=TWO,
    arguments=lambda: (reals(N), blank(N)),
    expected=rectified,
)  # fmt: skip


@cuda.jit
def relu_reversed_guard_kernel(x, out):
    """Has the comparison of the guard the wrong way round."""
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    if x.shape[0] < i:
        out[i] = max(x[i], np.float32(0))  # BUG


case(
    relu_reversed_guard_kernel, relu_kernel, "never-written", TWO,
    arguments=lambda: (reals(N), blank(N)),
    expected=rectified,
)  # fmt: skip


@cuda.jit
def relu_missing_else_kernel(x, out):
    """Writes the positive elements, and nothing where the answer is zero."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        if x[i] > np.float32(0):
            out[i] = x[i]  # BUG


case(
    relu_missing_else_kernel, relu_kernel, "never-written", TWO,
    arguments=lambda: (reals(N), cuda.device_array(N, np.float32)),
    expected=rectified,
)  # fmt: skip


@cuda.jit
def gradient_no_border_kernel(image, out):
    """Writes the inside of the image and leaves the border as it was."""
    col, row = cuda.grid(2)
    if 0 < row < image.shape[0] - 1 and 0 < col < image.shape[1] - 1:
        out[row, col] = image[row, col + 1] - image[row, col - 1]  # BUG


@cuda.jit
def gradient_kernel(image, out):
    """Writes zeros on the border."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        if 0 < row < image.shape[0] - 1 and 0 < col < image.shape[1] - 1:
            out[row, col] = image[row, col + 1] - image[row, col - 1]
        else:
            out[row, col] = np.float32(0)


def gradient(image, out):
    found = np.zeros_like(image)
    found[1:-1, 1:-1] = image[1:-1, 2:] - image[1:-1, :-2]
    return found


case(
    gradient_no_border_kernel, gradient_kernel, "never-written", Launch(1, (TILE, TILE)),
    arguments=lambda: (reals(7, 6), cuda.device_array((7, 6), np.float32)),
    expected=gradient,
)  # fmt: skip


@cuda.jit
def add_swapped_guard_kernel(a, b, out):
    """Compares the column with the height: a wide matrix keeps a part unwritten."""
    col, row = cuda.grid(2)
    if col < out.shape[0] and row < out.shape[0]:
        out[row, col] = a[row, col] + b[row, col]  # BUG


@cuda.jit
def add_kernel(a, b, out):
    """Compares the column with the width."""
    col, row = cuda.grid(2)
    if col < out.shape[1] and row < out.shape[0]:
        out[row, col] = a[row, col] + b[row, col]


case(
    add_swapped_guard_kernel, add_kernel, "never-written", Launch((2, 1), (TILE, TILE)),
    arguments=lambda: (reals(5, 12), reals(5, 12, seed=8), blank(5, 12)),
    expected=lambda a, b, out: a + b,
)  # fmt: skip


@cuda.jit
def scale_short_loop_kernel(x, out):
    """Stops the grid-stride loop one block before the end."""
    for i in range(cuda.grid(1), x.shape[0] - cuda.blockDim.x, cuda.gridsize(1)):
        out[i] = np.float32(2) * x[i]  # BUG


@cuda.jit
def scale_kernel(x, out):
    """Stops at the end."""
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        out[i] = np.float32(2) * x[i]


case(
    scale_short_loop_kernel, scale_kernel, "never-written", TWO,
    arguments=lambda: (reals(3 * N), blank(3 * N)),
    expected=lambda x, out: 2 * x,
)  # fmt: skip


@cuda.jit
def column_sums_whole_tiles_kernel(a, out):
    """Does as many whole tiles of columns as fit, and forgets the rest."""
    tid = cuda.threadIdx.x
    for t in range(a.shape[1] // HALF):
        acc = np.float32(0)
        for row in range(a.shape[0]):
            acc += a[row, t * HALF + tid]
        out[t * HALF + tid] = acc  # BUG


@cuda.jit
def column_sums_kernel(a, out):
    """Rounds the number of tiles up, and guards the last one."""
    tid = cuda.threadIdx.x
    for t in range((a.shape[1] + HALF - 1) // HALF):
        col = t * HALF + tid
        if col < a.shape[1]:
            acc = np.float32(0)
            for row in range(a.shape[0]):
                acc += a[row, col]
            out[col] = acc


case(
    column_sums_whole_tiles_kernel, column_sums_kernel, "never-written", Launch(1, HALF),
    arguments=lambda: (reals(4, N), blank(N)),
    expected=lambda a, out: a.sum(0),
)  # fmt: skip


@cuda.jit
def relu_wrong_target_kernel(x, out):  # BUG
    """Writes the result back to its input; the new array for it stays as it came."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        x[i] = max(x[i], np.float32(0))


case(
    relu_wrong_target_kernel, relu_kernel, "never-written", TWO,
    arguments=lambda: (reals(N), cuda.device_array(N, np.float32)),
    expected=rectified,
)  # fmt: skip
