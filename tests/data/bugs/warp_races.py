"""Races inside one warp: lanes that exchange through memory have to say so with syncwarp."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import Launch, blank, bug, correct, counts, reals, zeros

WARP = 32
TWO_WARPS = 2 * WARP
BINS = 8
ONE = Launch(1, WARP)


@cuda.jit
def sum_warp_kernel(x, out):
    """Joins the lanes at each level."""
    tile = cuda.shared.array(WARP, np.float32)
    lane = cuda.threadIdx.x
    tile[lane] = x[lane]
    cuda.syncwarp()
    half = WARP // 2
    while half > 0:
        if lane < half:
            tile[lane] += tile[lane + half]
        cuda.syncwarp()  # this level is done
        half //= 2
    if lane == 0:
        out[0] = tile[0]


correct(sum_warp_kernel, lambda: (reals(WARP), blank(1)), lambda x, out: [x.sum()], ONE)
bug(
    sum_warp_kernel,
    "sum_warp_synchronous",
    "warp-race",
    """
Adds up within a warp as if its lanes always ran in step.
             tile[lane] += tile[lane + half]  # BUG
-        cuda.syncwarp()  # this level is done
""",
)


@cuda.jit
def reverse_kernel(x, out):
    """Joins the lanes between writing and reading."""
    tile = cuda.shared.array(WARP, np.float32)
    lane = cuda.threadIdx.x
    tile[lane] = x[lane]
    cuda.syncwarp()
    out[lane] = tile[WARP - 1 - lane]


correct(reverse_kernel, lambda: (reals(WARP), blank(WARP)), lambda x, out: x[::-1], ONE)
bug(
    reverse_kernel,
    "reverse_one_warp",
    "warp-race",
    """
Leaves the barrier out because the block is a single warp.
-    cuda.syncwarp()
     out[lane] = tile[WARP - 1 - lane]  # BUG
""",
)


@cuda.jit
def scan_warp_kernel(x, out):
    """Joins the lanes between reading and writing too."""
    tile = cuda.shared.array(WARP, np.float32)
    lane = cuda.threadIdx.x
    tile[lane] = x[lane]
    cuda.syncwarp()
    step = 1
    while step < WARP:
        left = tile[lane - step] if lane >= step else np.float32(0)
        cuda.syncwarp()  # all have read
        tile[lane] += left
        cuda.syncwarp()  # all have written
        step *= 2
    out[lane] = tile[lane]


correct(scan_warp_kernel, lambda: (reals(WARP), blank(WARP)), lambda x, out: np.cumsum(x), ONE)
bug(
    scan_warp_kernel,
    "scan_one_warp",
    "warp-race",
    """
Scans in place within a warp, reading what the lane to the left is about to change.
-        left = tile[lane - step] if lane >= step else np.float32(0)
-        cuda.syncwarp()  # all have read
-        tile[lane] += left
+        if lane >= step:
+            tile[lane] += tile[lane - step]  # BUG
""",
)


@cuda.jit
def leader_kernel(x, out):
    """Joins the lanes."""
    cell = cuda.shared.array(2, np.float32)
    tid = cuda.threadIdx.x
    warp, lane = tid // WARP, tid % WARP
    if lane == 0:
        cell[warp] = x[tid]
    cuda.syncwarp()
    out[tid] = x[tid] - cell[warp]


correct(
    leader_kernel,
    lambda: (reals(2 * WARP), blank(2 * WARP)),
    lambda x, out: x - np.repeat(x[::WARP], WARP),
    Launch(1, 2 * WARP),
)
bug(
    leader_kernel,
    "leader_unsynced",
    "warp-race",
    """
Lets lane 0 of each warp leave a value for the other lanes, and does not join them.
-    cuda.syncwarp()
     out[tid] = x[tid] - cell[warp]  # BUG
""",
)


@cuda.jit
def exchange_shuffle_kernel(x, scratch, out):
    """Exchanges them by a shuffle, which needs no memory."""
    i = cuda.grid(1)
    scratch[i] = x[i]
    out[i] = cuda.shfl_xor_sync(0xFFFFFFFF, x[i], 1)


correct(
    exchange_shuffle_kernel,
    lambda: (reals(2 * WARP), blank(2 * WARP), blank(2 * WARP)),
    lambda x, scratch, out: x.reshape(-1, 2)[:, ::-1].ravel(),
    Launch(2, WARP),
)
bug(
    exchange_shuffle_kernel,
    "exchange_global",
    "warp-race",
    """
Exchanges neighbours through global memory within a warp.
-    out[i] = cuda.shfl_xor_sync(0xFFFFFFFF, x[i], 1)
+    out[i] = scratch[i ^ 1]  # BUG
""",
)


@cuda.jit
def last_warp_joined_kernel(x, out):
    """Joins the lanes of the last warp after each level."""
    tile = cuda.shared.array(TWO_WARPS, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    if tid < WARP:
        tile[tid] += tile[tid + 32]
        cuda.syncwarp()
        if tid < 16:
            tile[tid] += tile[tid + 16]
        cuda.syncwarp()
        if tid < 8:
            tile[tid] += tile[tid + 8]
    if tid < 8:
        out[tid] = tile[tid]


correct(
    last_warp_joined_kernel,
    lambda: (reals(2 * WARP), blank(8)),
    lambda x, out: x.reshape(8, 8).sum(0),
    Launch(1, 2 * WARP),
)
bug(
    last_warp_joined_kernel,
    "last_warp_unrolled",
    "warp-race",
    """
Stops waiting when one warp is left, as code for old GPUs did.
-        cuda.syncwarp()
         if tid < 16:
             tile[tid] += tile[tid + 16]  # BUG
-        cuda.syncwarp()
""",
)


@cuda.jit
def histogram_kernel(x, hist):
    """Counts with an atomic."""
    bins = cuda.shared.array(BINS, np.int32)
    lane = cuda.threadIdx.x
    if lane < BINS:
        bins[lane] = 0
    cuda.syncwarp()
    cuda.atomic.add(bins, x[lane], 1)
    cuda.syncwarp()
    if lane < BINS:
        hist[lane] = bins[lane]


correct(
    histogram_kernel,
    lambda: (counts(WARP, BINS), zeros(BINS, dtype=np.int32)),
    lambda x, hist: np.bincount(x, minlength=BINS),
    ONE,
)
bug(
    histogram_kernel,
    "histogram_one_warp",
    "shared-race",
    """
Counts with += because the block is a single warp: lanes with the same bin lose counts.
-    cuda.atomic.add(bins, x[lane], 1)
+    bins[x[lane]] += 1  # BUG
""",
)
