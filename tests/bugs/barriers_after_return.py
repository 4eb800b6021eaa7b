"""Barriers that threads cannot reach because they have returned."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, reals

TILE = 8
N = BLOCK - 14


@cuda.jit
def reverse_early_return_kernel(x, out):
    """Sends the surplus threads home before the barrier."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    n = x.shape[0]
    if tid >= n:
        return
    tile[tid] = x[tid]
    cuda.syncthreads()  # BUG
    out[tid] = tile[n - 1 - tid]


@cuda.jit
def reverse_kernel(x, out):
    """Lets them wait with the others."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    n = x.shape[0]
    if tid < n:
        tile[tid] = x[tid]
    cuda.syncthreads()
    if tid < n:
        out[tid] = tile[n - 1 - tid]


case(
    reverse_early_return_kernel, reverse_kernel, "barrier-after-return",
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda x, out: x[::-1],
)  # fmt: skip


@cuda.jit
def column_means_early_return_kernel(a, out):
    """Sends the threads outside the matrix home, and the others wait in a loop."""
    tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if ty >= a.shape[0] or tx >= a.shape[1]:
        return
    tile[ty, tx] = a[ty, tx]
    cuda.syncthreads()  # BUG
    if ty == 0:
        acc = np.float32(0)
        for k in range(a.shape[0]):
            acc += tile[k, tx]
        out[tx] = acc


@cuda.jit
def column_means_kernel(a, out):
    """Guards the load and the sum."""
    tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if ty < a.shape[0] and tx < a.shape[1]:
        tile[ty, tx] = a[ty, tx]
    cuda.syncthreads()
    if ty == 0 and tx < a.shape[1]:
        acc = np.float32(0)
        for k in range(a.shape[0]):
            acc += tile[k, tx]
        out[tx] = acc


case(
    column_means_early_return_kernel, column_means_kernel, "barrier-after-return",
    Launch(1, (TILE, TILE)),
    arguments=lambda: (reals(6, 7), blank(7)),
    expected=lambda a, out: a.sum(0),
)  # fmt: skip


@cuda.jit
def sum_return_when_idle_kernel(x, out):
    """Sends half of the threads home at each level of the tree."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if tid >= half:
            return
        tile[tid] += tile[tid + half]
        cuda.syncthreads()  # BUG
        half //= 2
    out[0] = tile[0]


@cuda.jit
def sum_kernel(x, out):
    """Keeps them to the end."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        out[0] = tile[0]


case(
    sum_return_when_idle_kernel, sum_kernel, "barrier-after-return",
    arguments=lambda: (reals(BLOCK), blank(1)),
    expected=lambda x, out: [x.sum()],
)  # fmt: skip


@cuda.jit
def skip_masked_kernel(keep, x, out):
    """Returns for elements that are switched off, before the block exchanges."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    if keep[tid] == 0:
        out[tid] = np.float32(0)
        return
    cuda.syncthreads()  # BUG
    out[tid] = tile[tid ^ 1]


@cuda.jit
def choose_masked_kernel(keep, x, out):
    """Chooses the value after the exchange."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    out[tid] = tile[tid ^ 1] if keep[tid] != 0 else np.float32(0)


case(
    skip_masked_kernel, choose_masked_kernel, "barrier-after-return",
    arguments=lambda: (np.arange(BLOCK, dtype=np.int32) % 3, reals(BLOCK), blank(BLOCK)),
    expected=lambda keep, x, out: np.where(keep, x.reshape(-1, 2)[:, ::-1].ravel(), 0),
)  # fmt: skip
