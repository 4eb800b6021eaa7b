"""Several threads write the same value to one element: it comes out right, and it is a race."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, reals, zeros

HALF = 32
N = 2 * HALF
TWO = Launch(2, HALF)


@cuda.jit
def any_negative_atomic_kernel(x, found):
    """Sets the flag with an atomic."""
    i = cuda.grid(1)
    if x[i] < np.float32(0):
        cuda.atomic.max(found, 0, 1)


correct(
    any_negative_atomic_kernel,
    lambda: (reals(N), zeros(1, dtype=np.int32)),
    lambda x, found: [1],
    TWO,
)
bug(
    any_negative_atomic_kernel,
    "any_negative",
    "same-value-race",
    """
Lets every thread that finds a negative element set the flag.
-        cuda.atomic.max(found, 0, 1)
+        found[0] = 1  # BUG
""",
)


@cuda.jit
def write_size_once_kernel(x, out, size):
    """Lets the first thread store it."""
    i = cuda.grid(1)
    out[i] = -x[i]
    if i == 0:
        size[0] = x.shape[0]


correct(
    write_size_once_kernel,
    lambda: (reals(N), blank(N), zeros(1, dtype=np.int32)),
    lambda x, out, size: (-x, [N]),
    TWO,
)
bug(
    write_size_once_kernel,
    "write_size",
    "same-value-race",
    """
Lets all threads store the size.
-    if i == 0:
-        size[0] = x.shape[0]
+    size[0] = x.shape[0]  # BUG
""",
)


@cuda.jit
def factor_by_one_kernel(x, factor, out):
    """Lets thread 0 copy it."""
    own = cuda.shared.array(1, np.float32)
    tid = cuda.threadIdx.x
    if tid == 0:
        own[0] = factor[0]
    cuda.syncthreads()
    out[tid] = x[tid] * own[0]


correct(
    factor_by_one_kernel,
    lambda: (reals(BLOCK), reals(1, seed=8), blank(BLOCK)),
    lambda x, factor, out: x * factor[0],
)
bug(
    factor_by_one_kernel,
    "factor_by_all",
    "same-value-race",
    """
Lets all threads of the block copy the factor to shared memory.
-    if tid == 0:
-        own[0] = factor[0]
+    own[0] = factor[0]  # BUG
""",
)


@cuda.jit
def clear_by_owner_kernel(x, hist):
    """Gives each bin to one thread."""
    bins = cuda.shared.array(4, np.int32)
    tid = cuda.threadIdx.x
    if tid < 4:
        bins[tid] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, tid % 4, x[tid])
    cuda.syncthreads()
    if tid < 4:
        hist[tid] = bins[tid]


correct(
    clear_by_owner_kernel,
    lambda: (np.arange(BLOCK, dtype=np.int32), zeros(4, dtype=np.int32)),
    lambda x, hist: x.reshape(-1, 4).sum(0),
)
bug(
    clear_by_owner_kernel,
    "clear_by_all",
    "same-value-race",
    """
Lets every thread set all the bins to zero.
-    if tid < 4:
-        bins[tid] = 0
+    for b in range(4):
+        bins[b] = 0  # BUG
""",
)


@cuda.jit
def store_total_by_one_kernel(x, out):
    """Lets thread 0 store it."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    if tid == 0:
        acc = np.float32(0)
        for k in range(BLOCK):
            acc += tile[k]
        out[0] = acc


correct(store_total_by_one_kernel, lambda: (reals(BLOCK), blank(1)), lambda x, out: [x.sum()])
bug(
    store_total_by_one_kernel,
    "store_total_by_all",
    "same-value-race",
    """
Lets every thread of the block store the block's result.
-    if tid == 0:
-        acc = np.float32(0)
-        for k in range(BLOCK):
-            acc += tile[k]
-        out[0] = acc
+    acc = np.float32(0)
+    for k in range(BLOCK):
+        acc += tile[k]
+    out[0] = acc  # BUG
""",
)


@cuda.jit
def fill_kernel(value, out):
    """Leaves them idle."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = value


correct(
    fill_kernel,
    lambda: (np.float32(3), blank(N - 10)),
    lambda value, out: np.full(N - 10, value),
    TWO,
)
bug(
    fill_kernel,
    "fill_wrapped",
    "same-value-race",
    """
Wraps indices past the end around instead of leaving those threads idle.
-    if i < out.shape[0]:
-        out[i] = value
+    out[i % out.shape[0]] = value  # BUG
""",
)
