"""Atomic and plain accesses mixed in global memory: the plain ones undo or miss the atomic ones."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import Launch, blank, bug, correct, counts, reals, zeros

BINS = 8
HALF = 32
N = 2 * HALF
TWO = Launch(2, HALF)


@cuda.jit
def best_kernel(x, best):
    """Always asks the atomic."""
    i = cuda.grid(1)
    cuda.atomic.max(best, 0, x[i])


correct(
    best_kernel,
    lambda: (np.arange(1, N + 1, dtype=np.float32), zeros(1)),
    lambda x, best: [x.max()],
    TWO,
)
bug(
    best_kernel,
    "best_tested_first",
    "atomic-race",
    """
Saves atomics by a plain look at the best value, which another thread may be changing.
-    cuda.atomic.max(best, 0, x[i])
+    if x[i] > best[0]:  # BUG
+        cuda.atomic.max(best, 0, x[i])
""",
)


@cuda.jit
def sum_kernel(x, total):
    """Leaves the zero to the host."""
    i = cuda.grid(1)
    cuda.atomic.add(total, 0, x[i])


correct(
    sum_kernel, lambda: (counts(N, N), zeros(1, dtype=np.int32)), lambda x, total: [x.sum()], TWO
)
bug(
    sum_kernel,
    "sum_zeroed_inside",
    "atomic-race",
    """
Lets the first thread set the total to zero while other blocks already add to it.
+    if i == 0:
+        total[0] = 0  # BUG
+    cuda.syncthreads()
     cuda.atomic.add(total, 0, x[i])  # BUG
""",
)


@cuda.jit
def sum_tail_kernel(x, total):
    """Adds the last element with an atomic as well."""
    i = cuda.grid(1)
    if 2 * i + 1 < x.shape[0]:
        cuda.atomic.add(total, 0, x[2 * i] + x[2 * i + 1])
    elif 2 * i < x.shape[0]:
        cuda.atomic.add(total, 0, x[2 * i])


correct(
    sum_tail_kernel,
    lambda: (counts(2 * N - 1, N), zeros(1, dtype=np.int32)),
    lambda x, total: [x.sum()],
    TWO,
)
bug(
    sum_tail_kernel,
    "sum_plain_tail",
    "atomic-race",
    """
Adds the pairs with an atomic and the odd last element without.
-        cuda.atomic.add(total, 0, x[2 * i])
+        total[0] += x[2 * i]  # BUG
""",
)


@cuda.jit
def normalise_synced_kernel(x, total, out):
    """Waits for the whole grid."""
    i = cuda.grid(1)
    cuda.atomic.add(total, 0, x[i])
    cuda.cg.this_grid().sync()
    out[i] = x[i] / total[0]


correct(
    normalise_synced_kernel,
    lambda: (np.abs(reals(N)), zeros(1), blank(N)),
    lambda x, total, out: x / x.sum(),
    TWO,
)
bug(
    normalise_synced_kernel,
    "normalise_in_one",
    "atomic-race",
    """
Divides by the total before all blocks have added to it.
-    cuda.cg.this_grid().sync()
+    cuda.syncthreads()
     out[i] = x[i] / total[0]  # BUG
""",
)


@cuda.jit
def work_queue_kernel(jobs, head, out):
    """Takes a job first and asks afterwards whether there was one."""
    job = cuda.atomic.add(head, 0, 1)
    while job < jobs.shape[0]:
        out[job] = jobs[job] * jobs[job]
        job = cuda.atomic.add(head, 0, 1)


correct(
    work_queue_kernel,
    lambda: (counts(3 * N, 90), zeros(1, dtype=np.int32), zeros(3 * N, dtype=np.int32)),
    lambda jobs, head, out: jobs * jobs,
    TWO,
)
bug(
    work_queue_kernel,
    "work_queue_peek",
    "atomic-race",
    """
Looks at the head of the queue plainly before taking a job with an atomic.
-    job = cuda.atomic.add(head, 0, 1)
-    while job < jobs.shape[0]:
-        out[job] = jobs[job] * jobs[job]
+    while head[0] < jobs.shape[0]:  # BUG
         job = cuda.atomic.add(head, 0, 1)
+        if job < jobs.shape[0]:
+            out[job] = jobs[job] * jobs[job]
""",
)


@cuda.jit
def merge_bins_kernel(x, hist):
    """Lets all blocks add."""
    bins = cuda.shared.array(BINS, np.int32)
    tid = cuda.threadIdx.x
    if tid < BINS:
        bins[tid] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, x[cuda.grid(1)], 1)
    cuda.syncthreads()
    if tid < BINS:
        cuda.atomic.add(hist, tid, bins[tid])


correct(
    merge_bins_kernel,
    lambda: (counts(N, BINS), zeros(BINS, dtype=np.int32)),
    lambda x, hist: np.bincount(x, minlength=BINS),
    TWO,
)
bug(
    merge_bins_kernel,
    "merge_bins_plain",
    "atomic-race",
    """
Lets block 0 store its bins and the other blocks add theirs.
-        cuda.atomic.add(hist, tid, bins[tid])
+        if cuda.blockIdx.x == 0:
+            hist[tid] = bins[tid]  # BUG
+        else:
+            cuda.atomic.add(hist, tid, bins[tid])  # BUG
""",
)
