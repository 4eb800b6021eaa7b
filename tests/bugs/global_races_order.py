"""Races in global memory: one part of the grid reads what another part has yet to write."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, counts, reals, zeros

HALF = 32
N = 2 * HALF
TWO = Launch(2, HALF)


@cuda.jit
def two_passes_kernel(x, middle, out):
    """Reads the neighbours' results of the first pass, perhaps before those threads have run."""
    i = cuda.grid(1)
    middle[i] = x[i] * x[i]
    out[i] = middle[(i + 1) % middle.shape[0]] - middle[i]  # BUG


@cuda.jit
def two_passes_synced_kernel(x, middle, out):
    """Waits for the whole grid between the passes."""
    i = cuda.grid(1)
    middle[i] = x[i] * x[i]
    cuda.cg.this_grid().sync()
    out[i] = middle[(i + 1) % middle.shape[0]] - middle[i]


case(
    two_passes_kernel, two_passes_synced_kernel, "global-race", TWO,
    arguments=lambda: (reals(N), blank(N), blank(N)),
    expected=lambda x, middle, out: np.roll(x * x, -1) - x * x,
)  # fmt: skip


@cuda.jit
def two_passes_block_barrier_kernel(x, middle, out):
    """Takes syncthreads for a barrier of the whole grid."""
    i = cuda.grid(1)
    middle[i] = x[i] * x[i]
    cuda.syncthreads()
    out[i] = middle[(i + 1) % middle.shape[0]] - middle[i]  # BUG


case(
    two_passes_block_barrier_kernel, two_passes_synced_kernel, "global-race", TWO,
    arguments=lambda: (reals(N), blank(N), blank(N)),
    expected=lambda x, middle, out: np.roll(x * x, -1) - x * x,
)  # fmt: skip


@cuda.jit
def heat_missing_sync_kernel(now, after, steps):
    """Waits for the grid once in each step, after the copy back but not before it."""
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for _ in range(steps):
        left, right = now[(i - 1) % N], now[(i + 1) % N]  # BUG
        after[i] = np.float32(0.25) * left + np.float32(0.75) * right
        now[i] = after[i]  # BUG
        grid.sync()


@cuda.jit
def heat_kernel(now, after, steps):
    """Waits before the copy back, and after it."""
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for _ in range(steps):
        left, right = now[(i - 1) % N], now[(i + 1) % N]
        after[i] = np.float32(0.25) * left + np.float32(0.75) * right
        grid.sync()
        now[i] = after[i]
        grid.sync()


def heated(now, after, steps):
    for _ in range(steps):
        now = np.float32(0.25) * np.roll(now, 1) + np.float32(0.75) * np.roll(now, -1)
    return now, steps


case(
    heat_missing_sync_kernel, heat_kernel, "global-race", TWO,
    arguments=lambda: (reals(N), blank(N), 3),
    expected=lambda now, after, steps: (heated(now, after, steps)[0], steps),
)  # fmt: skip


@cuda.jit
def last_block_unfenced_kernel(x, parts, done, total):
    """Lets the last block add up the others' parts, without a fence before the counter."""
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        acc = 0
        for k in range(cuda.blockDim.x):
            acc += x[b * cuda.blockDim.x + k]
        parts[b] = acc  # BUG
        if cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1:
            acc = 0
            for k in range(cuda.gridDim.x):
                acc += parts[k]  # BUG
            total[0] = acc


@cuda.jit
def last_block_kernel(x, parts, done, total):
    """Makes the part visible to the other blocks before it counts itself as done."""
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        acc = 0
        for k in range(cuda.blockDim.x):
            acc += x[b * cuda.blockDim.x + k]
        parts[b] = acc
        cuda.threadfence()
        if cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1:
            acc = 0
            for k in range(cuda.gridDim.x):
                acc += parts[k]
            total[0] = acc


case(
    last_block_unfenced_kernel, last_block_kernel, "global-race", TWO,
    arguments=lambda: (
        counts(N, 30), zeros(2, dtype=np.int32), zeros(1, dtype=np.int32),
        zeros(1, dtype=np.int32),
    ),
    expected=lambda x, parts, done, total: [x.sum()],
)  # fmt: skip


@cuda.jit
def chain_blocks_kernel(sums, offsets):
    """Takes the offset of the block before, as if blocks ran one after the other."""
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        before = offsets[b - 1] if b > 0 else np.float32(0)  # BUG
        offsets[b] = before + sums[b]


@cuda.jit
def add_up_blocks_kernel(sums, offsets):
    """Adds up all the blocks before."""
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        acc = np.float32(0)
        for k in range(b + 1):
            acc += sums[k]
        offsets[b] = acc


case(
    chain_blocks_kernel, add_up_blocks_kernel, "global-race", Launch(4, 32),
    arguments=lambda: (reals(4), blank(4)),
    expected=lambda sums, offsets: np.cumsum(sums),
)  # fmt: skip


@cuda.jit
def reverse_scratch_unsynced_kernel(x, scratch, out):
    """Exchanges elements through global memory without a barrier in the block."""
    tid = cuda.threadIdx.x
    scratch[tid] = x[tid]
    out[tid] = scratch[BLOCK - 1 - tid]  # BUG


@cuda.jit
def reverse_scratch_kernel(x, scratch, out):
    """Waits: a barrier orders the block's accesses to global memory as well."""
    tid = cuda.threadIdx.x
    scratch[tid] = x[tid]
    cuda.syncthreads()  # the block's part of scratch is full
    out[tid] = scratch[BLOCK - 1 - tid]


case(
    reverse_scratch_unsynced_kernel, reverse_scratch_kernel, "global-race",
    arguments=lambda: (reals(BLOCK), blank(BLOCK), blank(BLOCK)),
    expected=lambda x, scratch, out: x[::-1],
)  # fmt: skip


@cuda.jit
def centre_first_block_mean_kernel(x, mean, out):
    """Lets block 0 work out the mean for everybody."""
    i = cuda.grid(1)
    if i == 0:
        acc = np.float32(0)
        for k in range(x.shape[0]):
            acc += x[k]
        mean[0] = acc / np.float32(x.shape[0])
    cuda.syncthreads()
    out[i] = x[i] - mean[0]  # BUG


@cuda.jit
def centre_own_mean_kernel(x, mean, out):
    """Lets every block work it out for itself, in shared memory."""
    own = cuda.shared.array(1, np.float32)
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        acc = np.float32(0)
        for k in range(x.shape[0]):
            acc += x[k]
        own[0] = acc / np.float32(x.shape[0])
        if i == 0:
            mean[0] = own[0]
    cuda.syncthreads()  # the block's mean is there
    out[i] = x[i] - own[0]


case(
    centre_first_block_mean_kernel, centre_own_mean_kernel, "global-race", TWO,
    arguments=lambda: (reals(N), blank(1), blank(N)),
    expected=lambda x, mean, out: x - x.mean(),
)  # fmt: skip
