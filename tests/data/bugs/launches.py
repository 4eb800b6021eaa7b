"""Launches that a GPU refuses or that leave blocks with nothing to do; kernels that raise."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, counts, reals

TILE = 8
N = 100


@cuda.jit
def scale_kernel(x, out):
    """Is right, and is launched rightly."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = np.float32(2) * x[i]


def doubled(x, out):
    return 2 * x


correct(scale_kernel, lambda: (reals(N), blank(N)), doubled, Launch(2, 64))
bug(
    scale_kernel,
    "scale_large_block",
    "launch-refused",
    """
Is launched with one block of 2048 threads; a block may have 1024.
 def scale_kernel(x, out):  # BUG
""",
    Launch(1, 2048),
)
bug(
    scale_kernel,
    "scale_no_blocks",
    "launch-refused",
    """
Is launched with n // 128 blocks, which is none at all.
 def scale_kernel(x, out):  # BUG
""",
    Launch(N // 128, 128),
)
bug(
    scale_kernel,
    "scale_block_each",
    "idle-threads",
    """
Is launched with as many blocks as there are elements.
 def scale_kernel(x, out):  # BUG
""",
    Launch(N, BLOCK),
)
bug(
    scale_kernel,
    "scale_one_more_block",
    "idle-threads",
    """
Is launched with n // BLOCK + 1 blocks, and n is a multiple of BLOCK.
 def scale_kernel(x, out):  # BUG
""",
    Launch(128 // BLOCK + 1, BLOCK),
    lambda: (reals(128), blank(128)),
)


@cuda.jit
def invert_kernel(image, out):
    """Is right, and is launched rightly."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = np.float32(1) - image[row, col]


def inverted(image, out):
    return 1 - image


correct(invert_kernel, lambda: (reals(16, 16), blank(16, 16)), inverted, Launch((1, 1), (16, 16)))
bug(
    invert_kernel,
    "invert_square_block",
    "launch-refused",
    """
Is launched with 64 x 64 threads a block, each axis of which would be allowed.
 def invert_kernel(image, out):  # BUG
""",
    Launch((1, 1), (64, 64)),
)
bug(
    invert_kernel,
    "invert_tall_grid",
    "launch-refused",
    """
Has a grid row for each image row; y may have 65535.
 def invert_kernel(image, out):  # BUG
""",
    Launch((1, 65536), (1, 1)),
    lambda: (reals(16, 4), blank(16, 4)),
)
bug(
    invert_kernel,
    "invert_square_grid",
    "idle-threads",
    """
Is launched with a square grid for an image that is long and low.
 def invert_kernel(image, out):  # BUG
""",
    Launch((3, 3), (TILE, TILE)),
    lambda: (reals(6, 21), blank(6, 21)),
)


@cuda.jit
def negate_kernel(volume, out):
    """Puts it on x."""
    x, y, z = cuda.grid(3)
    if z < out.shape[0] and y < out.shape[1] and x < out.shape[2]:
        out[z, y, x] = -volume[z, y, x]


correct(
    negate_kernel,
    lambda: (reals(N, 1, 1), blank(N, 1, 1)),
    lambda volume, out: -volume,
    Launch((1, 1, 50), (1, 1, 2)),
)
bug(
    negate_kernel,
    "negate_deep_block",
    "launch-refused",
    """
Puts the long axis of the block on z, which ends at 64.
 def negate_kernel(volume, out):  # BUG
""",
    Launch(1, (1, 1, 128)),
)


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


correct(sum_small_tile_kernel, lambda: (reals(BLOCK), blank(BLOCK)), neighbours)
bug(
    sum_small_tile_kernel,
    "sum_large_tile",
    "launch-refused",
    """
Declares 64 KB of shared memory; 48 KB is what a declaration may take.
 def sum_small_tile_kernel(x, out):  # BUG
@@
-    tile = cuda.shared.array((1, 128), np.float32)
+    tile = cuda.shared.array((128, 128), np.float32)  # BUG
""",
)


@cuda.jit
def exchange_dynamic_kernel(x, out):
    """Is launched with room for a block."""
    tile = cuda.shared.array(0, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    out[tid] = tile[tid ^ 1]


correct(
    exchange_dynamic_kernel,
    lambda: (reals(BLOCK), blank(BLOCK)),
    neighbours,
    Launch(1, BLOCK, 4 * BLOCK),
)
bug(
    exchange_dynamic_kernel,
    "exchange_dynamic_large",
    "launch-refused",
    """
Is launched with room for the whole array, 64 KB, where a block needs its own part.
 def exchange_dynamic_kernel(x, out):  # BUG
""",
    Launch(1, BLOCK, 64 * 1024),
)


@cuda.jit
def square_kernel(x, out):
    """Is launched with a quarter of the threads."""
    first = 4 * cuda.grid(1)
    for k in range(first, min(first + 4, x.shape[0])):
        out[k] = x[k] * x[k]


correct(square_kernel, lambda: (reals(N), blank(N)), lambda x, out: x * x, Launch(1, 32))
bug(
    square_kernel,
    "square_four_each",
    "idle-threads",
    """
Does four elements a thread, in a grid made for one a thread.
 def square_kernel(x, out):  # BUG
""",
    Launch(4, 32),
)

# --- Kernels that raise ----------------------------------------------------------------------


@cuda.jit
def root_clamped_kernel(x, out):
    """Takes negative elements for zero."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = max(x[i], np.float32(0))


correct(root_clamped_kernel, lambda: (reals(BLOCK), blank(BLOCK)), lambda x, out: np.maximum(x, 0))
bug(
    root_clamped_kernel,
    "root_raises",
    "raised",
    """
Raises for negative elements, which it is given.
-        out[i] = max(x[i], np.float32(0))
+        if x[i] < 0:
+            raise ValueError("negative")  # BUG
+        out[i] = x[i]
""",
)


@cuda.jit
def average_kernel(sums, sizes, out):
    """Gives an empty group the average zero."""
    i = cuda.grid(1)
    if i < sums.shape[0]:
        out[i] = sums[i] // sizes[i] if sizes[i] > 0 else 0


correct(
    average_kernel,
    lambda: (counts(BLOCK, 50), counts(BLOCK, 5), np.full(BLOCK, -1, np.int32)),
    lambda sums, sizes, out: np.where(sizes > 0, sums // np.maximum(sizes, 1), 0),
)
bug(
    average_kernel,
    "average_asserts",
    "raised",
    """
Asserts that no group is empty; one is.
-        out[i] = sums[i] // sizes[i] if sizes[i] > 0 else 0
+        assert sizes[i] > 0  # BUG
+        out[i] = sums[i] // sizes[i]
""",
)
