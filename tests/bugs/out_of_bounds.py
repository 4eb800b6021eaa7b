"""Accesses past the end of a global array of one dimension."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, counts, reals, zeros

N = BLOCK - 14


@cuda.jit
def scale_unguarded_kernel(x, out):
    """Forgets the guard: the block has more threads than the array has elements."""
    i = cuda.grid(1)
    out[i] = np.float32(2) * x[i]  # BUG


@cuda.jit
def scale_kernel(x, out):
    """Guards the access."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = np.float32(2) * x[i]


case(
    scale_unguarded_kernel, scale_kernel, "out-of-bounds",
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda x, out: 2 * x,
)  # fmt: skip


@cuda.jit
def add_guarded_to_n_kernel(a, b, out):
    """Guards with <= and lets one thread too many through."""
    i = cuda.grid(1)
    if i <= out.shape[0]:
        out[i] = a[i] + b[i]  # BUG


@cuda.jit
def add_kernel(a, b, out):
    """Guards with <."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + b[i]


case(
    add_guarded_to_n_kernel, add_kernel, "out-of-bounds",
    arguments=lambda: (reals(N), reals(N, seed=8), blank(N)),
    expected=lambda a, b, out: a + b,
)  # fmt: skip


@cuda.jit
def difference_past_end_kernel(x, out):
    """Reads the right neighbour of the last element."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i + 1] - x[i]  # BUG


@cuda.jit
def difference_kernel(x, out):
    """Has one output fewer than inputs."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i + 1] - x[i]


case(
    difference_past_end_kernel, difference_kernel, "out-of-bounds",
    arguments=lambda: (reals(N), blank(N)),
    fixed_arguments=lambda: (reals(N), blank(N - 1)),
    expected=lambda x, out: np.diff(x),
)  # fmt: skip


@cuda.jit
def convolve_unpadded_kernel(x, weight, out):
    """Lets the window of the last outputs hang over the end of the input."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        acc = np.float32(0)
        for k in range(weight.shape[0]):
            acc += x[i + k] * weight[k]  # BUG
        out[i] = acc


@cuda.jit
def convolve_kernel(x, weight, out):
    """Treats what lies past the end as zero."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        acc = np.float32(0)
        for k in range(weight.shape[0]):
            if i + k < x.shape[0]:
                acc += x[i + k] * weight[k]
        out[i] = acc


case(
    convolve_unpadded_kernel, convolve_kernel, "out-of-bounds",
    arguments=lambda: (reals(N), reals(5, seed=3), blank(N)),
    expected=lambda x, weight, out: np.correlate(np.append(x, np.zeros(4)), weight),
)  # fmt: skip


@cuda.jit
def gather_unchecked_kernel(table, ids, out):
    """Trusts the ids: one of them names a row that the table does not have."""
    i = cuda.grid(1)
    if i < ids.shape[0]:
        out[i] = table[ids[i]]  # BUG


@cuda.jit
def gather_kernel(table, ids, out):
    """Gives an unknown id the value zero."""
    i = cuda.grid(1)
    if i < ids.shape[0]:
        out[i] = table[ids[i]] if ids[i] < table.shape[0] else np.float32(0)


case(
    gather_unchecked_kernel, gather_kernel, "out-of-bounds",
    arguments=lambda: (reals(10), counts(N, 11), blank(N)),
    expected=lambda table, ids, out: np.append(table, np.float32(0))[ids],
)  # fmt: skip


@cuda.jit
def square_four_each_kernel(x, out):
    """Does four elements a thread, and guards only the first of them."""
    first = 4 * cuda.grid(1)
    if first < x.shape[0]:
        for k in range(4):
            out[first + k] = x[first + k] * x[first + k]  # BUG


@cuda.jit
def square_kernel(x, out):
    """Guards each of the four elements."""
    first = 4 * cuda.grid(1)
    for k in range(4):
        if first + k < x.shape[0]:
            out[first + k] = x[first + k] * x[first + k]


case(
    square_four_each_kernel, square_kernel, "out-of-bounds", Launch(1, 16),
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda x, out: x * x,
)  # fmt: skip


@cuda.jit
def count_top_bin_kernel(x, hist):
    """Puts the largest value, 1.0, into a bin one past the last."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(hist, int(x[i] * np.float32(hist.shape[0])), 1)  # BUG


@cuda.jit
def count_kernel(x, hist):
    """Counts the largest value in the last bin."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        b = int(x[i] * np.float32(hist.shape[0]))
        cuda.atomic.add(hist, min(b, hist.shape[0] - 1), 1)


case(
    count_top_bin_kernel, count_kernel, "out-of-bounds",
    arguments=lambda: (np.linspace(0, 1, N, dtype=np.float32), zeros(8, dtype=np.int32)),
    expected=lambda x, hist: np.histogram(x, 8, (0, 1))[0],
)  # fmt: skip


@cuda.jit
def sum_by_block_kernel(x, total):
    """Adds to total[blockIdx.x], but there is only one total for all blocks."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(total, cuda.blockIdx.x, x[i])  # BUG


@cuda.jit
def sum_kernel(x, total):
    """Adds to total[0]."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(total, 0, x[i])


case(
    sum_by_block_kernel, sum_kernel, "out-of-bounds", Launch(2, 32),
    arguments=lambda: (np.arange(N, dtype=np.int32), zeros(1, dtype=np.int32)),
    expected=lambda x, total: [x.sum()],
)  # fmt: skip
