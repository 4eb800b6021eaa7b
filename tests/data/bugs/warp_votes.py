"""Votes and matches with the wrong mask, and shuffles from lanes that take no part."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import Launch, blank, bug, correct, counts, reals
from tests.data.bugs.warp_masks import sum_half_mask_kernel

WARP = 32
FULL = 0xFFFFFFFF
LOWER = 0x0000FFFF
N = 20
ONE = Launch(1, WARP)


@cuda.jit
def all_positive_kernel(x, out):
    """Lets lanes past the end vote yes."""
    lane = cuda.threadIdx.x
    good = cuda.all_sync(FULL, lane >= x.shape[0] or x[lane] > np.float32(0))
    if lane == 0:
        out[0] = 1 if good else 0


correct(
    all_positive_kernel,
    lambda: (np.abs(reals(N)), np.full(1, -1, np.int32)),
    lambda x, out: [1],
    ONE,
)
bug(
    all_positive_kernel,
    "all_positive_guarded",
    "warp-mask",
    """
Votes behind the guard of the array's end, with a mask of the whole warp.
-    good = cuda.all_sync(FULL, lane >= x.shape[0] or x[lane] > np.float32(0))
-    if lane == 0:
-        out[0] = 1 if good else 0
+    if lane < x.shape[0]:
+        good = cuda.all_sync(FULL, x[lane] > np.float32(0))  # BUG
+        if lane == 0:
+            out[0] = 1 if good else 0
""",
)


@cuda.jit
def count_before_branch_kernel(x, out):
    """Counts with all lanes, before they part."""
    lane = cuda.threadIdx.x
    odd = cuda.popc(cuda.ballot_sync(FULL, x[lane] % 2 != 0))
    out[lane] = odd if x[lane] % 2 != 0 else 0


correct(
    count_before_branch_kernel,
    lambda: (counts(WARP, 9), np.full(WARP, -1, np.int32)),
    lambda x, out: np.where(x % 2, (x % 2).sum(), 0),
    ONE,
)
bug(
    count_before_branch_kernel,
    "count_in_else",
    "warp-mask",
    """
Counts the odd elements with a ballot in the branch of the odd ones.
-    odd = cuda.popc(cuda.ballot_sync(FULL, x[lane] % 2 != 0))
-    out[lane] = odd if x[lane] % 2 != 0 else 0
+    if x[lane] % 2 == 0:
+        out[lane] = 0
+    else:
+        out[lane] = cuda.popc(cuda.ballot_sync(FULL, True))  # BUG
""",
)


@cuda.jit
def group_kernel(x, out):
    """Looks with all lanes and stores behind the guard."""
    lane = cuda.threadIdx.x
    same = cuda.match_any_sync(FULL, x[lane])
    out[lane] = cuda.popc(same) if x[lane] > 0 else 0


correct(
    group_kernel,
    lambda: (counts(WARP, 5), np.zeros(WARP, np.int32)),
    lambda x, out: np.where(x > 0, np.bincount(x)[x], 0),
    ONE,
)
bug(
    group_kernel,
    "group_in_branch",
    "warp-mask",
    """
Looks for lanes with the same key behind a guard that some lanes do not pass.
-    same = cuda.match_any_sync(FULL, x[lane])
-    out[lane] = cuda.popc(same) if x[lane] > 0 else 0
+    if x[lane] > 0:
+        same = cuda.match_any_sync(FULL, x[lane])  # BUG
+        out[lane] = cuda.popc(same)
""",
)


@cuda.jit
def any_of_all_kernel(a, out):
    """Votes with all lanes."""
    lane = cuda.threadIdx.x
    for row in range(a.shape[0]):
        large = cuda.any_sync(FULL, a[row, lane] > np.float32(1))
        out[row, lane] = np.float32(1) if large and a[row, lane] >= 0 else np.float32(0)


correct(
    any_of_all_kernel,
    lambda: (reals(3, WARP), np.zeros((3, WARP), np.float32)),
    lambda a, out: (a >= 0) & (a > 1).any(1)[:, None],
    ONE,
)
bug(
    any_of_all_kernel,
    "any_after_continue",
    "warp-mask",
    """
