"""Reads of a thread's own local array before anything is written there."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, counts, reals

DIGITS = 4


@cuda.jit
def digits_unzeroed_kernel(x, out):
    """Counts the digits of a number in an array that is not set to zero."""
    seen = cuda.local.array(DIGITS, np.int32)
    i = cuda.grid(1)
    rest = x[i]
    while rest > 0:
        seen[rest % DIGITS] += 1  # BUG
        rest //= DIGITS
    out[i] = seen[1]


@cuda.jit
def digits_kernel(x, out):
    """Sets it to zero first."""
    seen = cuda.local.array(DIGITS, np.int32)
    i = cuda.grid(1)
    for k in range(DIGITS):
        seen[k] = 0
    rest = x[i]
    while rest > 0:
        seen[rest % DIGITS] += 1
        rest //= DIGITS
    out[i] = seen[1]


case(
    digits_unzeroed_kernel, digits_kernel, "uninitialised-local",
    arguments=lambda: (counts(BLOCK, 200), np.full(BLOCK, -1, np.int32)),
    expected=lambda x, out: [np.base_repr(v, DIGITS).count("1") for v in x],
)  # fmt: skip


@cuda.jit
def window_from_one_kernel(x, out):
    """Fills the window from 1 on and adds it up from 0 on."""
    window = cuda.local.array(3, np.float32)
    i = cuda.grid(1)
    for k in range(1, 3):
        window[k] = x[i + k]
    acc = np.float32(0)
    for k in range(3):
        acc += window[k]  # BUG
    out[i] = acc


@cuda.jit
def window_kernel(x, out):
    """Fills all of it."""
    window = cuda.local.array(3, np.float32)
    i = cuda.grid(1)
    for k in range(3):
        window[k] = x[i + k]
    acc = np.float32(0)
    for k in range(3):
        acc += window[k]
    out[i] = acc


case(
    window_from_one_kernel, window_kernel, "uninitialised-local",
    arguments=lambda: (reals(BLOCK + 2), blank(BLOCK)),
    expected=lambda x, out: np.convolve(x, np.ones(3), "valid"),
)  # fmt: skip


@cuda.jit
def top_two_unset_kernel(a, out):
    """Compares with the two best values before there are any."""
    best = cuda.local.array(2, np.float32)
    row = cuda.grid(1)
    for k in range(a.shape[1]):
        if a[row, k] > best[0]:  # BUG
            best[1] = best[0]
            best[0] = a[row, k]
        elif a[row, k] > best[1]:
            best[1] = a[row, k]
    out[row] = best[1]


@cuda.jit
def top_two_kernel(a, out):
    """Starts below every value."""
    best = cuda.local.array(2, np.float32)
    row = cuda.grid(1)
    best[0] = np.float32(-np.inf)
    best[1] = np.float32(-np.inf)
    for k in range(a.shape[1]):
        if a[row, k] > best[0]:
            best[1] = best[0]
            best[0] = a[row, k]
        elif a[row, k] > best[1]:
            best[1] = a[row, k]
    out[row] = best[1]


case(
    top_two_unset_kernel, top_two_kernel, "uninitialised-local", Launch(1, 32),
    arguments=lambda: (reals(32, 6), blank(32)),
    expected=lambda a, out: np.sort(a, axis=1)[:, -2],
)  # fmt: skip


@cuda.jit
def matmul_coarse_unset_kernel(a, b, out):
    """Keeps a tile of sums for each thread and never sets it to zero."""
    acc = cuda.local.array((2, 2), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for k in range(a.shape[1]):
        for m in range(2):
            for n in range(2):
                acc[m, n] += a[2 * ty + m, k] * b[k, 2 * tx + n]  # BUG
    for m in range(2):
        for n in range(2):
            out[2 * ty + m, 2 * tx + n] = acc[m, n]


@cuda.jit
def matmul_coarse_kernel(a, b, out):
    """Sets it to zero."""
    acc = cuda.local.array((2, 2), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for m in range(2):
        for n in range(2):
            acc[m, n] = np.float32(0)
    for k in range(a.shape[1]):
        for m in range(2):
            for n in range(2):
                acc[m, n] += a[2 * ty + m, k] * b[k, 2 * tx + n]
    for m in range(2):
        for n in range(2):
            out[2 * ty + m, 2 * tx + n] = acc[m, n]


case(
    matmul_coarse_unset_kernel, matmul_coarse_kernel, "uninitialised-local",
    Launch(1, (8, 4)),
    arguments=lambda: (reals(8, 5), reals(5, 16, seed=8), blank(8, 16)),
    expected=lambda a, b, out: a @ b,
)  # fmt: skip


@cuda.jit
def path_unset_kernel(steps, out):
    """Walks a number of steps and reads one place further."""
    places = cuda.local.array(8, np.int32)
    i = cuda.grid(1)
    place = 0
    for k in range(steps[i]):
        place += k
        places[k] = place
    out[i] = places[steps[i]]  # BUG


@cuda.jit
def path_kernel(steps, out):
    """Reads the last place there is."""
    places = cuda.local.array(8, np.int32)
    i = cuda.grid(1)
    place = 0
    for k in range(steps[i]):
        place += k
        places[k] = place
    out[i] = places[steps[i] - 1]


case(
    path_unset_kernel, path_kernel, "uninitialised-local",
    arguments=lambda: (np.int32(1) + counts(BLOCK, 7), np.full(BLOCK, -1, np.int32)),
    expected=lambda steps, out: steps * (steps - 1) // 2,
)  # fmt: skip
