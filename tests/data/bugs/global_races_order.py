"""Races in global memory: one part of the grid reads what another part has yet to write."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, counts, reals, zeros

HALF = 32
N = 2 * HALF
TWO = Launch(2, HALF)


@cuda.jit
def two_passes_synced_kernel(x, middle, out):
    """Waits for the whole grid between the passes."""
    i = cuda.grid(1)
    middle[i] = x[i] * x[i]
    cuda.cg.this_grid().sync()
    out[i] = middle[(i + 1) % middle.shape[0]] - middle[i]


correct(
    two_passes_synced_kernel,
    lambda: (reals(N), blank(N), blank(N)),
    lambda x, middle, out: np.roll(x * x, -1) - x * x,
    TWO,
)
bug(
    two_passes_synced_kernel,
    "two_passes",
    "global-race",
    """
Reads the neighbours' results of the first pass, perhaps before those threads have run.
-    cuda.cg.this_grid().sync()
     out[i] = middle[(i + 1) % middle.shape[0]] - middle[i]  # BUG
""",
)
bug(
    two_passes_synced_kernel,
    "two_passes_block_barrier",
    "global-race",
    """
Takes syncthreads for a barrier of the whole grid.
-    cuda.cg.this_grid().sync()
+    cuda.syncthreads()
     out[i] = middle[(i + 1) % middle.shape[0]] - middle[i]  # BUG
""",
)


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


correct(
    heat_kernel,
    lambda: (reals(N), blank(N), 3),
    lambda now, after, steps: (heated(now, after, steps)[0], steps),
    TWO,
)
bug(
    heat_kernel,
    "heat_missing_sync",
    "global-race",
    """
Waits for the grid once in each step, after the copy back but not before it.
         left, right = now[(i - 1) % N], now[(i + 1) % N]  # BUG
         after[i] = np.float32(0.25) * left + np.float32(0.75) * right
-        grid.sync()
         now[i] = after[i]  # BUG
""",
)


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


correct(
    last_block_kernel,
    lambda: (counts(N, 30), *(zeros(n, dtype=np.int32) for n in (2, 1, 1))),
    lambda x, parts, done, total: [x.sum()],
    TWO,
)
bug(
    last_block_kernel,
    "last_block_unfenced",
    "global-race",
    """
Lets the last block add up the others' parts, without a fence before the counter.
         parts[b] = acc  # BUG
-        cuda.threadfence()
@@
                 acc += parts[k]  # BUG
""",
)


@cuda.jit
def add_up_blocks_kernel(sums, offsets):
    """Adds up all the blocks before."""
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        acc = np.float32(0)
        for k in range(b + 1):
            acc += sums[k]
        offsets[b] = acc


correct(
    add_up_blocks_kernel,
    lambda: (reals(4), blank(4)),
    lambda sums, offsets: np.cumsum(sums),
    Launch(4, 32),
)
bug(
    add_up_blocks_kernel,
    "chain_blocks",
    "global-race",
    """
Takes the offset of the block before, as if blocks ran one after the other.
-        acc = np.float32(0)
-        for k in range(b + 1):
-            acc += sums[k]
-        offsets[b] = acc
+        before = offsets[b - 1] if b > 0 else np.float32(0)  # BUG
+        offsets[b] = before + sums[b]
""",
)


@cuda.jit
def reverse_scratch_kernel(x, scratch, out):
    """Waits: a barrier orders the block's accesses to global memory as well."""
    tid = cuda.threadIdx.x
    scratch[tid] = x[tid]
    cuda.syncthreads()  # the block's part of scratch is full
    out[tid] = scratch[BLOCK - 1 - tid]


correct(
    reverse_scratch_kernel,
    lambda: (reals(BLOCK), blank(BLOCK), blank(BLOCK)),
    lambda x, scratch, out: x[::-1],
)
bug(
    reverse_scratch_kernel,
    "reverse_scratch_unsynced",
    "global-race",
    """
Exchanges elements through global memory without a barrier in the block.
-    cuda.syncthreads()  # the block's part of scratch is full
     out[tid] = scratch[BLOCK - 1 - tid]  # BUG
""",
)


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


correct(
    centre_own_mean_kernel,
    lambda: (reals(N), blank(1), blank(N)),
    lambda x, mean, out: x - x.mean(),
    TWO,
)
bug(
    centre_own_mean_kernel,
    "centre_first_block_mean",
    "global-race",
    """
Lets block 0 work out the mean for everybody.
-    own = cuda.shared.array(1, np.float32)
     i = cuda.grid(1)
-    if cuda.threadIdx.x == 0:
+    if i == 0:
@@
-        own[0] = acc / np.float32(x.shape[0])
-        if i == 0:
-            mean[0] = own[0]
+        mean[0] = acc / np.float32(x.shape[0])
     cuda.syncthreads()  # the block's mean is there
-    out[i] = x[i] - own[0]
+    out[i] = x[i] - mean[0]  # BUG
""",
)
