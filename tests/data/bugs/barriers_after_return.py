"""Barriers that threads cannot reach because they have returned."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, reals

TILE = 8
N = BLOCK - 14


@cuda.jit
def reverse_kernel(x, out):
    """Lets them wait with the others."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    n = x.shape[0]
    if tid < n:
        tile[tid] = x[tid]
    cuda.syncthreads()
    if tid < n:
        out[tid] = tile[n - 1 - tid]


correct(reverse_kernel, lambda: (reals(N), blank(N)), lambda x, out: x[::-1])
bug(
    reverse_kernel,
    "reverse_early_return",
    "barrier-after-return",
    """
Sends the surplus threads home before the barrier.
-    if tid < n:
-        tile[tid] = x[tid]
+    if tid >= n:
+        return
+    tile[tid] = x[tid]
     cuda.syncthreads()  # BUG
-    if tid < n:
-        out[tid] = tile[n - 1 - tid]
+    out[tid] = tile[n - 1 - tid]
""",
)


@cuda.jit
def column_means_kernel(a, out):
    """Guards the load and the sum."""
    tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if ty < a.shape[0] and tx < a.shape[1]:
        tile[ty, tx] = a[ty, tx]
    cuda.syncthreads()
    if ty == 0 and tx < a.shape[1]:
        acc = np.float32(0)
        for k in range(a.shape[0]):
            acc += tile[k, tx]
        out[tx] = acc


correct(
    column_means_kernel,
    lambda: (reals(6, 7), blank(7)),
    lambda a, out: a.sum(0),
    Launch(1, (TILE, TILE)),
)
bug(
    column_means_kernel,
    "column_means_early_return",
    "barrier-after-return",
    """
Sends the threads outside the matrix home, and the others wait in a loop.
-    if ty < a.shape[0] and tx < a.shape[1]:
-        tile[ty, tx] = a[ty, tx]
+    if ty >= a.shape[0] or tx >= a.shape[1]:
+        return
+    tile[ty, tx] = a[ty, tx]
     cuda.syncthreads()  # BUG
-    if ty == 0 and tx < a.shape[1]:
+    if ty == 0:
""",
)


@cuda.jit
def sum_kernel(x, out):
    """Keeps them to the end."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        out[0] = tile[0]


correct(sum_kernel, lambda: (reals(BLOCK), blank(1)), lambda x, out: [x.sum()])
bug(
    sum_kernel,
    "sum_return_when_idle",
    "barrier-after-return",
    """
Sends half of the threads home at each level of the tree.
-        if tid < half:
-            tile[tid] += tile[tid + half]
+        if tid >= half:
+            return
+        tile[tid] += tile[tid + half]
         cuda.syncthreads()  # BUG
         half //= 2
-    if tid == 0:
-        out[0] = tile[0]
+    out[0] = tile[0]
""",
)


@cuda.jit
def choose_masked_kernel(keep, x, out):
    """Chooses the value after the exchange."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    out[tid] = tile[tid ^ 1] if keep[tid] != 0 else np.float32(0)


correct(
    choose_masked_kernel,
    lambda: (np.arange(BLOCK, dtype=np.int32) % 3, reals(BLOCK), blank(BLOCK)),
    lambda keep, x, out: np.where(keep, x.reshape(-1, 2)[:, ::-1].ravel(), 0),
)
bug(
    choose_masked_kernel,
    "skip_masked",
    "barrier-after-return",
    """
Returns for elements that are switched off, before the block exchanges.
+    if keep[tid] == 0:
+        out[tid] = np.float32(0)
+        return
     cuda.syncthreads()  # BUG
-    out[tid] = tile[tid ^ 1] if keep[tid] != 0 else np.float32(0)
+    out[tid] = tile[tid ^ 1]
""",
)
