"""What speed.py times: kernels with data, and the best plain NumPy for the same.

Legend
    n        elements in the large arrays        10,000,000
    side     rows and columns of the 2-D ones    3162
    TILE     side of the transposed tile         32
    BINS     bins of the histogram, and threads  256
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpukit import cuda
from gpukit.kernels import reduce, reduce_trees, vector
from gpukit.kernels.matmul import tiled
from gpukit.launch import ceil_div, stride_blocks

TILE = 32
PADDED = TILE + 1
BINS = 256
BLOCK_X, BLOCK_Y = 32, 8

Work = Callable[[], object]


# --- Kernels that the book does not have yet --------------------------------------------------


def stencil_five_point_kernel(u, factor, out):
    """Do one step of heat flow, one thread for one inner element.

    New here   a thread reads its four neighbours; the edge has none and is left alone
    Shapes     u (rows, cols), factor scalar, out (rows, cols); any sizes >= 1, C order
    Dtypes     float32 in, float32 out
    Launch     block (BLOCK_X, BLOCK_Y), grid to cover out; x = col, y = row
    Shared     0 bytes
    Cost       bytes: 24 (rows - 2) (cols - 2); flops: 6 (rows - 2) (cols - 2); barriers: 0
    Errors     the kernel assumes equal shapes
    Source     ours
    """
    col, row = cuda.grid(2)
    if 0 < row < out.shape[0] - 1 and 0 < col < out.shape[1] - 1:
        around = u[row - 1, col] + u[row + 1, col] + u[row, col - 1] + u[row, col + 1]
        out[row, col] = u[row, col] + factor * (around - np.float32(4) * u[row, col])


def transpose_tiled_kernel(a, out):
    """Transpose a matrix, one block for one TILE x TILE tile.

    New here   the tile goes through shared memory, so that loads and stores are both coalesced;
               one column more in the tile keeps a column's words out of one bank
    Shapes     a (M, N), out (N, M); any sizes >= 1, C order
    Dtypes     float32 in, float32 out
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, TILE)); x = col, y = row
    Shared     TILE * PADDED * 4 bytes, static
    Cost       bytes: 8 M N; flops: 0; barriers: 1
    Errors     the kernel assumes out.shape == a.shape[::-1] and its block to be (TILE, TILE)
    Source     Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++", NVIDIA blog, 2013
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    tile = cuda.shared.array((TILE, PADDED), np.float32)
    if top + ty < a.shape[0] and left + tx < a.shape[1]:
        tile[ty, tx] = a[top + ty, left + tx]
    cuda.syncthreads()  # the tile is full before any thread reads it across
    if left + ty < out.shape[0] and top + tx < out.shape[1]:
        out[left + ty, top + tx] = tile[tx, ty]


