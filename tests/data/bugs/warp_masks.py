"""Warp operations whose mask names lanes that do not take part, or that leaves the caller out."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, counts, reals

WARP = 32
FULL = 0xFFFFFFFF
LOWER = 0x0000FFFF
ONE = Launch(1, WARP)


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


correct(sum_half_mask_kernel, lambda: (reals(WARP), blank(1)), lambda x, out: [x[:16].sum()], ONE)
bug(
    sum_half_mask_kernel,
    "sum_half_warp",
    "warp-mask",
    """
Lets half of the warp add up, and names all of it.
-            acc += cuda.shfl_xor_sync(LOWER, acc, offset)
+            acc += cuda.shfl_xor_sync(FULL, acc, offset)  # BUG
""",
)


@cuda.jit
def sum_shuffle_kernel(x, out):
    """Lets lanes past the end bring a zero."""
    i = cuda.grid(1)
    acc = x[i] if i < x.shape[0] else np.int32(0)
    for offset in (16, 8, 4, 2, 1):
        acc += cuda.shfl_down_sync(FULL, acc, offset)
    if i % WARP == 0:
        cuda.atomic.add(out, 0, acc)


correct(
    sum_shuffle_kernel,
    lambda: (counts(BLOCK - 14, 40), np.zeros(1, np.int32)),
    lambda x, out: [x.sum()],
)
bug(
    sum_shuffle_kernel,
    "sum_guarded_shuffle",
    "warp-mask",
    """
Shuffles behind the guard of the array's end.
-    acc = x[i] if i < x.shape[0] else np.int32(0)
-    for offset in (16, 8, 4, 2, 1):
-        acc += cuda.shfl_down_sync(FULL, acc, offset)
-    if i % WARP == 0:
-        cuda.atomic.add(out, 0, acc)
+    if i < x.shape[0]:
+        acc = x[i]
+        for offset in (16, 8, 4, 2, 1):
+            acc += cuda.shfl_down_sync(FULL, acc, offset)  # BUG
+        if i % WARP == 0:
+            cuda.atomic.add(out, 0, acc)
""",
)


@cuda.jit
def neighbours_kernel(x, out):
    """Names all lanes."""
    lane = cuda.threadIdx.x
    out[lane] = cuda.shfl_xor_sync(FULL, x[lane], 1)


correct(
    neighbours_kernel,
    lambda: (reals(WARP), blank(WARP)),
    lambda x, out: x.reshape(-1, 2)[:, ::-1].ravel(),
    ONE,
)
bug(
    neighbours_kernel,
    "neighbours_lower_mask",
    "warp-mask",
    """
Shuffles with all lanes and a mask of half of them: the others are not in their own mask.
-    out[lane] = cuda.shfl_xor_sync(FULL, x[lane], 1)
+    out[lane] = cuda.shfl_xor_sync(LOWER, x[lane], 1)  # BUG
""",
)


@cuda.jit
def exchange_half_mask_kernel(x, out):
    """Joins the lanes that are there."""
    tile = cuda.shared.array(16, np.float32)
    lane = cuda.threadIdx.x
    if lane < 16:
        tile[lane] = x[lane]
        cuda.syncwarp(LOWER)
        out[lane] = tile[15 - lane]


correct(exchange_half_mask_kernel, lambda: (reals(16), blank(16)), lambda x, out: x[::-1], ONE)
bug(
    exchange_half_mask_kernel,
    "exchange_half_joined",
    "warp-mask",
    """
Joins the whole warp from inside a branch that half of it takes.
-        cuda.syncwarp(LOWER)
+        cuda.syncwarp()  # BUG
""",
)


@cuda.jit
def exchange_full_mask_kernel(x, out):
    """Joins all lanes."""
    tile = cuda.shared.array(WARP, np.float32)
    lane = cuda.threadIdx.x
    tile[lane] = x[lane]
    cuda.syncwarp(FULL)
    out[lane] = tile[lane ^ 1]


correct(
    exchange_full_mask_kernel,
    lambda: (reals(WARP), blank(WARP)),
    lambda x, out: x.reshape(-1, 2)[:, ::-1].ravel(),
    ONE,
)
bug(
    exchange_full_mask_kernel,
    "exchange_lower_mask",
    "warp-mask",
    """
Joins the warp with a mask that leaves the upper half of the callers out.
-    cuda.syncwarp(FULL)
+    cuda.syncwarp(LOWER)  # BUG
""",
)


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


correct(halve_together_kernel, lambda: (counts(WARP, 20), np.full(WARP, -1, np.int32)), halved, ONE)
bug(
    halve_together_kernel,
    "halve_until_small",
    "warp-mask",
    """
Shuffles in a loop that each lane leaves at a time of its own.
-        if cuda.all_sync(FULL, value <= 4):
+        if value <= 4:
             break
         value = cuda.shfl_xor_sync(FULL, value, 1) // 2  # BUG
""",
)


@cuda.jit
def broadcast_kernel(x, out):
    """Shuffles with the lanes that are there: all of them."""
    lane = cuda.threadIdx.x
    mask = cuda.ballot_sync(FULL, x[lane] > np.float32(0))
    leader = cuda.ffs(mask) - 1
    out[lane] = cuda.shfl_sync(FULL, x[lane], leader)


correct(
    broadcast_kernel,
    lambda: (reals(WARP), blank(WARP)),
    lambda x, out: np.full(WARP, x[x > 0][0]),
    ONE,
)
bug(
    broadcast_kernel,
    "broadcast_stale_mask",
    "warp-mask",
    """
Asks who is positive, and then shuffles with that mask in all lanes.
-    out[lane] = cuda.shfl_sync(FULL, x[lane], leader)
+    out[lane] = cuda.shfl_sync(mask, x[lane], leader)  # BUG
""",
)
