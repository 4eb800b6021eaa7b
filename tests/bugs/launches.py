"""Launches that a GPU refuses: too many threads, too long an axis, too much shared memory."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, reals

N = 100


@cuda.jit
def scale_kernel(x, out):
    """Is right, and is launched rightly by its fixed twin."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = np.float32(2) * x[i]


def doubled(x, out):
    return 2 * x


@cuda.jit
def scale_large_block_kernel(x, out):  # BUG
    """Is launched with one block of 2048 threads; a block may have 1024."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = np.float32(2) * x[i]


case(
    scale_large_block_kernel, scale_kernel, "launch-refused", Launch(1, 2048),
    fixed_launch=Launch(2, 64),
    arguments=lambda: (reals(N), blank(N)),
    expected=doubled,
)  # fmt: skip


@cuda.jit
def scale_no_blocks_kernel(x, out):  # BUG
    """Is launched with n // 128 blocks, which is none at all."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = np.float32(2) * x[i]


case(
    scale_no_blocks_kernel, scale_kernel, "launch-refused", Launch(N // 128, 128),
    fixed_launch=Launch(1, 128),
    arguments=lambda: (reals(N), blank(N)),
    expected=doubled,
)  # fmt: skip


@cuda.jit
def invert_kernel(image, out):
    """Is right, and is launched rightly by its fixed twin."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = np.float32(1) - image[row, col]


def inverted(image, out):
    return 1 - image


@cuda.jit
def invert_square_block_kernel(image, out):  # BUG
    """Is launched with 64 x 64 threads a block, each axis of which would be allowed."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = np.float32(1) - image[row, col]


case(
    invert_square_block_kernel, invert_kernel, "launch-refused", Launch((1, 1), (64, 64)),
    fixed_launch=Launch((1, 1), (16, 16)),
    arguments=lambda: (reals(16, 16), blank(16, 16)),
    expected=inverted,
)  # fmt: skip


@cuda.jit
def invert_tall_grid_kernel(image, out):  # BUG
    """Has a grid row for each image row; y may have 65535."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = np.float32(1) - image[row, col]


case(
    invert_tall_grid_kernel, invert_kernel, "launch-refused", Launch((1, 65536), (1, 1)),
    fixed_launch=Launch((1, 4), (4, 4)),
    arguments=lambda: (reals(16, 4), blank(16, 4)),
    expected=inverted,
)  # fmt: skip


@cuda.jit
def negate_deep_block_kernel(volume, out):  # BUG
    """Puts the long axis of the block on z, which ends at 64."""
    x, y, z = cuda.grid(3)
    if z < out.shape[0] and y < out.shape[1] and x < out.shape[2]:
        out[z, y, x] = -volume[z, y, x]


@cuda.jit
def negate_kernel(volume, out):
    """Puts it on x."""
    x, y, z = cuda.grid(3)
    if z < out.shape[0] and y < out.shape[1] and x < out.shape[2]:
        out[z, y, x] = -volume[z, y, x]


case(
    negate_deep_block_kernel, negate_kernel, "launch-refused", Launch(1, (1, 1, 128)),
    fixed_launch=Launch((1, 1, 50), (1, 1, 2)),
    arguments=lambda: (reals(N, 1, 1), blank(N, 1, 1)),
    expected=lambda volume, out: -volume,
)  # fmt: skip


@cuda.jit
def sum_large_tile_kernel(x, out):  # BUG
    """Declares 64 KB of shared memory; 48 KB is what a declaration may take."""
    tile = cuda.shared.array((128, 128), np.float32)  # BUG
    tid = cuda.threadIdx.x
    tile[0, tid] = x[tid]
    cuda.syncthreads()
    out[tid] = tile[0, tid ^ 1]


@cuda.jit
def sum_small_tile_kernel(x, out):
    """Declares what it needs."""
    tile = cuda.shared.array((1, 128), np.float32)
    tid = cuda.threadIdx.x
    tile[0, tid] = x[tid]
    cuda.syncthreads()
    out[tid] = tile[0, tid ^ 1]


def neighbours(x, out):
    return x.reshape(-1, 2)[:, ::-1].ravel()


case(
    sum_large_tile_kernel, sum_small_tile_kernel, "launch-refused",
    arguments=lambda: (reals(BLOCK), blank(BLOCK)),
    expected=neighbours,
)  # fmt: skip


@cuda.jit
def exchange_dynamic_large_kernel(x, out):  # BUG
    """Is launched with room for the whole array, 64 KB, where a block needs its own part."""
    tile = cuda.shared.array(0, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    out[tid] = tile[tid ^ 1]


@cuda.jit
def exchange_dynamic_kernel(x, out):
    """Is launched with room for a block."""
    tile = cuda.shared.array(0, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    out[tid] = tile[tid ^ 1]


case(
    exchange_dynamic_large_kernel, exchange_dynamic_kernel, "launch-refused",
    Launch(1, BLOCK, 64 * 1024),
    fixed_launch=Launch(1, BLOCK, 4 * BLOCK),
    arguments=lambda: (reals(BLOCK), blank(BLOCK)),
    expected=neighbours,
)  # fmt: skip
