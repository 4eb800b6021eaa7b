"""Device functions that return memory of their own, which is gone by then."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, reals

N = BLOCK - 14
PAIR = np.dtype([("re", np.float32), ("im", np.float32)])


@cuda.jit(device=True)
def product_into(made, x, y):
    made[0] = x * y
    made[1] = x + y


@cuda.jit
def product_and_sum_own_kernel(x, out):
    """Makes the array that the device function fills."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        both = cuda.local.array(2, np.float32)
        product_into(both, x[i], np.float32(2))
        out[i] = both[0] + both[1]


correct(
    product_and_sum_own_kernel,
    lambda: (reals(N), blank(N)),
    lambda x, out: 3 * x + 2,
    Launch(1, BLOCK),
    parts=(product_into,),
)
bug(
    product_and_sum_own_kernel,
    "product_and_sum",
    "returned-local",
    """
Uses the local array of a device function after the call.
-def product_into(made, x, y):
+def product(x, y):
+    made = cuda.local.array(2, np.float32)
@@
+    return made  # BUG
 @cuda.jit
@@
-        both = cuda.local.array(2, np.float32)
-        product_into(both, x[i], np.float32(2))
+        both = product(x[i], np.float32(2))
""",
)


@cuda.jit(device=True)
def square_parts(x, y):
    return x * x - y * y, np.float32(2) * x * y


@cuda.jit
def complex_square_parts_kernel(x, out):
    """Gets the two numbers."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        re, im = square_parts(x[i], np.float32(3))
        out[i] = re + im


correct(
    complex_square_parts_kernel,
    lambda: (reals(N), blank(N)),
    lambda x, out: x * x - 9 + 6 * x,
    Launch(1, BLOCK),
    parts=(square_parts,),
)
bug(
    complex_square_parts_kernel,
    "complex_square",
    "returned-local",
    """
Gets a record that lies in the local array of a device function.
-def square_parts(x, y):
-    return x * x - y * y, np.float32(2) * x * y
+def square(x, y):
+    z = cuda.local.array(1, PAIR)[0]
+    z.re = x * x - y * y
+    z.im = np.float32(2) * x * y
+    return z  # BUG
@@
-        re, im = square_parts(x[i], np.float32(3))
-        out[i] = re + im
+        z = square(x[i], np.float32(3))
+        out[i] = z.re + z.im
""",
)
