"""Races in shared memory in which many threads update few cells: counters, bins, sorts."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, blank, bug, correct, reals, zeros
from tests.data.bugs.atomic_races_shared import histogram_kernel

TWO_BLOCKS = 2 * BLOCK
BINS = 8

bug(
    histogram_kernel,
    "histogram_plain",
    "shared-race",
    """
Counts with +=, and loses counts when two threads meet in a bin.
-    cuda.atomic.add(bins, x[tid], 1)
+    bins[x[tid]] += 1  # BUG
""",
)


@cuda.jit
def keep_positive_kernel(x, kept, how_many):
    """Counts the kept elements before each one, so all know their slots."""
    flags = cuda.shared.array(BLOCK, np.int32)
    tid = cuda.threadIdx.x
    flags[tid] = 1 if x[tid] > np.float32(0) else 0
    cuda.syncthreads()  # all flags are there
    slot = 0
    for k in range(tid):
        slot += flags[k]
    if flags[tid] == 1:
        kept[slot] = x[tid]
    if tid == BLOCK - 1:
        how_many[0] = slot + flags[tid]


def kept_positive(x, kept, how_many):
    found = x[x > 0]
    return np.append(found, kept[len(found) :]), np.array([len(found)])


correct(
    keep_positive_kernel,
    lambda: (reals(BLOCK), zeros(BLOCK), zeros(1, dtype=np.int32)),
    kept_positive,
)
bug(
    keep_positive_kernel,
    "keep_positive_plain",
    "shared-race",
    """
Takes the next free slot with a read and a write: two threads get the same one.
-    flags = cuda.shared.array(BLOCK, np.int32)
+    free = cuda.shared.array(1, np.int32)
     tid = cuda.threadIdx.x
-    flags[tid] = 1 if x[tid] > np.float32(0) else 0
+    if tid == 0:
+        free[0] = 0
     cuda.syncthreads()  # all flags are there
-    slot = 0
-    for k in range(tid):
-        slot += flags[k]
-    if flags[tid] == 1:
+    if x[tid] > np.float32(0):
+        slot = free[0]
+        free[0] = slot + 1  # BUG
         kept[slot] = x[tid]
-    if tid == BLOCK - 1:
-        how_many[0] = slot + flags[tid]
+    cuda.syncthreads()
+    if tid == 0:
+        how_many[0] = free[0]
""",
)


@cuda.jit
def sort_kernel(x):
    """Waits after each turn."""
    tile = cuda.shared.array(TWO_BLOCKS, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    tile[tid + BLOCK] = x[tid + BLOCK]
    cuda.syncthreads()
    for turn in range(2 * BLOCK):
        k = 2 * tid + turn % 2
        if k + 1 < 2 * BLOCK and tile[k] > tile[k + 1]:
            low = tile[k + 1]
            tile[k + 1] = tile[k]
            tile[k] = low
        cuda.syncthreads()  # the turn is over
    x[tid] = tile[tid]
    x[tid + BLOCK] = tile[tid + BLOCK]


correct(sort_kernel, lambda: (reals(2 * BLOCK),), lambda x: np.sort(x))
bug(
    sort_kernel,
    "sort_unsynced",
    "shared-race",
    """
Sorts neighbours in odd and even turns, without waiting between the turns.
         if k + 1 < 2 * BLOCK and tile[k] > tile[k + 1]:  # BUG
             low = tile[k + 1]  # BUG
             tile[k + 1] = tile[k]  # BUG
             tile[k] = low  # BUG
-        cuda.syncthreads()  # the turn is over
+    cuda.syncthreads()
""",
)


@cuda.jit
def softmax_two_cells_kernel(x, out):
    """Keeps the sum in a cell of its own."""
    cell = cuda.shared.array(2, np.float32)
    terms = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    if tid == 0:
        top = x[0]
        for k in range(1, BLOCK):
            top = max(top, x[k])
        cell[0] = top
    cuda.syncthreads()
    terms[tid] = x[tid] - cell[0]
    if tid == 0:
        acc = np.float32(0)
        for k in range(BLOCK):
            acc += x[k] - cell[0]
        cell[1] = acc
    cuda.syncthreads()
    out[tid] = terms[tid] / cell[1]


correct(
    softmax_two_cells_kernel,
    lambda: (reals(BLOCK), blank(BLOCK)),
    lambda x, out: (x - x.max()) / (x - x.max()).sum(),
)
bug(
    softmax_two_cells_kernel,
    "softmax_reused_cell",
    "shared-race",
    """
Overwrites the maximum by the sum while other threads still subtract the maximum.
-    cell = cuda.shared.array(2, np.float32)
+    cell = cuda.shared.array(1, np.float32)
@@
     terms[tid] = x[tid] - cell[0]  # BUG
@@
-        cell[1] = acc
+        cell[0] = acc  # BUG
     cuda.syncthreads()
-    out[tid] = terms[tid] / cell[1]
+    out[tid] = terms[tid] / cell[0]
""",
)


@cuda.jit
def swap_halves_kernel(x):
    """Lets one thread of each pair swap."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    if tid < BLOCK // 2:
        mine = tile[tid]
        tile[tid] = tile[tid + BLOCK // 2]
        tile[tid + BLOCK // 2] = mine
    cuda.syncthreads()
    x[tid] = tile[tid]


correct(swap_halves_kernel, lambda: (reals(BLOCK),), lambda x: np.roll(x, BLOCK // 2))
bug(
    swap_halves_kernel,
    "swap_pairs",
    "shared-race",
    """
Swaps halves in place: both threads of a pair read and write both elements.
-    if tid < BLOCK // 2:
-        mine = tile[tid]
-        tile[tid] = tile[tid + BLOCK // 2]
-        tile[tid + BLOCK // 2] = mine
+    other = (tid + BLOCK // 2) % BLOCK
+    mine = tile[tid]  # BUG
+    tile[other] = mine  # BUG
""",
)
