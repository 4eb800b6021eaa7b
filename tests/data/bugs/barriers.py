"""Barriers that some of the running threads do not reach: on a GPU this hangs, or worse."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, counts, reals

TILE = 8
N = BLOCK - 14
BUG = "barrier-divergence"


@cuda.jit
def reverse_kernel(x, out):
    """Guards the load and the store, and not the barrier."""
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
    "reverse_guarded_barrier",
    BUG,
    """
Puts the barrier behind the guard with the load.
-    cuda.syncthreads()
-    if tid < n:
+        cuda.syncthreads()  # BUG
""",
)
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
def sum_kernel(x, out):
    """Lets all threads of the block wait at each level."""
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
    "sum_barrier_of_adders",
    BUG,
    """
Lets only the threads that still add wait for each other.
-        cuda.syncthreads()
+            cuda.syncthreads()  # BUG
""",
)
bug(
    sum_kernel,
    "sum_barrier_of_idle",
    BUG,
    """
Lets the adders leave the loop's barrier out with `continue`.
-    half = BLOCK // 2
-    while half > 0:
-        if tid < half:
-            tile[tid] += tile[tid + half]
+    half = BLOCK
+    while half > 1:
+        half //= 2
+        if tid >= half:
+            continue
+        tile[tid] += tile[tid + half]
         cuda.syncthreads()  # BUG
-        half //= 2
""",
)
bug(
    sum_kernel,
    "sum_barrier_until_idle",
    BUG,
    """
Lets idle threads leave the loop, so they no longer come to its barrier.
-        if tid < half:
-            tile[tid] += tile[tid + half]
+        if tid >= half:
+            break
+        tile[tid] += tile[tid + half]
         cuda.syncthreads()  # BUG
""",
)
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
def two_roles_joined_kernel(x, out):
    """Closes the branches before the one barrier that all share."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    if tid < BLOCK // 2:
        tile[tid] = x[tid]
    else:
        tile[tid] = -x[tid]
    cuda.syncthreads()
    out[tid] = tile[(tid + BLOCK // 2) % BLOCK]


correct(
    two_roles_joined_kernel,
    lambda: (reals(BLOCK), blank(BLOCK)),
    lambda x, out: np.r_[-x[BLOCK // 2 :], x[: BLOCK // 2]],
)
bug(
    two_roles_joined_kernel,
    "two_roles",
    BUG,
    """
Gives the two halves of the block a barrier each, in two branches.
+        cuda.syncthreads()  # BUG
+        out[tid] = tile[tid + BLOCK // 2]
     else:
@@
-    cuda.syncthreads()
-    out[tid] = tile[(tid + BLOCK // 2) % BLOCK]
+        cuda.syncthreads()  # BUG
+        out[tid] = tile[tid - BLOCK // 2]
""",
)


@cuda.jit
def rounds_of_all_kernel(rounds, out):
    """Goes round as often as the longest needs, and lets the others do nothing."""
    tid = cuda.threadIdx.x
    done = 0
    for k in range(5):
        if k < rounds[tid]:
            done += 2
        cuda.syncthreads()
    out[tid] = done


correct(
    rounds_of_all_kernel,
    lambda: (counts(BLOCK, 6), np.full(BLOCK, -1, np.int32)),
    lambda rounds, out: 2 * rounds,
)
bug(
    rounds_of_all_kernel,
    "rounds_of_their_own",
    BUG,
    """
Lets each thread go round as often as its own number says, with a barrier each time.
-    for k in range(5):
-        if k < rounds[tid]:
-            done += 2
+    for _ in range(rounds[tid]):
+        done += 2
         cuda.syncthreads()  # BUG
""",
)


@cuda.jit
def block_strided_tiles_kernel(x, out):
    """Loops over the block's first index, which is the same for all threads."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    for first in range(0, x.shape[0], BLOCK):
        i = first + tid
        if i < x.shape[0]:
            tile[tid] = x[i]
        cuda.syncthreads()
        if i < x.shape[0]:
            out[i] = tile[tid] + tile[tid ^ 1]
        cuda.syncthreads()


correct(
    block_strided_tiles_kernel,
    lambda: (reals(BLOCK + N), blank(BLOCK + N)),
    lambda x, out: np.repeat(x.reshape(-1, 2).sum(1), 2),
)
bug(
    block_strided_tiles_kernel,
    "strided_tiles",
    BUG,
    """
Has a barrier in a loop from the thread's own index: the last round is not for all.
-    for first in range(0, x.shape[0], BLOCK):
-        i = first + tid
-        if i < x.shape[0]:
-            tile[tid] = x[i]
+    for i in range(tid, x.shape[0], BLOCK):
+        tile[tid] = x[i]
         cuda.syncthreads()  # BUG
-        if i < x.shape[0]:
-            out[i] = tile[tid] + tile[tid ^ 1]
+        out[i] = tile[tid] + tile[tid ^ 1]
""",
)

# --- Threads that have returned ---------------------------------------------------------------


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
