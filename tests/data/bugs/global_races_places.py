"""Races in global memory: results computed in place, and two threads that own one element."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import Launch, blank, bug, correct, reals

TILE = 8
HALF = 32
N = 2 * HALF
TWO = Launch(2, HALF)


@cuda.jit
def smooth_kernel(x, out):
    """Writes another array than it reads."""
    i = cuda.grid(1)
    if 0 < i < x.shape[0] - 1:
        out[i] = (x[i - 1] + x[i] + x[i + 1]) / np.float32(3)
    else:
        out[i] = x[i]


correct(
    smooth_kernel,
    lambda: (reals(N), blank(N)),
    lambda x, out: np.r_[x[0], np.convolve(x, np.ones(3) / 3, "valid"), x[-1]],
    TWO,
)
bug(
    smooth_kernel,
    "smooth_in_place",
    "global-race",
    """
Overwrites an element that its neighbours still need.
-def smooth_kernel(x, out):
+def smooth_kernel(x):
@@
-        out[i] = (x[i - 1] + x[i] + x[i + 1]) / np.float32(3)
-    else:
-        out[i] = x[i]
+        x[i] = (x[i - 1] + x[i] + x[i + 1]) / np.float32(3)  # BUG
""",
    arguments=lambda: (reals(N),),
)


@cuda.jit
def reverse_pairs_kernel(x):
    """Lets the lower half of the threads swap pairs."""
    i = cuda.grid(1)
    j = x.shape[0] - 1 - i
    if i < j:
        low = x[i]
        x[i] = x[j]
        x[j] = low


correct(reverse_pairs_kernel, lambda: (reals(N),), lambda x: x[::-1], Launch(1, HALF))
bug(
    reverse_pairs_kernel,
    "reverse_in_place",
    "global-race",
    """
Lets every thread copy its mirror image, which another thread overwrites.
-    j = x.shape[0] - 1 - i
-    if i < j:
-        low = x[i]
-        x[i] = x[j]
-        x[j] = low
+    x[i] = x[x.shape[0] - 1 - i]  # BUG
""",
    TWO,
)


@cuda.jit
def transpose_pairs_kernel(a):
    """Lets the threads below the diagonal swap pairs."""
    col, row = cuda.grid(2)
    if col < row:
        above = a[col, row]
        a[col, row] = a[row, col]
        a[row, col] = above


correct(
    transpose_pairs_kernel, lambda: (reals(TILE, TILE),), lambda a: a.T, Launch(1, (TILE, TILE))
)
bug(
    transpose_pairs_kernel,
    "transpose_in_place",
    "global-race",
    """
Writes a[col, row] while another thread reads it.
-    if col < row:
-        above = a[col, row]
-        a[col, row] = a[row, col]
-        a[row, col] = above
+    a[col, row] = a[row, col]  # BUG
""",
)


@cuda.jit
def life_kernel(world, after):
    """Writes the next generation to an array of its own."""
    col, row = cuda.grid(2)
    alive = 0
    for m in range(-1, 2):
        for n in range(-1, 2):
            if m != 0 or n != 0:
                alive += world[(row + m) % TILE, (col + n) % TILE]
    after[row, col] = 1 if alive == 3 or (alive == 2 and world[row, col] == 1) else 0


def world():
    return (reals(TILE, TILE) > 0.3).astype(np.int32)


def next_generation(old, after):
    around = [np.roll(old, (m, n), (0, 1)) for m in (-1, 0, 1) for n in (-1, 0, 1)]
    alive = sum(around) - old
    return ((alive == 3) | ((alive == 2) & (old == 1))).astype(np.int32)


correct(
    life_kernel,
    lambda: (world(), np.full((TILE, TILE), -1, np.int32)),
    next_generation,
    Launch(1, (TILE, TILE)),
)
bug(
    life_kernel,
    "life_in_place",
    "global-race",
    """
Plays the game of life in the one array that it reads the neighbours from.
-def life_kernel(world, after):
+def life_kernel(world):
@@
                 alive += world[(row + m) % TILE, (col + n) % TILE]  # BUG
-    after[row, col] = 1 if alive == 3 or (alive == 2 and world[row, col] == 1) else 0
+    world[row, col] = 1 if alive == 3 or (alive == 2 and world[row, col] == 1) else 0
""",
    arguments=lambda: (world(),),
)


@cuda.jit
def relu_kernel(x, out):
    """Writes with the index in the grid."""
    i = cuda.grid(1)
    out[i] = max(x[i], np.float32(0))


correct(relu_kernel, lambda: (np.abs(reals(N)) + np.float32(1), blank(N)), lambda x, out: x, TWO)
bug(
    relu_kernel,
    "relu_local_index",
    "global-race",
    """
Writes with the index in the block, so all blocks write the same elements.
-    out[i] = max(x[i], np.float32(0))
+    out[cuda.threadIdx.x] = max(x[i], np.float32(0))  # BUG
""",
)


@cuda.jit
def add_one_kernel(x):
    """Strides by the grid."""
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        x[i] += np.float32(1)


correct(add_one_kernel, lambda: (reals(3 * N),), lambda x: x + 1, TWO)
bug(
    add_one_kernel,
    "add_one_short_stride",
    "global-race",
    """
Strides by the block instead of the grid: the blocks do the same elements again.
-    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
+    for i in range(cuda.grid(1), x.shape[0], cuda.blockDim.x):
         x[i] += np.float32(1)  # BUG
""",
)


@cuda.jit
def sums_of_parts_kernel(x, part, sums):
    """Ends each part where the next one begins."""
    thread = cuda.grid(1)
    first = thread * part
    acc = np.float32(0)
    for k in range(first, min(first + part, x.shape[0])):
        acc += x[k]
        x[k] = acc
    sums[thread] = acc


correct(
    sums_of_parts_kernel,
    lambda: (reals(3 * N), 3, blank(N)),
    lambda x, part, sums: x.reshape(N, 3).sum(1),
    TWO,
)
bug(
    sums_of_parts_kernel,
    "sums_overlapping_parts",
    "global-race",
    """
Gives each thread a part, and the first element of the next one too.
-    for k in range(first, min(first + part, x.shape[0])):
+    for k in range(first, min(first + part + 1, x.shape[0])):
         acc += x[k]
         x[k] = acc  # BUG
""",
)


@cuda.jit
def flatten_kernel(image, flat):
    """Starts them a row apart."""
    col, row = cuda.grid(2)
    flat[row * image.shape[1] + col] = image[row, col]


correct(
    flatten_kernel,
    lambda: (reals(TILE, TILE), blank(TILE * TILE)),
    lambda image, flat: image.ravel(),
    Launch((1, 2), (TILE, TILE // 2)),
)
bug(
    flatten_kernel,
    "flatten_wrong_pitch",
    "global-race",
    """
Starts the rows of the flat copy half a row apart, so they overlap.
-    flat[row * image.shape[1] + col] = image[row, col]
+    flat[row * (image.shape[1] // 2) + col] = image[row, col]  # BUG
""",
)
