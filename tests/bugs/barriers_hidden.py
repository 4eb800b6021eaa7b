"""Divergent barriers where they hide: in helpers, in conditions, in long branches."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, reals

TILE = 8
N = BLOCK - 14
BUG = "barrier-divergence"


@cuda.jit(device=True)
def add_up(tile, tid):
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        cuda.syncthreads()  # BUG
        half //= 2


@cuda.jit
def sum_helper_behind_guard_kernel(x, out):
    """Calls a helper behind a guard; the barrier is in the helper."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid] if tid < x.shape[0] else np.float32(0)
    cuda.syncthreads()
    if tid < x.shape[0]:
        add_up(tile, tid)  # BUG
    if tid == 0:
        out[0] = tile[0]


@cuda.jit
def sum_helper_kernel(x, out):
    """Calls the helper with all threads."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid] if tid < x.shape[0] else np.float32(0)
    cuda.syncthreads()
    add_up(tile, tid)
    if tid == 0:
        out[0] = tile[0]


case(
    sum_helper_behind_guard_kernel, sum_helper_kernel, BUG,
    arguments=lambda: (reals(N), blank(1)),
    expected=lambda x, out: [x.sum()],
    parts=(add_up,),
)  # fmt: skip


@cuda.jit
def any_negative_short_circuit_kernel(x, out):
    """Asks the block in the second half of an `and`, which most threads never reach."""
    tid = cuda.threadIdx.x
    if tid == 0 and cuda.syncthreads_or(x[tid] < np.float32(0)):  # BUG
        out[0] = 1


@cuda.jit
def any_negative_kernel(x, out):
    """Asks with all threads, and lets one store the answer."""
    tid = cuda.threadIdx.x
    found = cuda.syncthreads_or(x[tid] < np.float32(0))
    if tid == 0:
        out[0] = 1 if found else 0


case(
    any_negative_short_circuit_kernel, any_negative_kernel, BUG,
    arguments=lambda: (reals(BLOCK), np.full(1, -1, np.int32)),
    expected=lambda x, out: [1],
)  # fmt: skip


@cuda.jit
def count_behind_guard_kernel(x, out):
    """Counts with syncthreads_count behind the guard."""
    tid = cuda.threadIdx.x
    if tid < x.shape[0]:
        found = cuda.syncthreads_count(x[tid] > np.float32(0))  # BUG
        out[tid] = found


@cuda.jit
def count_kernel(x, out):
    """Lets threads without an element count zero."""
    tid = cuda.threadIdx.x
    inside = tid < x.shape[0]
    found = cuda.syncthreads_count(inside and x[tid] > np.float32(0))
    if inside:
        out[tid] = found


case(
    count_behind_guard_kernel, count_kernel, BUG,
    arguments=lambda: (reals(N), np.full(N, -1, np.int32)),
    expected=lambda x, out: np.full(N, (x > 0).sum()),
)  # fmt: skip


@cuda.jit
def relax_until_still_kernel(x):
    """Lets each thread stop when its own element no longer changes."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    change = np.float32(1)
    while abs(change) > np.float32(0.01):
        change = -np.float32(0.5) * tile[tid]
        tile[tid] += change
        cuda.syncthreads()  # BUG
    x[tid] = tile[tid]


@cuda.jit
def relax_until_all_still_kernel(x):
    """Lets the block decide together when to stop."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    moving = True
    while moving:
        change = -np.float32(0.5) * tile[tid]
        tile[tid] += change
        moving = cuda.syncthreads_or(abs(change) > np.float32(0.01)) != 0
    x[tid] = tile[tid]


def relaxed(x):
    moving = True
    while moving:
        moving = bool((abs(0.5 * x) > np.float32(0.01)).any())
        x = np.float32(0.5) * x
    return x


case(
    relax_until_still_kernel, relax_until_all_still_kernel, BUG,
    arguments=lambda: (reals(BLOCK),),
    expected=relaxed,
)  # fmt: skip


@cuda.jit
def first_warp_barrier_kernel(x, out):
    """Joins the first warp with the barrier of the whole block."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    if tid < 32:
        tile[tid] += tile[tid + 32]
        cuda.syncthreads()  # BUG
        out[tid] = tile[tid] + tile[31 - tid]


@cuda.jit
def first_warp_joined_kernel(x, out):
    """Joins the first warp with syncwarp."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    if tid < 32:
        tile[tid] += tile[tid + 32]
        cuda.syncwarp()
        out[tid] = tile[tid] + tile[31 - tid]


case(
    first_warp_barrier_kernel, first_warp_joined_kernel, BUG,
    arguments=lambda: (reals(BLOCK), blank(32)),
    expected=lambda x, out: (x[:32] + x[32:]) + (x[:32] + x[32:])[::-1],
)  # fmt: skip


@cuda.jit
def matmul_guarded_loop_kernel(a, b, out):
    """Guards the whole tile loop, with the barriers in it."""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if ty < out.shape[0] and tx < out.shape[1]:
        acc = np.float32(0)
        for t in range(a.shape[1] // TILE):
            a_tile[ty, tx] = a[ty, t * TILE + tx]
            b_tile[ty, tx] = b[t * TILE + ty, tx]
            cuda.syncthreads()  # BUG
            for k in range(TILE):
                acc += a_tile[ty, k] * b_tile[k, tx]
            cuda.syncthreads()
        out[ty, tx] = acc


@cuda.jit
def matmul_guarded_loads_kernel(a, b, out):
    """Guards the loads and the store."""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = np.float32(0)
    for t in range(a.shape[1] // TILE):
        a_tile[ty, tx] = a[ty, t * TILE + tx] if ty < a.shape[0] else np.float32(0)
        b_tile[ty, tx] = b[t * TILE + ty, tx] if tx < b.shape[1] else np.float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()
    if ty < out.shape[0] and tx < out.shape[1]:
        out[ty, tx] = acc


case(
    matmul_guarded_loop_kernel, matmul_guarded_loads_kernel, BUG, Launch(1, (TILE, TILE)),
    arguments=lambda: (reals(5, 2 * TILE), reals(2 * TILE, 7, seed=8), blank(5, 7)),
    expected=lambda a, b, out: a @ b,
)  # fmt: skip
