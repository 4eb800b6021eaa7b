"""Races in shared memory: barriers missing in the levels of a tree and between two uses of it."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, blank, bug, correct, reals
from tests.data.bugs import barriers, same_value_races


@cuda.jit
def sum_kernel(x, out):
    """Waits in every level."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    stride = 1
    while stride < BLOCK:
        if tid % (2 * stride) == 0:
            tile[tid] += tile[tid + stride]
        cuda.syncthreads()  # this level is done
        stride *= 2
    if tid == 0:
        out[0] = tile[0]


correct(sum_kernel, lambda: (reals(BLOCK), blank(1)), lambda x, out: [x.sum(dtype=np.float64)])
bug(
    sum_kernel,
    "sum_unsynced_levels",
    "shared-race",
    """
Goes on to the next level without waiting for the last one.
             tile[tid] += tile[tid + stride]  # BUG
-        cuda.syncthreads()  # this level is done
""",
)
bug(
    sum_kernel,
    "sum_barrier_after_loop",
    "shared-race",
    """
Has the barrier one level of indentation too far left: after the loop, not in it.
             tile[tid] += tile[tid + stride]  # BUG
-        cuda.syncthreads()  # this level is done
         stride *= 2
+    cuda.syncthreads()
""",
)
bug(
    same_value_races.store_total_by_one_kernel,
    "sum_without_barrier",
    "shared-race",
    """
Lets thread 0 add up what all threads load, without waiting for them.
-    cuda.syncthreads()
@@
             acc += tile[k]  # BUG
""",
)
bug(
    barriers.sum_kernel,
    "sum_unsynced_load",
    "shared-race",
    """
Waits in every level, but not between the load and the first level.
-    cuda.syncthreads()
     half = BLOCK // 2
@@
             tile[tid] += tile[tid + half]  # BUG
""",
)


@cuda.jit(device=True)
def add_up_without_last_barrier(tile, tid):
    half = BLOCK // 2
    while half > 0:
        cuda.syncthreads()  # the last level, or the load, is done
        if tid < half:
            tile[tid] += tile[tid + half]
        half //= 2


@cuda.jit
def centre_kernel(x, out):
    """Waits after the helper."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    add_up_without_last_barrier(tile, tid)
    cuda.syncthreads()  # the sum is there
    out[tid] = x[tid] - tile[0] / np.float32(BLOCK)


correct(
    centre_kernel,
    lambda: (reals(BLOCK), blank(BLOCK)),
    lambda x, out: x - x.mean(),
    parts=(add_up_without_last_barrier,),
)
bug(
    centre_kernel,
    "centre_after_helper",
    "shared-race",
    """
Trusts a helper to end with a barrier; it ends with an addition.
             tile[tid] += tile[tid + half]  # BUG
@@
-    cuda.syncthreads()  # the sum is there
     out[tid] = x[tid] - tile[0] / np.float32(BLOCK)  # BUG
""",
)


@cuda.jit(device=True)
def add_up(tile, tid):
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        cuda.syncthreads()
        half //= 2


@cuda.jit
def mean_and_power_kernel(x, out):
    """Waits until all have read the first sum."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    add_up(tile, tid)
    mean = tile[0] / np.float32(BLOCK)
    cuda.syncthreads()  # all have the mean before the tile is refilled
    tile[tid] = (x[tid] - mean) * (x[tid] - mean)
    add_up(tile, tid)
    out[tid] = tile[0]


correct(
    mean_and_power_kernel,
    lambda: (reals(BLOCK), blank(BLOCK)),
    lambda x, out: np.full(BLOCK, x.var(dtype=np.float64) * BLOCK),
)
bug(
    mean_and_power_kernel,
    "mean_and_power_reused",
    "shared-race",
    """
Refills the tile for a second sum while slow threads still read the first one.
     mean = tile[0] / np.float32(BLOCK)  # BUG
-    cuda.syncthreads()  # all have the mean before the tile is refilled
     tile[tid] = (x[tid] - mean) * (x[tid] - mean)  # BUG
""",
)
