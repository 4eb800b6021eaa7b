"""Tensor cores of Hopper (wgmma): four warps multiply two tiles in shared memory at once.

A warpgroup is four warps, 128 threads, of which the first is a multiple of 128 in its block.
Together they add the product of a (64, 16) and b (16, 128), both bfloat16 and both read directly
from shared memory, to sums in registers. No thread loads anything of a or b.

    fence_shared()                        make this thread's stores and copies to shared memory
                                          visible to wgmma, from the next barrier on
    begin()                               sums are in registers; before the first wgmma of a batch
    wgmma(acc, a_tile, i, b_tile, j, k)   issue the product: rows 8 i to 8 i + 63 of a, columns
                                          8 j to 8 j + 127 of b, 8 k to 8 k + 15 between them
    finish()                              wait for all products issued

The tiles lie in shared memory as small matrices of 8 x 8, 128 bytes each without padding: a_tile is
(rows / 8, between / 8, 8, 8), b_tile (between / 8, columns / 8, 8, 8), uint16 that are the bits of
bfloat16. The hardware takes each as a matrix descriptor, which resembles a NumPy view: a start
address and two strides.

A thread has 64 of the sums. With warp its index in the warpgroup, group = lane // 4 and in_group =
lane % 4, they are for n = 0 to 15

    acc[4 n], acc[4 n + 1]       c[16 warp + group, 8 n + 2 in_group], and the next column
    acc[4 n + 2], acc[4 n + 3]   the same, 8 rows below

On a GPU these are instructions (`warpgroup_gpu`) that only compute capability 9.0 has. Without one
each thread adds up its own sums from shared memory. Source: NVIDIA, "Parallel Thread Execution
ISA", wgmma.mma_async.m64n128k16.
"""

from __future__ import annotations

import numpy as np

from gpukit import cuda
from gpukit.primitives import of_this_target
from gpukit.primitives.tensor import float_of

__all__ = ["ONLY", "SUMS", "THREADS", "begin", "fence_shared", "finish", "wgmma"]

ONLY = (9, 0)  # the only compute capability that has them
THREADS = 128
SUMS = 64  # per thread


@cuda.jit(device=True)
def fence_shared():
    """Make this thread's stores to shared memory visible to wgmma, from the next barrier on."""


@cuda.jit(device=True)
def begin():
    """Order a thread's earlier use of its sums before the wgmma that follow."""


@cuda.jit(device=True)
def finish():
    """Wait for all wgmma that were issued."""


@cuda.jit(device=True)
def wgmma(acc, a_tile, i, b_tile, j, k):
    """Add the product of 64 rows of a_tile and 128 columns of b_tile to a thread's sums."""
    thread = cuda.threadIdx.x + cuda.blockDim.x * (
        cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z
    )
    group, c = cuda.laneid // 4, cuda.laneid % 4 * 2
    top = i + thread % THREADS // 32 * 2
    values = cuda.local.array((2, 16), np.float32)
    for half in range(2):
        for between in range(16):
            values[half, between] = float_of(
                a_tile[top + half, k + between // 8, group, between % 8]
            )
    for n in range(SUMS // 4):
        for between in range(16):
            row = between % 8
            left = float_of(b_tile[k + between // 8, j + n, row, c])
            right = float_of(b_tile[k + between // 8, j + n, row, c + 1])
            for half in range(2):
                acc[4 * n + 2 * half] += values[half, between] * left
                acc[4 * n + 2 * half + 1] += values[half, between] * right


fence_shared, begin, finish, wgmma = of_this_target("warpgroup", fence_shared, begin, finish, wgmma)
