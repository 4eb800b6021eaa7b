"""Blocks with nothing to do, and kernels that raise."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, counts, reals

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


correct(scale_kernel, lambda: (reals(N), blank(N)), doubled, Launch(2, BLOCK))
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
    """Is launched with a grid of the image's shape."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = np.float32(1) - image[row, col]


correct(
    invert_kernel,
    lambda: (reals(6, 21), blank(6, 21)),
    lambda image, out: 1 - image,
    Launch((3, 1), (TILE, TILE)),
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
