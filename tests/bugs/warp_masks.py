"""Warp operations whose mask names lanes that do not take part, or that leaves the caller out."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, counts, reals

WARP = 32
FULL = 0xFFFFFFFF
LOWER = 0x0000FFFF
ONE = Launch(1, WARP)


@cuda.jit
def sum_half_warp_kernel(x, out):
    """Lets half of the warp add up, and names all of it."""
    lane = cuda.threadIdx.x
    if lane < 16:
        acc = x[lane]
        for offset in (8, 4, 2, 1):
            acc += cuda.shfl_xor_sync(FULL, acc, offset)  # BUG
        if lane == 0:
            out[0] = acc


@cuda.jit
def sum_half_mask_kernel(x, out):
    """Names the half that adds."""
    lane = cuda.threadIdx.x
    if lane < 16:
        acc = x[lane]
        for offset in (8, 4, 2, 1):
            acc += cuda.shfl_xor_sync(LOWER, acc, offset)
        if lane == 0:
            out[0] = acc


case(
    sum_half_warp_kernel, sum_half_mask_kernel, "warp-mask", ONE,
    arguments=lambda: (reals(WARP), blank(1)),
    expected=lambda x, out: [x[:16].sum()],
)  # fmt: skip


@cuda.jit
def sum_guarded_shuffle_kernel(x, out):
    """Shuffles behind the guard of the array's end."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        acc = x[i]
        for offset in (16, 8, 4, 2, 1):
            acc += cuda.shfl_down_sync(FULL, acc, offset)  # BUG
        if i % WARP == 0:
            cuda.atomic.add(out, 0, acc)


@cuda.jit
def sum_shuffle_kernel(x, out):
    """Lets lanes past the end bring a zero."""
    i = cuda.grid(1)
    acc = x[i] if i < x.shape[0] else np.int32(0)
    for offset in (16, 8, 4, 2, 1):
        acc += cuda.shfl_down_sync(FULL, acc, offset)
    if i % WARP == 0:
        cuda.atomic.add(out, 0, acc)


case(
    sum_guarded_shuffle_kernel, sum_shuffle_kernel, "warp-mask",
    arguments=lambda: (counts(BLOCK - 14, 40), np.zeros(1, np.int32)),
    expected=lambda x, out: [x.sum()],
)  # fmt: skip


@cuda.jit
def neighbours_lower_mask_kernel(x, out):
    """Shuffles with all lanes and a mask of half of them: the others are not in their own mask."""
    lane = cuda.threadIdx.x
    out[lane] = cuda.shfl_xor_sync(LOWER, x[lane], 1)  # BUG


@cuda.jit
def neighbours_kernel(x, out):
    """Names all lanes."""
    lane = cuda.threadIdx.x
    out[lane] = cuda.shfl_xor_sync(FULL, x[lane], 1)


case(
    neighbours_lower_mask_kernel, neighbours_kernel, "warp-mask", ONE,
    arguments=lambda: (reals(WARP), blank(WARP)),
    expected=lambda x, out: x.reshape(-1, 2)[:, ::-1].ravel(),
)  # fmt: skip


@cuda.jit
def exchange_half_joined_kernel(x, out):
    """Joins the whole warp from inside a branch that half of it takes."""
    tile = cuda.shared.array(16, np.float32)
    lane = cuda.threadIdx.x
    if lane < 16:
        tile[lane] = x[lane]
        cuda.syncwarp()  # BUG
        out[lane] = tile[15 - lane]


@cuda.jit
def exchange_half_mask_kernel(x, out):
    """Joins the lanes that are there."""
    tile = cuda.shared.array(16, np.float32)
    lane = cuda.threadIdx.x
    if lane < 16:
        tile[lane] = x[lane]
        cuda.syncwarp(LOWER)
        out[lane] = tile[15 - lane]


case(
    exchange_half_joined_kernel, exchange_half_mask_kernel, "warp-mask", ONE,
    arguments=lambda: (reals(16), blank(16)),
    expected=lambda x, out: x[::-1],
)  # fmt: skip


@cuda.jit
def exchange_lower_mask_kernel(x, out):
    """Joins the warp with a mask that leaves the upper half of the callers out."""
    tile = cuda.shared.array(WARP, np.float32)
    lane = cuda.threadIdx.x
    tile[lane] = x[lane]
    cuda.syncwarp(LOWER)  # BUG
    out[lane] = tile[lane ^ 1]


@cuda.jit
def exchange_full_mask_kernel(x, out):
    """Joins all lanes."""
    tile = cuda.shared.array(WARP, np.float32)
    lane = cuda.threadIdx.x
    tile[lane] = x[lane]
    cuda.syncwarp(FULL)
    out[lane] = tile[lane ^ 1]


case(
    exchange_lower_mask_kernel, exchange_full_mask_kernel, "warp-mask", ONE,
    arguments=lambda: (reals(WARP), blank(WARP)),
    expected=lambda x, out: x.reshape(-1, 2)[:, ::-1].ravel(),
)  # fmt: skip


@cuda.jit
def halve_until_small_kernel(x, out):
    """Shuffles in a loop that each lane leaves at a time of its own."""
    lane = cuda.threadIdx.x
    value = x[lane]
    for _ in range(6):
        if value <= 4:
            break
        value = cuda.shfl_xor_sync(FULL, value, 1) // 2  # BUG
    out[lane] = value


@cuda.jit
def halve_together_kernel(x, out):
    """Lets the warp decide together when to stop."""
    lane = cuda.threadIdx.x
    value = x[lane]
    for _ in range(6):
        if cuda.all_sync(FULL, value <= 4):
            break
        value = cuda.shfl_xor_sync(FULL, value, 1) // 2
    out[lane] = value


def halved(x, out):
    while (x > 4).any():
        x = x.reshape(-1, 2)[:, ::-1].ravel() // 2
    return x


case(
    halve_until_small_kernel, halve_together_kernel, "warp-mask", ONE,
    arguments=lambda: (counts(WARP, 20), np.full(WARP, -1, np.int32)),
    expected=halved,
)  # fmt: skip


@cuda.jit
def broadcast_stale_mask_kernel(x, out):
    """Asks who is positive, and then shuffles with that mask in all lanes."""
    lane = cuda.threadIdx.x
    mask = cuda.ballot_sync(FULL, x[lane] > np.float32(0))
    leader = cuda.ffs(mask) - 1
    out[lane] = cuda.shfl_sync(mask, x[lane], leader)  # BUG


@cuda.jit
def broadcast_kernel(x, out):
    """Shuffles with the lanes that are there: all of them."""
    lane = cuda.threadIdx.x
    mask = cuda.ballot_sync(FULL, x[lane] > np.float32(0))
    leader = cuda.ffs(mask) - 1
    out[lane] = cuda.shfl_sync(FULL, x[lane], leader)


case(
    broadcast_stale_mask_kernel, broadcast_kernel, "warp-mask", ONE,
    arguments=lambda: (reals(WARP), blank(WARP)),
    expected=lambda x, out: np.full(WARP, x[x > 0][0]),
)  # fmt: skip
