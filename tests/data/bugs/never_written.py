"""Outputs, or parts of them, that no thread writes."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import Launch, blank, bug, correct, reals

TILE = 8
HALF = 32
N = 2 * HALF - 10
TWO = Launch(2, HALF)


@cuda.jit
def relu_kernel(x, out):
    """Guards with n."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = max(x[i], np.float32(0))


def rectified(x, out):
    return np.maximum(x, 0)


correct(relu_kernel, lambda: (reals(N), blank(N)), rectified, TWO)
bug(
    relu_kernel,
    "relu_short_guard",
    "never-written",
    """
Guards with n - 1 and leaves the last element out.
-    if i < out.shape[0]:
+    if i < out.shape[0] - 1:
         out[i] = max(x[i], np.float32(0))  # BUG
""",
)
bug(
    relu_kernel,
    "relu_short_grid",
    "never-written",
    """
Is launched with n // 32 blocks, which is one too few.
         out[i] = max(x[i], np.float32(0))  # BUG
""",
    Launch(N // HALF, HALF),
)
bug(
    relu_kernel,
    "relu_reversed_guard",
    "never-written",
    """
Has the comparison of the guard the wrong way round.
-    if i < out.shape[0]:
+    if i >= out.shape[0]:
+        return
+    if x.shape[0] < i:
         out[i] = max(x[i], np.float32(0))  # BUG
""",
)
bug(
    relu_kernel,
    "relu_missing_else",
    "never-written",
    """
Writes the positive elements, and nothing where the answer is zero.
-        out[i] = max(x[i], np.float32(0))
+        if x[i] > np.float32(0):
+            out[i] = x[i]  # BUG
""",
    arguments=lambda: (reals(N), cuda.device_array(N, np.float32)),
)


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


correct(
    gradient_kernel,
    lambda: (reals(7, 6), cuda.device_array((7, 6), np.float32)),
    gradient,
    Launch(1, (TILE, TILE)),
)
bug(
    gradient_kernel,
    "gradient_no_border",
    "never-written",
    """
Writes the inside of the image and leaves the border as it was.
-    if row < image.shape[0] and col < image.shape[1]:
-        if 0 < row < image.shape[0] - 1 and 0 < col < image.shape[1] - 1:
-            out[row, col] = image[row, col + 1] - image[row, col - 1]
-        else:
-            out[row, col] = np.float32(0)
+    if 0 < row < image.shape[0] - 1 and 0 < col < image.shape[1] - 1:
+        out[row, col] = image[row, col + 1] - image[row, col - 1]  # BUG
""",
)


@cuda.jit
def add_kernel(a, b, out):
    """Compares the column with the width."""
    col, row = cuda.grid(2)
    if col < out.shape[1] and row < out.shape[0]:
        out[row, col] = a[row, col] + b[row, col]


correct(
    add_kernel,
    lambda: (reals(5, 12), reals(5, 12, seed=8), blank(5, 12)),
    lambda a, b, out: a + b,
    Launch((2, 1), (TILE, TILE)),
)
bug(
    add_kernel,
    "add_swapped_guard",
    "never-written",
    """
Compares the column with the height: a wide matrix keeps a part unwritten.
-    if col < out.shape[1] and row < out.shape[0]:
+    if col < out.shape[0] and row < out.shape[0]:
         out[row, col] = a[row, col] + b[row, col]  # BUG
""",
)


@cuda.jit
def scale_kernel(x, out):
    """Stops at the end."""
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        out[i] = np.float32(2) * x[i]


correct(scale_kernel, lambda: (reals(3 * N), blank(3 * N)), lambda x, out: 2 * x, TWO)
bug(
    scale_kernel,
    "scale_short_loop",
    "never-written",
    """
Stops the grid-stride loop one block before the end.
-    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
+    for i in range(cuda.grid(1), x.shape[0] - cuda.blockDim.x, cuda.gridsize(1)):
         out[i] = np.float32(2) * x[i]  # BUG
""",
)


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


correct(
    column_sums_kernel, lambda: (reals(4, N), blank(N)), lambda a, out: a.sum(0), Launch(1, HALF)
)
bug(
    column_sums_kernel,
    "column_sums_whole_tiles",
    "never-written",
    """
Does as many whole tiles of columns as fit, and forgets the rest.
-    for t in range((a.shape[1] + HALF - 1) // HALF):
-        col = t * HALF + tid
-        if col < a.shape[1]:
-            acc = np.float32(0)
-            for row in range(a.shape[0]):
-                acc += a[row, col]
-            out[col] = acc
+    for t in range(a.shape[1] // HALF):
+        acc = np.float32(0)
+        for row in range(a.shape[0]):
+            acc += a[row, t * HALF + tid]
+        out[t * HALF + tid] = acc  # BUG
""",
)
bug(
    relu_kernel,
    "relu_wrong_target",
    "never-written",
    """
Writes the result back to its input; the new array for it stays as it came.
 def relu_kernel(x, out):  # BUG
@@
-        out[i] = max(x[i], np.float32(0))
+        x[i] = max(x[i], np.float32(0))
""",
    arguments=lambda: (reals(N), cuda.device_array(N, np.float32)),
)
