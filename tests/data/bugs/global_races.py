"""Races in global memory in which threads of several blocks update the same element."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import Launch, bug, correct, counts, zeros

BINS = 8
HALF = 32
N = 2 * HALF
TWO = Launch(2, HALF)


@cuda.jit
def sum_kernel(x, total):
    """Adds with an atomic."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(total, 0, x[i])


correct(
    sum_kernel, lambda: (counts(N, N), zeros(1, dtype=np.int32)), lambda x, total: [x.sum()], TWO
)
bug(
    sum_kernel,
    "sum_plain",
    "global-race",
    """
Adds every element to one total with +=.
-        cuda.atomic.add(total, 0, x[i])
+        total[0] += x[i]  # BUG
""",
)


@cuda.jit
def sum_by_blocks_kernel(x, total):
    """Adds atomically across blocks as well."""
    part = cuda.shared.array(1, np.int32)
    if cuda.threadIdx.x == 0:
        part[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(part, 0, x[cuda.grid(1)])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(total, 0, part[0])


correct(
    sum_by_blocks_kernel,
    lambda: (counts(N, N), zeros(1, dtype=np.int32)),
    lambda x, total: [x.sum()],
    TWO,
)
bug(
    sum_by_blocks_kernel,
    "sum_by_blocks_plain",
    "global-race",
    """
Adds safely within a block, and plainly across blocks.
-        cuda.atomic.add(total, 0, part[0])
+        total[0] += part[0]  # BUG
""",
)


@cuda.jit
def histogram_kernel(x, hist):
    """Counts with an atomic."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(hist, x[i], 1)


correct(
    histogram_kernel,
    lambda: (counts(N, BINS), zeros(BINS, dtype=np.int32)),
    lambda x, hist: np.bincount(x, minlength=BINS),
    TWO,
)
bug(
    histogram_kernel,
    "histogram_plain",
    "global-race",
    """
Counts with += in global memory.
-        cuda.atomic.add(hist, x[i], 1)
+        hist[x[i]] += 1  # BUG
""",
)


@cuda.jit
def best_kernel(x, best):
    """Uses the atomic maximum."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.max(best, 0, x[i])


correct(
    best_kernel,
    lambda: (np.arange(1, N + 1, dtype=np.float32), zeros(1)),
    lambda x, best: [x.max()],
    TWO,
)
bug(
    best_kernel,
    "best_plain",
    "global-race",
    """
Tests and overwrites the best value, with another thread's write in between.
-    if i < x.shape[0]:
-        cuda.atomic.max(best, 0, x[i])
+    if i < x.shape[0] and x[i] > best[0]:  # BUG
+        best[0] = x[i]  # BUG
""",
)


@cuda.jit
def count_runners_atomic_kernel(caught, runners):
    """Takes them off with an atomic."""
    i = cuda.grid(1)
    if i < caught.shape[0] and caught[i] == 1:
        cuda.atomic.sub(runners, 0, 1)


correct(
    count_runners_atomic_kernel,
    lambda: (counts(N, 2), np.full(1, N, np.int32)),
    lambda caught, runners: runners - caught.sum(),
    TWO,
)
bug(
    count_runners_atomic_kernel,
    "count_runners",
    "global-race",
    """
Takes the caught ones off a counter with -= (as a published game simulation did).
-        cuda.atomic.sub(runners, 0, 1)
+        runners[0] -= 1  # BUG
""",
)
