"""Races in shared memory in searches: for the largest, for its place, for a match."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, blank, bug, correct, reals


@cuda.jit
def largest_kernel(x, out):
    """Lets the atomic do test and write in one."""
    best = cuda.shared.array(1, np.float32)
    tid = cuda.threadIdx.x
    if tid == 0:
        best[0] = x[0]
    cuda.syncthreads()
    cuda.atomic.max(best, 0, x[tid])
    cuda.syncthreads()
    if tid == 0:
        out[0] = best[0]


correct(
    largest_kernel, lambda: (np.arange(BLOCK, dtype=np.float32), blank(1)), lambda x, out: [x.max()]
)
bug(
    largest_kernel,
    "largest_without_tree",
    "shared-race",
    """
Lets all threads test and overwrite one cell: tests and writes of two threads mix.
-    cuda.atomic.max(best, 0, x[tid])
+    if x[tid] > best[0]:  # BUG
+        best[0] = x[tid]  # BUG
""",
)


@cuda.jit
def argmax_kernel(x, out):
    """Loads values and indices, then waits."""
    tile = cuda.shared.array(BLOCK, np.float32)
    ids = cuda.shared.array(BLOCK, np.int32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    ids[tid] = tid
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if tid < half and tile[tid + half] > tile[tid]:
            tile[tid] = tile[tid + half]
            ids[tid] = ids[tid + half]
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        out[0] = ids[0]


correct(
    argmax_kernel, lambda: (reals(BLOCK), np.full(1, -1, np.int32)), lambda x, out: [x.argmax()]
)
bug(
    argmax_kernel,
    "argmax_unsynced_ids",
    "shared-race",
    """
Guards the values with a barrier, and loads the indices after it.
+    cuda.syncthreads()
     ids[tid] = tid
-    cuda.syncthreads()
@@
             ids[tid] = ids[tid + half]  # BUG
""",
)


@cuda.jit
def search_kernel(x, wanted, out):
    """Keeps the smallest place."""
    place = cuda.shared.array(1, np.int32)
    tid = cuda.threadIdx.x
    if tid == 0:
        place[0] = BLOCK
    cuda.syncthreads()
    if x[tid] == wanted:
        cuda.atomic.min(place, 0, tid)
    cuda.syncthreads()
    if tid == 0:
        out[0] = place[0]


correct(
    search_kernel,
    lambda: (np.arange(BLOCK, dtype=np.int32) % 20, 3, np.full(1, -1, np.int32)),
    lambda x, wanted, out: [np.flatnonzero(x == wanted)[0]],
)
bug(
    search_kernel,
    "search_shared_flag",
    "shared-race",
    """
Stores the place of a match in one shared cell; with two matches, either may win.
-        cuda.atomic.min(place, 0, tid)
+        place[0] = tid  # BUG
""",
)
