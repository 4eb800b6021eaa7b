"""Atomic and plain accesses mixed in shared memory: a barrier is missing between them."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, case, counts, reals, zeros

BINS = 8


@cuda.jit
def histogram_unsynced_zeros_kernel(x, hist):
    """Sets the bins to zero and counts at once: a late zero wipes out counts."""
    bins = cuda.shared.array(BINS, np.int32)
    tid = cuda.threadIdx.x
    if tid < BINS:
        bins[tid] = 0
    cuda.atomic.add(bins, x[tid], 1)  # BUG
    cuda.syncthreads()
    if tid < BINS:
        hist[tid] = bins[tid]


@cuda.jit
def histogram_unsynced_result_kernel(x, hist):
    """Copies the bins out while slow threads still count."""
    bins = cuda.shared.array(BINS, np.int32)
    tid = cuda.threadIdx.x
    if tid < BINS:
        bins[tid] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, x[tid], 1)
    if tid < BINS:
        hist[tid] = bins[tid]  # BUG


@cuda.jit
def histogram_kernel(x, hist):
    """Waits after the zeros and after the counts."""
    bins = cuda.shared.array(BINS, np.int32)
    tid = cuda.threadIdx.x
    if tid < BINS:
        bins[tid] = 0
    cuda.syncthreads()  # all bins are zero
    cuda.atomic.add(bins, x[tid], 1)
    cuda.syncthreads()  # all is counted
    if tid < BINS:
        hist[tid] = bins[tid]


for buggy in (histogram_unsynced_zeros_kernel, histogram_unsynced_result_kernel):
    case(
        buggy, histogram_kernel, "atomic-race",
        arguments=lambda: (counts(BLOCK, BINS), zeros(BINS, dtype=np.int32)),
        expected=lambda x, hist: np.bincount(x, minlength=BINS),
    )  # fmt: skip


@cuda.jit
def count_unsynced_total_kernel(x, out):
    """Lets thread 0 report a count that other warps have not finished."""
    found = cuda.shared.array(1, np.int32)
    tid = cuda.threadIdx.x
    if tid == 0:
        found[0] = 0
    cuda.syncthreads()
    if x[tid] > np.float32(0):
        cuda.atomic.add(found, 0, 1)  # BUG
    if tid == 0:
        out[0] = found[0]  # BUG


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


case(
    count_unsynced_total_kernel, count_total_kernel, "atomic-race",
    arguments=lambda: (reals(BLOCK), np.full(1, -1, np.int32)),
    expected=lambda x, out: [(x > 0).sum()],
)  # fmt: skip
