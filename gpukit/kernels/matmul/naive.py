"""Matrix product, the naive kernels: one element of out per thread.

A GPU moves memory in sectors of 32 bytes. All sectors and bank conflicts below are for one load or
store of float32 by a full warp, with rows that begin at multiples of 32 bytes; `gpukit.profile`
counts them, and the requests to shared memory. A warp is two rows of a block.

Legend
    M, N, K     rows of a, columns of b, and the summed axis  31, 65, 33
    row, col    the element of out that this thread computes  [0, M), [0, N)
    k           the summed axis                               [0, K)
    TILE        side of the block                             16

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulator
    Errors     the host function rejects a.shape[1] != b.shape[0]; the kernel assumes them equal
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.launch import Cost, Variant

TILE = 16


def matmul_reference(a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return a b, accumulated in float64: float32 would hide the error of the kernel."""
    return np.asarray(a, np.float64) @ np.asarray(b, np.float64)


@cuda.jit
def matmul_uncoalesced_kernel(a, b, out):
    """Multiply two matrices, one element of out per thread, x along the rows.

    New here   deliberately slow: x runs over rows, so neighbouring threads access elements of one
               column. A warp has 16 rows and 2 columns of out: it loads from 16 rows of a, 16
               sectors, and 1 sector of b, and stores to 16 sectors. With x along the columns,
               as in the next kernel, it is 2 and 2, and 4. Nothing else differs
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Launch     block (TILE, TILE), grid (ceil_div(M, TILE), ceil_div(N, TILE)); x = row, y = col
    Cost       bytes: itemsize M N (2 K + 1); flops: 2 M N K; barriers: 0
    Source     Simon Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance",
               2022, begins with the same mistake
    """
    row, col = cuda.grid(2)  # exchanged: the only difference from matmul_naive_kernel
    if row < out.shape[0] and col < out.shape[1]:
        acc = out.dtype.type(0)
        for k in range(a.shape[1]):
            acc += a[row, k] * b[k, col]
        out[row, col] = acc


@cuda.jit
def matmul_naive_kernel(a, b, out):
    """Multiply two matrices, one element of out per thread.

    New here   each thread walks a row of a and a column of b. The threads of a half-warp load the
               same element of a and neighbouring elements of b, so both loads are coalesced
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, TILE)); x = col, y = row
    Cost       bytes: itemsize M N (2 K + 1); flops: 2 M N K; barriers: 0
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., chapter 3
    """
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        acc = out.dtype.type(0)
        for k in range(a.shape[1]):
            acc += a[row, k] * b[k, col]
        out[row, col] = acc


def matmul_naive_cost(m: int, n: int, k: int, itemsize: int = 4) -> Cost:
    """Per element of out: 2 K loads and one store, K multiplications and K additions."""
    return Cost(bytes=itemsize * m * n * (2 * k + 1), flops=2 * m * n * k)


_variant = functools.partial(Variant, reference=matmul_reference, block=(TILE, TILE))
VARIANTS = (
    _variant("uncoalesced", matmul_uncoalesced_kernel, matmul_naive_cost, x_is_row=True),
    _variant("naive", matmul_naive_kernel, matmul_naive_cost),
)
__all__ = launch.public_names(globals())
