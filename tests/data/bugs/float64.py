"""float64 arithmetic in kernels whose arrays are float32: up to 64 times slower on a GPU."""

import math

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, reals

N = BLOCK - 14


@cuda.jit
def row_sums_kernel(a, out):
    """Starts it with np.float32(0)."""
    row = cuda.grid(1)
    acc = np.float32(0)
    for k in range(a.shape[1]):
        acc += a[row, k]
    out[row] = acc


correct(row_sums_kernel, lambda: (reals(32, 5), blank(32)), lambda a, out: a.sum(1), Launch(1, 32))
bug(
    row_sums_kernel,
    "row_sums_plain_zero",
    "float64",
    """
Starts the sum with 0.0, a float64, so every addition is one in float64.
-    acc = np.float32(0)
+    acc = 0.0  # BUG
     for k in range(a.shape[1]):
         acc += a[row, k]  # BUG
""",
)


@cuda.jit
def tenth_kernel(x, out):
    """Multiplies by np.float32(0.1)."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = np.float32(0.1) * x[i]


correct(tenth_kernel, lambda: (reals(N), blank(N)), lambda x, out: x / 10)
bug(
    tenth_kernel,
    "tenth_plain_literal",
    "float64",
    """
Multiplies by the literal 0.1, which float32 cannot hold exactly.
-        out[i] = np.float32(0.1) * x[i]
+        out[i] = 0.1 * x[i]  # BUG
""",
)


@cuda.jit
def average_kernel(x, out):
    """Makes a float32 of the size first."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] / np.float32(x.shape[0])


correct(average_kernel, lambda: (reals(N), blank(N)), lambda x, out: x / N)
bug(
    average_kernel,
    "average_integer_division",
    "float64",
    """
Computes 1 / n from integers, which is a float64.
+    share = 1 / x.shape[0]  # BUG
     if i < x.shape[0]:
-        out[i] = x[i] / np.float32(x.shape[0])
+        out[i] = x[i] * share  # BUG
""",
)
bug(
    average_kernel,
    "average_divided_by_size",
    "float64",
    """
Divides by the size itself: float32 by int64 is a float64 too.
-        out[i] = x[i] / np.float32(x.shape[0])
+        out[i] = x[i] / x.shape[0]  # BUG
""",
)


@cuda.jit
def scale_by_float32_root_kernel(x, out):
    """Takes the root of a float32."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] / math.sqrt(np.float32(x.shape[0]))


correct(scale_by_float32_root_kernel, lambda: (reals(N), blank(N)), lambda x, out: x / np.sqrt(N))
bug(
    scale_by_float32_root_kernel,
    "scale_by_root",
    "float64",
    """
Takes the root of an integer, which is a float64.
-        out[i] = x[i] / math.sqrt(np.float32(x.shape[0]))
+        out[i] = x[i] / math.sqrt(x.shape[0])  # BUG
""",
)


@cuda.jit
def norm_kernel(x, out):
    """Writes it as math.sqrt of a float32."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = math.sqrt(x[i] * x[i])


correct(norm_kernel, lambda: (reals(N), blank(N)), lambda x, out: abs(x))
bug(
    norm_kernel,
    "norm_power",
    "float64",
    """
Writes the root as ** 0.5, with a float64 exponent.
-        out[i] = math.sqrt(x[i] * x[i])
+        out[i] = (x[i] * x[i]) ** 0.5  # BUG
""",
)


@cuda.jit
def wave_kernel(x, out):
    """Multiplies by a float32 of it."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = math.sin(np.float32(math.pi) * x[i])


correct(
    wave_kernel, lambda: (reals(N), blank(N)), lambda x, out: np.sin(np.pi * x.astype(np.float64))
)
bug(
    wave_kernel,
    "wave_math_pi",
    "float64",
    """
Multiplies by math.pi, a float64.
-        out[i] = math.sin(np.float32(math.pi) * x[i])
+        out[i] = math.sin(math.pi * x[i])  # BUG
""",
)


@cuda.jit
def ramp_kernel(step, out):
    """Turns it into a float32."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = np.float32(i) * step[0]


correct(ramp_kernel, lambda: (reals(1), blank(N)), lambda step, out: np.arange(N) * step[0])
bug(
    ramp_kernel,
    "ramp_float_index",
    "float64",
    """
Turns the index into a Python float, which is a float64.
-        out[i] = np.float32(i) * step[0]
+        out[i] = float(i) * step[0]  # BUG
""",
)
