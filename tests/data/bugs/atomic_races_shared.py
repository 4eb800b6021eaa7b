"""Atomic and plain accesses mixed in shared memory: a barrier is missing between them."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, bug, correct, counts, reals, zeros

BINS = 8


@cuda.jit
def histogram_kernel(x, hist):
    """Waits after the zeros and after the counts."""
    bins = cuda.shared.array(BINS, np.int32)
    tid = cuda.threadIdx.x
    if tid < BINS:
        bins[tid] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, x[tid], 1)
    cuda.syncthreads()
    if tid < BINS:
        hist[tid] = bins[tid]


correct(
    histogram_kernel,
    lambda: (counts(BLOCK, BINS), zeros(BINS, dtype=np.int32)),
    lambda x, hist: np.bincount(x, minlength=BINS),
)
bug(
    histogram_kernel,
    "histogram_unsynced_zeros",
    "atomic-race",
    """
Sets the bins to zero and counts at once: a late zero wipes out counts.
-    cuda.syncthreads()
     cuda.atomic.add(bins, x[tid], 1)  # BUG
""",
)
bug(
    histogram_kernel,
    "histogram_unsynced_result",
    "atomic-race",
    """
Copies the bins out while slow threads still count.
     cuda.atomic.add(bins, x[tid], 1)
-    cuda.syncthreads()
     if tid < BINS:
         hist[tid] = bins[tid]  # BUG
""",
)


@cuda.jit
def count_total_kernel(x, out):
    """Waits for all counts."""
    found = cuda.shared.array(1, np.int32)
    tid = cuda.threadIdx.x
    if tid == 0:
        found[0] = 0
    cuda.syncthreads()
    if x[tid] > np.float32(0):
        cuda.atomic.add(found, 0, 1)
    cuda.syncthreads()  # all is counted
    if tid == 0:
        out[0] = found[0]


correct(
    count_total_kernel,
    lambda: (reals(BLOCK), np.full(1, -1, np.int32)),
    lambda x, out: [(x > 0).sum()],
)
bug(
    count_total_kernel,
    "count_unsynced_total",
    "atomic-race",
    """
Lets thread 0 report a count that other warps have not finished.
         cuda.atomic.add(found, 0, 1)  # BUG
-    cuda.syncthreads()  # all is counted
     if tid == 0:
         out[0] = found[0]  # BUG
""",
)
