"""Divergent barriers where they hide: in helpers, in conditions, in long branches."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, reals

TILE = 8
N = BLOCK - 14
BUG = "barrier-divergence"


@cuda.jit(device=True)
def add_up(tile, tid):
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        cuda.syncthreads()
        half //= 2


@cuda.jit
def sum_helper_kernel(x, out):
    """Calls the helper with all threads."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid] if tid < x.shape[0] else np.float32(0)
    cuda.syncthreads()
    add_up(tile, tid)
    if tid == 0:
        out[0] = tile[0]


correct(sum_helper_kernel, lambda: (reals(N), blank(1)), lambda x, out: [x.sum()], parts=(add_up,))
bug(
    sum_helper_kernel,
    "sum_helper_behind_guard",
    BUG,
    """
Calls a helper behind a guard; the barrier is in the helper.
         cuda.syncthreads()  # BUG
@@
-    add_up(tile, tid)
+    if tid < x.shape[0]:
+        add_up(tile, tid)  # BUG
""",
)


@cuda.jit
def any_negative_kernel(x, out):
    """Asks with all threads, and lets one store the answer."""
    tid = cuda.threadIdx.x
    found = cuda.syncthreads_or(x[tid] < np.float32(0))
    if tid == 0:
        out[0] = 1 if found else 0


correct(any_negative_kernel, lambda: (reals(BLOCK), np.full(1, -1, np.int32)), lambda x, out: [1])
bug(
    any_negative_kernel,
    "any_negative_short_circuit",
    BUG,
    """
Asks the block in the second half of an `and`, which most threads never reach.
-    found = cuda.syncthreads_or(x[tid] < np.float32(0))
-    if tid == 0:
-        out[0] = 1 if found else 0
+    if tid == 0 and cuda.syncthreads_or(x[tid] < np.float32(0)):  # BUG
+        out[0] = 1
""",
)


@cuda.jit
def count_kernel(x, out):
    """Lets threads without an element count zero."""
    tid = cuda.threadIdx.x
    inside = tid < x.shape[0]
    found = cuda.syncthreads_count(inside and x[tid] > np.float32(0))
    if inside:
        out[tid] = found


correct(
    count_kernel,
    lambda: (reals(N), np.full(N, -1, np.int32)),
    lambda x, out: np.full(N, (x > 0).sum()),
)
bug(
    count_kernel,
    "count_behind_guard",
    BUG,
    """
Counts with syncthreads_count behind the guard.
-    inside = tid < x.shape[0]
-    found = cuda.syncthreads_count(inside and x[tid] > np.float32(0))
-    if inside:
+    if tid < x.shape[0]:
+        found = cuda.syncthreads_count(x[tid] > np.float32(0))  # BUG
""",
)


@cuda.jit
def relax_until_all_still_kernel(x):
    """Lets the block decide together when to stop."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    moving = True
    while moving:
        change = -np.float32(0.5) * tile[tid]
        tile[tid] += change
        moving = cuda.syncthreads_or(abs(change) > np.float32(0.01)) != 0
    x[tid] = tile[tid]


def relaxed(x):
    moving = True
    while moving:
        moving = bool((abs(0.5 * x) > np.float32(0.01)).any())
        x = np.float32(0.5) * x
    return x


correct(relax_until_all_still_kernel, lambda: (reals(BLOCK),), relaxed)
bug(
    relax_until_all_still_kernel,
    "relax_until_still",
    BUG,
    """
Lets each thread stop when its own element no longer changes.
-    moving = True
-    while moving:
+    cuda.syncthreads()
+    change = np.float32(1)
+    while abs(change) > np.float32(0.01):
@@
-        moving = cuda.syncthreads_or(abs(change) > np.float32(0.01)) != 0
+        cuda.syncthreads()  # BUG
""",
)


@cuda.jit
def first_warp_joined_kernel(x, out):
    """Joins the first warp with syncwarp."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    if tid < 32:
        tile[tid] += tile[tid + 32]
        cuda.syncwarp()
        out[tid] = tile[tid] + tile[31 - tid]


correct(
    first_warp_joined_kernel,
    lambda: (reals(BLOCK), blank(32)),
    lambda x, out: (x[:32] + x[32:]) + (x[:32] + x[32:])[::-1],
)
bug(
    first_warp_joined_kernel,
    "first_warp_barrier",
    BUG,
    """
Joins the first warp with the barrier of the whole block.
-        cuda.syncwarp()
+        cuda.syncthreads()  # BUG
""",
)


@cuda.jit
def matmul_guarded_loads_kernel(a, b, out):
    """Guards the loads and the store."""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = np.float32(0)
    for t in range(a.shape[1] // TILE):
        a_tile[ty, tx] = a[ty, t * TILE + tx] if ty < a.shape[0] else np.float32(0)
        b_tile[ty, tx] = b[t * TILE + ty, tx] if tx < b.shape[1] else np.float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()
    if ty < out.shape[0] and tx < out.shape[1]:
        out[ty, tx] = acc


correct(
    matmul_guarded_loads_kernel,
    lambda: (reals(5, 2 * TILE), reals(2 * TILE, 7, seed=8), blank(5, 7)),
    lambda a, b, out: a @ b,
    Launch(1, (TILE, TILE)),
)
bug(
    matmul_guarded_loads_kernel,
    "matmul_guarded_loop",
    BUG,
    """
Guards the whole tile loop, with the barriers in it.
-    acc = np.float32(0)
-    for t in range(a.shape[1] // TILE):
-        a_tile[ty, tx] = a[ty, t * TILE + tx] if ty < a.shape[0] else np.float32(0)
-        b_tile[ty, tx] = b[t * TILE + ty, tx] if tx < b.shape[1] else np.float32(0)
-        cuda.syncthreads()
-        for k in range(TILE):
-            acc += a_tile[ty, k] * b_tile[k, tx]
-        cuda.syncthreads()
     if ty < out.shape[0] and tx < out.shape[1]:
+        acc = np.float32(0)
+        for t in range(a.shape[1] // TILE):
+            a_tile[ty, tx] = a[ty, t * TILE + tx]
+            b_tile[ty, tx] = b[t * TILE + ty, tx]
+            cuda.syncthreads()  # BUG
+            for k in range(TILE):
+                acc += a_tile[ty, k] * b_tile[k, tx]
+            cuda.syncthreads()
""",
)
