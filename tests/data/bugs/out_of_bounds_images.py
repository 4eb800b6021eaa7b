"""Accesses past the end of an image or a matrix: the wrong axis, guard or pitch."""

from gpukit import cuda
from tests.bugs.kernels import Launch, blank, bug, correct, reals
from tests.data.bugs.launches import invert_kernel

TILE = 8

bug(
    invert_kernel,
    "invert_swapped_axes",
    "out-of-bounds",
    """
Takes the row from x: with a wide image the rows run past the end.
-    col, row = cuda.grid(2)
-    if row < image.shape[0] and col < image.shape[1]:
+    row, col = cuda.grid(2)
+    if row < image.shape[1] and col < image.shape[0]:
         out[row, col] = np.float32(1) - image[row, col]  # BUG
""",
    Launch((2, 1), (TILE, TILE)),
    lambda: (reals(5, 11), blank(5, 11)),
)


@cuda.jit
def add_bias_kernel(x, bias, out):
    """Guards both axes."""
    col, row = cuda.grid(2)
    if col < x.shape[1] and row < x.shape[0]:
        out[row, col] = x[row, col] + bias[col]


correct(
    add_bias_kernel,
    lambda: (reals(6, 7), reals(7), blank(6, 7)),
    lambda x, bias, out: x + bias,
    Launch((1, 1), (TILE, TILE)),
)
bug(
    add_bias_kernel,
    "add_bias_unguarded_rows",
    "out-of-bounds",
    """
Guards the columns and forgets the rows.
-    if col < x.shape[1] and row < x.shape[0]:
+    if col < x.shape[1]:
         out[row, col] = x[row, col] + bias[col]  # BUG
""",
)


@cuda.jit
def grey_kernel(image, out):
    """Uses the three channels there are."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = image[row, col, 0] + image[row, col, 1] + image[row, col, 2]


correct(
    grey_kernel,
    lambda: (reals(7, 5, 3), blank(7, 5)),
    lambda image, out: image.sum(2),
    Launch((1, 1), (TILE, TILE)),
)
bug(
    grey_kernel,
    "grey_alpha_channel",
    "out-of-bounds",
    """
Reads channel 3, alpha, of an image that has red, green and blue only.
-        out[row, col] = image[row, col, 0] + image[row, col, 1] + image[row, col, 2]
+        grey = image[row, col, 0] + image[row, col, 1] + image[row, col, 2]
+        out[row, col] = grey * image[row, col, 3]  # BUG
""",
)


@cuda.jit
def copy_kernel(image, flat):
    """Counts rows in steps of the width."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        flat[row * image.shape[1] + col] = image[row, col]


correct(
    copy_kernel,
    lambda: (reals(8, 5), blank(40)),
    lambda image, flat: image.ravel(),
    Launch((1, 1), (TILE, TILE)),
)
bug(
    copy_kernel,
    "copy_wrong_stride",
    "out-of-bounds",
    """
Counts rows of the flat copy in steps of the height; its rows are as long as the width.
-        flat[row * image.shape[1] + col] = image[row, col]
+        flat[row * image.shape[0] + col] = image[row, col]  # BUG
""",
)
