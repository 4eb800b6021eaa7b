"""Races in global memory in which threads of several blocks update the same element."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import Launch, case, counts, zeros

BINS = 8
HALF = 32
N = 2 * HALF
TWO = Launch(2, HALF)


@cuda.jit
def sum_plain_kernel(x, total):
    """Adds every element to one total with +=."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        total[0] += x[i]  # BUG


@cuda.jit
def sum_kernel(x, total):
    """Adds with an atomic."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(total, 0, x[i])


case(
    sum_plain_kernel, sum_kernel, "global-race", TWO,
    arguments=lambda: (counts(N, N), zeros(1, dtype=np.int32)),
    expected=lambda x, total: [x.sum()],
)  # fmt: skip


@cuda.jit
def sum_by_blocks_plain_kernel(x, total):
    """Adds safely within a block, and plainly across blocks."""
    part = cuda.shared.array(1, np.int32)
    if cuda.threadIdx.x == 0:
        part[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(part, 0, x[cuda.grid(1)])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        total[0] += part[0]  # BUG


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


case(
    sum_by_blocks_plain_kernel, sum_by_blocks_kernel, "global-race", TWO,
    arguments=lambda: (counts(N, N), zeros(1, dtype=np.int32)),
    expected=lambda x, total: [x.sum()],
)  # fmt: skip


@cuda.jit
def histogram_plain_kernel(x, hist):
    """Counts with += in global memory."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        hist[x[i]] += 1  # BUG


@cuda.jit
def histogram_kernel(x, hist):
    """Counts with an atomic."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(hist, x[i], 1)


case(
    histogram_plain_kernel, histogram_kernel, "global-race", TWO,
    arguments=lambda: (counts(N, BINS), zeros(BINS, dtype=np.int32)),
    expected=lambda x, hist: np.bincount(x, minlength=BINS),
)  # fmt: skip


@cuda.jit
def best_plain_kernel(x, best):
    """Tests and overwrites the best value, with another thread's write in between."""
    i = cuda.grid(1)
    if i < x.shape[0] and x[i] > best[0]:  # BUG
        best[0] = x[i]  # BUG


@cuda.jit
def best_kernel(x, best):
    """Uses the atomic maximum."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.max(best, 0, x[i])


case(
    best_plain_kernel, best_kernel, "global-race", TWO,
    arguments=lambda: (np.arange(1, N + 1, dtype=np.float32), zeros(1)),
    expected=lambda x, best: [x.max()],
)  # fmt: skip


@cuda.jit
def count_runners_kernel(caught, runners):
    """Takes the caught ones off a counter with -= (as a published game simulation did)."""
    i = cuda.grid(1)
    if i < caught.shape[0] and caught[i] == 1:
        runners[0] -= 1  # BUG


@cuda.jit
def count_runners_atomic_kernel(caught, runners):
    """Takes them off with an atomic."""
    i = cuda.grid(1)
    if i < caught.shape[0] and caught[i] == 1:
        cuda.atomic.sub(runners, 0, 1)


case(
    count_runners_kernel, count_runners_atomic_kernel, "global-race", TWO,
    arguments=lambda: (counts(N, 2), np.full(1, N, np.int32)),
    expected=lambda caught, runners: runners - caught.sum(),
)  # fmt: skip
