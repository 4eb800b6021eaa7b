"""Races inside one warp: lanes that exchange through memory have to say so with syncwarp."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import Launch, blank, case, counts, reals, zeros

WARP = 32
TWO_WARPS = 2 * WARP
BINS = 8
ONE = Launch(1, WARP)


@cuda.jit
def sum_warp_synchronous_kernel(x, out):
    """Adds up within a warp as if its lanes always ran in step."""
    tile = cuda.shared.array(WARP, np.float32)
    lane = cuda.threadIdx.x
    tile[lane] = x[lane]
    cuda.syncwarp()
    half = WARP // 2
    while half > 0:
        if lane < half:
            tile[lane] += tile[lane + half]  # BUG
        half //= 2
    if lane == 0:
        out[0] = tile[0]


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


case(
    sum_warp_synchronous_kernel, sum_warp_kernel, "warp-race", ONE,
    arguments=lambda: (reals(WARP), blank(1)),
    expected=lambda x, out: [x.sum()],
)  # fmt: skip


@cuda.jit
def reverse_one_warp_kernel(x, out):
    """Leaves the barrier out because the block is a single warp."""
    tile = cuda.shared.array(WARP, np.float32)
    lane = cuda.threadIdx.x
    tile[lane] = x[lane]
    out[lane] = tile[WARP - 1 - lane]  # BUG


@cuda.jit
def reverse_kernel(x, out):
    """Joins the lanes between writing and reading."""
    tile = cuda.shared.array(WARP, np.float32)
    lane = cuda.threadIdx.x
    tile[lane] = x[lane]
    cuda.syncwarp()
    out[lane] = tile[WARP - 1 - lane]


case(
    reverse_one_warp_kernel, reverse_kernel, "warp-race", ONE,
    arguments=lambda: (reals(WARP), blank(WARP)),
    expected=lambda x, out: x[::-1],
)  # fmt: skip


@cuda.jit
def scan_one_warp_kernel(x, out):
    """Scans in place within a warp, reading what the lane to the left is about to change."""
    tile = cuda.shared.array(WARP, np.float32)
    lane = cuda.threadIdx.x
    tile[lane] = x[lane]
    cuda.syncwarp()
    step = 1
    while step < WARP:
        if lane >= step:
            tile[lane] += tile[lane - step]  # BUG
        cuda.syncwarp()
        step *= 2
    out[lane] = tile[lane]


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


case(
    scan_one_warp_kernel, scan_warp_kernel, "warp-race", ONE,
    arguments=lambda: (reals(WARP), blank(WARP)),
    expected=lambda x, out: np.cumsum(x),
)  # fmt: skip


@cuda.jit
def leader_unsynced_kernel(x, out):
    """Lets lane 0 of each warp leave a value for the other lanes, and does not join them."""
    cell = cuda.shared.array(2, np.float32)
    tid = cuda.threadIdx.x
    warp, lane = tid // WARP, tid % WARP
    if lane == 0:
        cell[warp] = x[tid]
    out[tid] = x[tid] - cell[warp]  # BUG


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


case(
    leader_unsynced_kernel, leader_kernel, "warp-race", Launch(1, 2 * WARP),
    arguments=lambda: (reals(2 * WARP), blank(2 * WARP)),
    expected=lambda x, out: x - np.repeat(x[::WARP], WARP),
)  # fmt: skip


@cuda.jit
def exchange_global_kernel(x, scratch, out):
    """Exchanges neighbours through global memory within a warp."""
    i = cuda.grid(1)
    scratch[i] = x[i]
    out[i] = scratch[i ^ 1]  # BUG


@cuda.jit
def exchange_shuffle_kernel(x, scratch, out):
    """Exchanges them by a shuffle, which needs no memory."""
    i = cuda.grid(1)
    scratch[i] = x[i]
    out[i] = cuda.shfl_xor_sync(0xFFFFFFFF, x[i], 1)


case(
    exchange_global_kernel, exchange_shuffle_kernel, "warp-race", Launch(2, WARP),
    arguments=lambda: (reals(2 * WARP), blank(2 * WARP), blank(2 * WARP)),
    expected=lambda x, scratch, out: x.reshape(-1, 2)[:, ::-1].ravel(),
)  # fmt: skip


@cuda.jit
def last_warp_unrolled_kernel(x, out):
    """Stops waiting when one warp is left, as code for old GPUs did."""
    tile = cuda.shared.array(TWO_WARPS, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    if tid < WARP:
        tile[tid] += tile[tid + 32]
        if tid < 16:
            tile[tid] += tile[tid + 16]  # BUG
        if tid < 8:
            tile[tid] += tile[tid + 8]
    if tid < 8:
        out[tid] = tile[tid]


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


case(
    last_warp_unrolled_kernel, last_warp_joined_kernel, "warp-race", Launch(1, 2 * WARP),
    arguments=lambda: (reals(2 * WARP), blank(8)),
    expected=lambda x, out: x.reshape(8, 8).sum(0),
)  # fmt: skip


@cuda.jit
def histogram_one_warp_kernel(x, hist):
    """Counts with += because the block is a single warp: lanes with the same bin lose counts."""
    bins = cuda.shared.array(BINS, np.int32)
    lane = cuda.threadIdx.x
    if lane < BINS:
        bins[lane] = 0
    cuda.syncwarp()
    bins[x[lane]] += 1  # BUG
    cuda.syncwarp()
    if lane < BINS:
        hist[lane] = bins[lane]


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


case(
    histogram_one_warp_kernel, histogram_kernel, "shared-race", ONE,
    arguments=lambda: (counts(WARP, BINS), zeros(BINS, dtype=np.int32)),
    expected=lambda x, hist: np.bincount(x, minlength=BINS),
)  # fmt: skip