def histogram_shared_kernel(values, counts):
    """Count how often each of BINS values occurs, each block in bins of its own.

    New here   atomics on shared memory: blocks do not meet in global memory but once a bin
    Shapes     values (n,), counts (BINS,); any n >= 1
    Dtypes     any integers in [0, BINS) in, int32 out
    Launch     block BINS, any grid; x = element
    Shared     BINS * 4 bytes, static
    Cost       bytes: n itemsize + 8 BINS blocks; flops: 0; barriers: 2
    Errors     the kernel assumes counts to be 0 before the launch, and its block to be BINS
    Source     Kirk and Hwu, Programming Massively Parallel Processors, 4th ed., chapter 9
    """
    tid = cuda.threadIdx.x
    bins = cuda.shared.array(BINS, np.int32)
    bins[tid] = 0
    cuda.syncthreads()  # all bins are 0 before any thread counts
    for i in range(cuda.grid(1), values.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(bins, values[i], 1)
    cuda.syncthreads()  # the block has counted all before its bins are read
    cuda.atomic.add(counts, tid, bins[tid])


# --- Cases: one kernel with data, and NumPy's best plain expression for the same --------------


@dataclass
class Case:
    """A comparison: `ours(kernel)` launches, `theirs` is the other side; both write into `out`."""

    name: str
    other: str
    kernel: Any
    ours: Callable[[Any], object]
    theirs: Work
    out: Any
    expected: Any
    tolerance: float = 0.0
    information: bool = False  # no figure to reach


def _normal(*shape: int) -> Any:
    return np.random.default_rng(20261120).normal(0.25, 1, shape).astype(np.float32)


def vector_add(n: int) -> Iterator[Case]:
    a, b, out = _normal(n), _normal(n)[::-1].copy(), np.full(n, np.nan, np.float32)
    grid = ceil_div(n, vector.BLOCK)
    yield Case(
        "vector add", "np.add(a, b, out=o)", vector.vector_add_kernel,
        lambda k: k[grid, vector.BLOCK](a, b, out), lambda: np.add(a, b, out=out), out, a + b,
    )  # fmt: skip


def saxpy(n: int) -> Iterator[Case]:
    x, y, out = _normal(n), _normal(n)[::-1].copy(), np.full(n, np.nan, np.float32)
    alpha = np.float32(2.5)
    grid = stride_blocks(n, vector.BLOCK)

    def theirs() -> None:
        np.multiply(x, alpha, out=out)
        np.add(out, y, out=out)

    yield Case(
        "saxpy, grid-stride", "np.multiply, np.add with out=", vector.saxpy_grid_stride_kernel,
        lambda k: k[grid, vector.BLOCK](alpha, x, y, out), theirs, out, alpha * x + y, 1e-5,
    )  # fmt: skip


def reduction(n: int) -> Iterator[Case]:
    x, out = _normal(n), np.full(1, np.nan, np.float32)
    blocks = ceil_div(n, reduce.BLOCK)
    few = stride_blocks(n, reduce.BLOCK)
    partials, last = np.empty(blocks, np.float32), np.empty(1, np.float32)
    expected = np.sum(x, dtype=np.float64)
    tolerance = 1e-5 * float(np.sum(np.abs(x), dtype=np.float64))

    def theirs() -> None:
        np.sum(x, out=out[0:1].reshape(()))

    def tree(kernel: Any) -> None:
        # A sum is done when the last partial sum is added: launch until one is left.
        source, target = x, partials
        while len(target) > 1:
            kernel[len(target), reduce.BLOCK](source, target)
            source, target = target, np.empty(ceil_div(len(target), reduce.BLOCK), np.float32)
        kernel[1, reduce.BLOCK](source, last)
        out[0] = last[0]

    def atomic(kernel: Any, grid: int) -> None:
        out[0] = 0
        kernel[grid, reduce.BLOCK](x, out)

    for name, kernel, ours in (
        ("block reduction, partials", reduce_trees.sum_sequential_kernel, tree),
        ("block reduction, atomic", reduce.sum_atomic_kernel, lambda k: atomic(k, blocks)),
        ("block reduction, grid-stride", reduce.sum_grid_stride_kernel, lambda k: atomic(k, few)),
    ):
        yield Case(name, "np.sum(x, out=o)", kernel, ours, theirs, out, expected, tolerance)


def stencil(n: int) -> Iterator[Case]:
    side = max(3, math.isqrt(n))
    u, factor = _normal(side, side), np.float32(0.2)
    out, scratch = u.copy(), np.empty((side - 2, side - 2), np.float32)
    inner, middle = out[1:-1, 1:-1], u[1:-1, 1:-1]
    grid = ceil_div(side, BLOCK_X), ceil_div(side, BLOCK_Y)

    def theirs() -> None:
        np.add(u[:-2, 1:-1], u[2:, 1:-1], out=inner)
        np.add(inner, u[1:-1, :-2], out=inner)
        np.add(inner, u[1:-1, 2:], out=inner)
        np.multiply(middle, np.float32(4), out=scratch)
        np.subtract(inner, scratch, out=inner)
        np.multiply(inner, factor, out=inner)
        np.add(inner, middle, out=inner)

    theirs()
    expected = out.copy()
    out[1:-1, 1:-1] = np.nan
    yield Case(
        f"5-point stencil {side} x {side}", "slices with out=", stencil_five_point_kernel,
        lambda k: k[grid, (BLOCK_X, BLOCK_Y)](u, factor, out), theirs, out, expected, 1e-5,
    )  # fmt: skip


def transpose(n: int) -> Iterator[Case]:
    side = math.isqrt(n)
    a, out = _normal(side, side), np.full((side, side), np.nan, np.float32)
    grid = ceil_div(side, TILE), ceil_div(side, TILE)
    yield Case(
        f"transpose {side} x {side}", "np.copyto(out, a.T)", transpose_tiled_kernel,
        lambda k: k[grid, (TILE, TILE)](a, out), lambda: np.copyto(out, a.T), out, a.T.copy(),
    )  # fmt: skip


def histogram(n: int) -> Iterator[Case]:
    counts = np.full(BINS, -1, np.int32)
    grid = stride_blocks(n, BINS)
    for dtype in (np.uint8, np.int64):
        values = np.random.default_rng(20261120).integers(0, BINS, n).astype(dtype)

        def ours(kernel: Any, values: Any = values) -> None:
            counts[:] = 0
            kernel[grid, BINS](values, counts)

        def bincount(values: Any = values) -> Any:
            return np.bincount(values, minlength=BINS)

        def histogram(values: Any = values) -> Any:
            return np.histogram(values, bins=BINS, range=(0, BINS))

        for other, theirs in (("np.bincount", bincount), ("np.histogram", histogram)):
            yield Case(
                f"histogram, {np.dtype(dtype).name}", other, histogram_shared_kernel, ours, theirs,
                counts, bincount().astype(np.int32), information=other == "np.histogram",
            )  # fmt: skip


def product(side: int) -> Iterator[Case]:
    from benchmarks import handwritten  # numba; only this case needs it

    a, b = _normal(side, side), _normal(side, side).T.copy()
    out, loops = np.full((side, side), np.nan, np.float32), handwritten.compiled()
    grid = ceil_div(side, tiled.TILE), ceil_div(side, tiled.TILE)
    for other, theirs, information in (
        ("same loops by hand", lambda: loops(a, b, out), False),
        ("np.matmul (BLAS)", lambda: np.matmul(a, b, out=out), True),
    ):
        yield Case(
            f"matmul tiled {side}", other, tiled.matmul_tiled_kernel,
            lambda k: k[grid, (tiled.TILE, tiled.TILE)](a, b, out), theirs, out,
            tiled.matmul_reference(a, b), 1e-4 * side, information,
        )  # fmt: skip


GROUPS: dict[str, Callable[[int], Iterator[Case]]] = {
    "vector_add": vector_add,
    "saxpy": saxpy,
    "reduction": reduction,
    "stencil": stencil,
    "transpose": transpose,
    "histogram": histogram,
}