Votes after some lanes have gone on to the next row.
-        large = cuda.any_sync(FULL, a[row, lane] > np.float32(1))
-        out[row, lane] = np.float32(1) if large and a[row, lane] >= 0 else np.float32(0)
+        if a[row, lane] < np.float32(0):
+            continue
+        if cuda.any_sync(FULL, a[row, lane] > np.float32(1)):  # BUG
+            out[row, lane] = np.float32(1)
""",
)


@cuda.jit
def rank_kernel(x, out):
    """Votes with all lanes and then keeps the bits before the caller."""
    lane = cuda.threadIdx.x
    found = cuda.ballot_sync(FULL, x[lane] > 0)
    out[lane] = cuda.popc(found & ((1 << lane) - 1))


correct(
    rank_kernel,
    lambda: (counts(WARP, 3), np.full(WARP, -1, np.int32)),
    lambda x, out: np.cumsum(x > 0) - (x > 0),
    ONE,
)
bug(
    rank_kernel,
    "uniform_own_mask",
    "warp-mask",
    """
Votes with a mask of the lanes before the caller, which leaves the caller out.
-    found = cuda.ballot_sync(FULL, x[lane] > 0)
-    out[lane] = cuda.popc(found & ((1 << lane) - 1))
+    mask = (1 << lane) - 1
+    out[lane] = cuda.popc(cuda.ballot_sync(mask, x[lane] > 0))  # BUG
""",
)

# --- Shuffles from lanes that take no part ---------------------------------------------------

bug(
    sum_half_mask_kernel,
    "sum_tree_over_half",
    "shuffle-source",
    """
Adds with half a warp and the offsets of a whole one: it reads from lanes outside.
-        for offset in (8, 4, 2, 1):
-            acc += cuda.shfl_xor_sync(LOWER, acc, offset)
+        for offset in (16, 8, 4, 2, 1):
+            acc += cuda.shfl_down_sync(LOWER, acc, offset)  # BUG
""",
)


@cuda.jit
def last_thread_of_block_kernel(x, out):
    """Broadcasts from the last lane there is."""
    tid = cuda.threadIdx.x
    out[tid] = x[tid] - cuda.shfl_sync(FULL, x[tid], cuda.blockDim.x - 1)


correct(
    last_thread_of_block_kernel,
    lambda: (reals(N), blank(N)),
    lambda x, out: x - x[-1],
    Launch(1, N),
)
bug(
    last_thread_of_block_kernel,
    "last_lane_of_short_block",
    "shuffle-source",
    """
Broadcasts from lane 31 in a block of 20 threads.
-    out[tid] = x[tid] - cuda.shfl_sync(FULL, x[tid], cuda.blockDim.x - 1)
+    out[tid] = x[tid] - cuda.shfl_sync(FULL, x[tid], 31)  # BUG
""",
)


@cuda.jit
def leader_in_branch_kernel(x, out):
    """Broadcasts from the first lane of the branch."""
    lane = cuda.threadIdx.x
    odd = cuda.ballot_sync(FULL, x[lane] % 2 == 1)
    if x[lane] % 2 == 1:
        out[lane] = cuda.shfl_sync(odd, x[lane], cuda.ffs(odd) - 1)
    else:
        out[lane] = 0


correct(
    leader_in_branch_kernel,
    lambda: (np.arange(WARP, dtype=np.int32), np.zeros(WARP, np.int32)),
    lambda x, out: np.where(x % 2, 1, 0),
    ONE,
)
bug(
    leader_in_branch_kernel,
    "leader_not_in_branch",
    "shuffle-source",
    """
Broadcasts from lane 0 among the lanes with odd values; lane 0 has an even one.
-        out[lane] = cuda.shfl_sync(odd, x[lane], cuda.ffs(odd) - 1)
-    else:
-        out[lane] = 0
+        out[lane] = cuda.shfl_sync(odd, x[lane], 0)  # BUG
""",
)


@cuda.jit
def difference_kernel(x, out):
    """Keeps all lanes, and lets the last element have no right neighbour."""
    lane = cuda.threadIdx.x
    mine = x[lane] if lane < x.shape[0] else np.float32(0)
    right = cuda.shfl_down_sync(FULL, mine, 1)
    if lane < x.shape[0]:
        out[lane] = right - mine


correct(
    difference_kernel,
    lambda: (reals(N), blank(N)),
    lambda x, out: np.diff(x, append=np.float32(0)),
    ONE,
)
bug(
    difference_kernel,
    "difference_after_return",
    "shuffle-source",
    """
Sends lanes home and then reads from the first of them.
-    mine = x[lane] if lane < x.shape[0] else np.float32(0)
-    right = cuda.shfl_down_sync(FULL, mine, 1)
-    if lane < x.shape[0]:
-        out[lane] = right - mine
+    if lane >= x.shape[0]:
+        return
+    right = cuda.shfl_down_sync(FULL, x[lane], 1)  # BUG
+    out[lane] = right - x[lane]
""",
)
