"""Reads of a thread's own local array before anything is written there."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, counts, reals

DIGITS = 4


@cuda.jit
def digits_kernel(x, out):
    """Sets it to zero first."""
    seen = cuda.local.array(DIGITS, np.int32)
    i = cuda.grid(1)
    for k in range(DIGITS):
        seen[k] = 0
    rest = x[i]
    while rest > 0:
        seen[rest % DIGITS] += 1
        rest //= DIGITS
    out[i] = seen[1]


correct(
    digits_kernel,
    lambda: (counts(BLOCK, 200), np.full(BLOCK, -1, np.int32)),
    lambda x, out: [np.base_repr(v, DIGITS).count("1") for v in x],
)
bug(
    digits_kernel,
    "digits_unzeroed",
    "uninitialised-local",
    """
Counts the digits of a number in an array that is not set to zero.
-    for k in range(DIGITS):
-        seen[k] = 0
@@
         seen[rest % DIGITS] += 1  # BUG
""",
)


@cuda.jit
def window_kernel(x, out):
    """Fills all of it."""
    window = cuda.local.array(3, np.float32)
    i = cuda.grid(1)
    for k in range(3):
        window[k] = x[i + k]
    acc = np.float32(0)
    for k in range(3):
        acc += window[k]
    out[i] = acc


correct(
    window_kernel,
    lambda: (reals(BLOCK + 2), blank(BLOCK)),
    lambda x, out: np.convolve(x, np.ones(3), "valid"),
)
bug(
    window_kernel,
    "window_from_one",
    "uninitialised-local",
    """
Fills the window from 1 on and adds it up from 0 on.
-    for k in range(3):
+    for k in range(1, 3):
         window[k] = x[i + k]
@@
         acc += window[k]  # BUG
""",
)


@cuda.jit
def top_two_kernel(a, out):
    """Starts below every value."""
    best = cuda.local.array(2, np.float32)
    row = cuda.grid(1)
    best[0] = np.float32(-np.inf)
    best[1] = np.float32(-np.inf)
    for k in range(a.shape[1]):
        if a[row, k] > best[0]:
            best[1] = best[0]
            best[0] = a[row, k]
        elif a[row, k] > best[1]:
            best[1] = a[row, k]
    out[row] = best[1]


correct(
    top_two_kernel,
    lambda: (reals(32, 6), blank(32)),
    lambda a, out: np.sort(a, axis=1)[:, -2],
    Launch(1, 32),
)
bug(
    top_two_kernel,
    "top_two_unset",
    "uninitialised-local",
    """
Compares with the two best values before there are any.
-    best[0] = np.float32(-np.inf)
-    best[1] = np.float32(-np.inf)
     for k in range(a.shape[1]):
         if a[row, k] > best[0]:  # BUG
""",
)


@cuda.jit
def matmul_coarse_kernel(a, b, out):
    """Sets it to zero."""
    acc = cuda.local.array((2, 2), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for m in range(2):
        for n in range(2):
            acc[m, n] = np.float32(0)
    for k in range(a.shape[1]):
        for m in range(2):
            for n in range(2):
                acc[m, n] += a[2 * ty + m, k] * b[k, 2 * tx + n]
    for m in range(2):
        for n in range(2):
            out[2 * ty + m, 2 * tx + n] = acc[m, n]


correct(
    matmul_coarse_kernel,
    lambda: (reals(8, 5), reals(5, 16, seed=8), blank(8, 16)),
    lambda a, b, out: a @ b,
    Launch(1, (8, 4)),
)
bug(
    matmul_coarse_kernel,
    "matmul_coarse_unset",
    "uninitialised-local",
    """
Keeps a tile of sums for each thread and never sets it to zero.
-    for m in range(2):
-        for n in range(2):
-            acc[m, n] = np.float32(0)
@@
                 acc[m, n] += a[2 * ty + m, k] * b[k, 2 * tx + n]  # BUG
""",
)


@cuda.jit
def path_kernel(steps, out):
    """Reads the last place there is."""
    places = cuda.local.array(8, np.int32)
    i = cuda.grid(1)
    place = 0
    for k in range(steps[i]):
        place += k
        places[k] = place
    out[i] = places[steps[i] - 1]


correct(
    path_kernel,
    lambda: (np.int32(1) + counts(BLOCK, 7), np.full(BLOCK, -1, np.int32)),
    lambda steps, out: steps * (steps - 1) // 2,
)
bug(
    path_kernel,
    "path_unset",
    "uninitialised-local",
    """
Walks a number of steps and reads one place further.
-    out[i] = places[steps[i] - 1]
+    out[i] = places[steps[i]]  # BUG
""",
)
