"""Matrix product: out = a b, from one thread for one element to tiles in registers.

A GPU moves memory in sectors of 32 bytes. All sectors and conflicts below are for one load or store
of float32 by a full warp, with rows that begin at multiples of 32 bytes; `gpukit.profile` counts
them, and the requests to shared memory too. A warp is two rows of a block.

Legend
    M, N, K     rows of a, columns of b, and the axis that is summed away   31, 65, 33
    row, col    an element of out that this thread computes                 [0, M), [0, N)
    k           the summed axis, within a tile in the kernels with tiles    [0, K) or [0, TILE)
    t           where the present tiles begin along the summed axis         0, 16, 32, ...
    tx, ty      the thread's column and row in its block                    [0, TILE)
    TILE        side of the block, and of the smaller tiles                 16
    i, j        which of a thread's own rows, columns of out                [0, PER_THREAD)
    PER_THREAD  how many rows, and how many columns, a thread has           8
    SIDE        what a block has of them then, TILE * PER_THREAD            128
    first_row   where the part of out that a block computes begins          0, 128, 256, ...
    first_col   the same along the columns                                  0, 128, 256, ...
    r, c        a row of the tile of a, a column of the tile of b           [0, SIDE)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels import matmul_bf16, matmul_tensor, matmul_wide
from gpukit.launch import Cost, Rung
from gpukit.primitives import tensor, warpgroup

TILE = 16
PER_THREAD = 8
SIDE = TILE * PER_THREAD

# Widths with columns that nobody uses, against bank conflicts; a shape must be a name, not a sum.
PADDED_TILE = TILE + 2
PADDED_SIDE = SIDE + TILE

# Rungs that move rows in quads, some of which multiply in TF32, and those of bfloat16.
TF32 = frozenset(rung.name for rung in matmul_tensor.LADDER)
IN_QUADS = TF32 | {rung.name for rung in matmul_wide.LADDER}
BF16 = frozenset(rung.name for rung in matmul_bf16.MATMUL_LADDER)
ONLY = {"warpgroup_bf16": warpgroup.ONLY}  # rungs that one compute capability has, and no other

# What a block computes of out, (cols, rows), where a thread computes more than one element.
PARTS = {
    "register_tile_1d": (TILE, SIDE),
    "register_tile_2d": (SIDE, SIDE),
    **dict.fromkeys((*IN_QUADS, "tensor_bf16"), (SIDE, SIDE)),
    "warpgroup_bf16": (SIDE, matmul_bf16.TALL),
}


# --- Reference -------------------------------------------------------------------------------


def matmul_reference(a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return a b, summed in float64: the error of a float32 sum would hide the kernel's own."""
    return np.asarray(a, np.float64) @ np.asarray(b, np.float64)


# --- One thread for one element --------------------------------------------------------------


@cuda.jit
def matmul_uncoalesced_kernel(a, b, out):
    """Multiply two matrices, one thread for one element of out, x along the rows.

    New here   slow on purpose: x runs over rows, so threads side by side take elements of one
               column. A warp has 16 rows and 2 columns of out: it loads from 16 rows of a, 16
               sectors, and 1 sector of b, and stores into 16 sectors. With x along the columns,
               as in the next kernel, it is 2 and 2, and 4. Nothing else differs
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Dtypes     float32 or float64, one for all arrays and the accumulator
    Launch     block (TILE, TILE), grid (ceil_div(M, TILE), ceil_div(N, TILE)); x = row, y = col
    Shared     0 bytes
    Cost       bytes: itemsize M N (2 K + 1); flops: 2 M N K; barriers: 0
    Errors     the host function rejects a.shape[1] != b.shape[0]; the kernel assumes them equal
    Source     Simon Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance",
               2022, begins with the same fault
    """
    row, col = cuda.grid(2)  # the wrong way round, and that is the whole difference
    if row < out.shape[0] and col < out.shape[1]:
        acc = out.dtype.type(0)
        for k in range(a.shape[1]):
            acc += a[row, k] * b[k, col]
        out[row, col] = acc


def matmul_uncoalesced_cost(m: int, n: int, k: int, itemsize: int = 4) -> Cost:
    """The work of matmul_naive_cost: the order does not change what is asked for."""
    return matmul_naive_cost(m, n, k, itemsize)


@cuda.jit
def matmul_naive_kernel(a, b, out):
    """Multiply two matrices, one thread for one element of out.

    New here   each thread walks a row of a and a column of b; threads side by side share each
               element of a and read neighbouring elements of b, so both loads are coalesced
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Dtypes     float32 or float64, one for all arrays and the accumulator
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, TILE)); x = col, y = row
    Shared     0 bytes
    Cost       bytes: itemsize M N (2 K + 1); flops: 2 M N K; barriers: 0
    Errors     the host function rejects a.shape[1] != b.shape[0]; the kernel assumes them equal
    Source     Kirk and Hwu, Programming Massively Parallel Processors, 4th ed., chapter 3
    """
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        acc = out.dtype.type(0)
        for k in range(a.shape[1]):
            acc += a[row, k] * b[k, col]
        out[row, col] = acc


def matmul_naive_cost(m: int, n: int, k: int, itemsize: int = 4) -> Cost:
    """For each element of out: 2 K loads and one store, K multiplications and K additions."""
    return Cost(bytes=itemsize * m * n * (2 * k + 1), flops=2 * m * n * k)


# --- Tiles in shared memory ------------------------------------------------------------------


@cuda.jit
def matmul_tiled_kernel(a, b, out):
    """Multiply two matrices, one block for one TILE x TILE tile of out.

    New here   the threads of a block load a tile of a and a tile of b together, once, into
               shared memory, and each then reads 2 TILE values from there: TILE times fewer
               loads from global memory; what lies outside the matrices is loaded as zero
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Dtypes     float32 or float64, one for all arrays and the accumulator
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, TILE)); x = col, y = row
    Shared     2 * TILE * TILE * itemsize bytes, static
    Cost       bytes: itemsize (M K ceil_div(N, TILE) + K N ceil_div(M, TILE) + M N);
               flops: 2 M' N' K', each size rounded up to a multiple of TILE;
               barriers: 2 ceil_div(K, TILE)
    Errors     the host function rejects a.shape[1] != b.shape[0]; the kernel assumes them
               equal, and its block to be exactly (TILE, TILE)
    Source     Kirk and Hwu, Programming Massively Parallel Processors, 4th ed., chapter 5
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m, k_size, n = a.shape[0], a.shape[1], b.shape[1]
    a_tile = cuda.shared.array((TILE, TILE), out.dtype)
    b_tile = cuda.shared.array((TILE, TILE), out.dtype)
    acc = out.dtype.type(0)
    for t in range(0, k_size, TILE):
        # Guarded loads, not an early return: every thread must reach the barriers.
        a_tile[ty, tx] = a[row, t + tx] if row < m and t + tx < k_size else out.dtype.type(0)
        b_tile[ty, tx] = b[t + ty, col] if t + ty < k_size and col < n else out.dtype.type(0)
        cuda.syncthreads()  # both tiles are full before any thread reads them
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()  # all have read both tiles before any thread loads the next ones
    if row < m and col < n:
        out[row, col] = acc


def matmul_tiled_cost(m: int, n: int, k: int, itemsize: int = 4) -> Cost:
    """One load of a and one of b for each thread and tile, as far as they lie inside."""
    return matmul_wide.tiles_cost(m, n, k, TILE, TILE, TILE, itemsize)


@cuda.jit
def matmul_padded_kernel(a, b, out):
    """Multiply two matrices, one block for one TILE x TILE tile of out, the tile of a on its side.

    New here   a_tile is stored on its side, a column of a as a row, so that a thread with several
               rows could read them side by side. Without padding the 32 stores of a warp would fall
               into 4 banks, 8 into each: 7 conflicts. Two more columns move each row of the tile 2
               banks on, and the stores fall into 32; with one, the two columns that a warp stores
               would meet in one bank. This gains nothing yet: the tiled kernel has no conflicts
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Dtypes     float32 or float64, one for all arrays and the accumulator
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, TILE)); x = col, y = row
    Shared     TILE * (TILE + PADDED_TILE) * itemsize bytes, static
    Cost       bytes: itemsize (M K ceil_div(N, TILE) + K N ceil_div(M, TILE) + M N);
               flops: 2 M' N' K', each size rounded up to a multiple of TILE;
               barriers: 2 ceil_div(K, TILE)
    Errors     the host function rejects a.shape[1] != b.shape[0]; the kernel assumes them
               equal, and its block to be exactly (TILE, TILE)
    Source     ours; padding from Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++", 2013
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m, k_size, n = a.shape[0], a.shape[1], b.shape[1]
    a_tile = cuda.shared.array((TILE, PADDED_TILE), out.dtype)
    b_tile = cuda.shared.array((TILE, TILE), out.dtype)
    acc = out.dtype.type(0)
    for t in range(0, k_size, TILE):
        a_tile[tx, ty] = a[row, t + tx] if row < m and t + tx < k_size else out.dtype.type(0)
        b_tile[ty, tx] = b[t + ty, col] if t + ty < k_size and col < n else out.dtype.type(0)
        cuda.syncthreads()  # both tiles are full before any thread reads them
        for k in range(TILE):
            acc += a_tile[k, ty] * b_tile[k, tx]
        cuda.syncthreads()  # all have read both tiles before any thread loads the next ones
    if row < m and col < n:
        out[row, col] = acc


def matmul_padded_cost(m: int, n: int, k: int, itemsize: int = 4) -> Cost:
    """The work of matmul_tiled_cost: banks are not bytes."""
    return matmul_tiled_cost(m, n, k, itemsize)


# --- Tiles in registers ----------------------------------------------------------------------


@cuda.jit
def matmul_register_tile_1d_kernel(a, b, out):
    """Multiply two matrices, one thread for PER_THREAD elements of one column of out.

    New here   several elements for a thread, their sums in registers: that is where a local
               array lies, once the compiler has unrolled all loops over it and knows every
               index. A column of the tile of b goes there too, to be used for 8 rows: 9 reads
               of shared memory for 8 products, where the tiled kernel has 16. And the tile of
               a is 8 times as high, so b is loaded 8 times less often. The rows of a thread
               lie TILE apart, so that a warp stores parts of two rows, as before
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Dtypes     float32 or float64, one for all arrays and the accumulators
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, SIDE)); x = col, y = row
    Shared     (SIDE + TILE) * TILE * itemsize bytes, static
    Cost       bytes: itemsize (M K ceil_div(N, TILE) + K N ceil_div(M, SIDE) + M N);
               flops: 2 M' N' K', with M rounded up to a multiple of SIDE, N and K of TILE;
               barriers: 2 ceil_div(K, TILE)
    Errors     the host function rejects a.shape[1] != b.shape[0]; the kernel assumes them
               equal, and its block to be exactly (TILE, TILE)
    Source     Kirk and Hwu, Programming Massively Parallel Processors, 4th ed., chapter 6
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m, k_size, n = a.shape[0], a.shape[1], b.shape[1]
    first_row, col = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * TILE + tx
    a_tile = cuda.shared.array((SIDE, TILE), out.dtype)
    b_tile = cuda.shared.array((TILE, TILE), out.dtype)
    acc = cuda.local.array(PER_THREAD, out.dtype)
    b_values = cuda.local.array(TILE, out.dtype)
    for i in range(PER_THREAD):
        acc[i] = out.dtype.type(0)
    for t in range(0, k_size, TILE):
        for i in range(PER_THREAD):
            r = ty + i * TILE
            row = first_row + r
            a_tile[r, tx] = a[row, t + tx] if row < m and t + tx < k_size else out.dtype.type(0)
        b_tile[ty, tx] = b[t + ty, col] if t + ty < k_size and col < n else out.dtype.type(0)
        cuda.syncthreads()  # both tiles are full before any thread reads them
        for k in range(TILE):
            b_values[k] = b_tile[k, tx]
        for i in range(PER_THREAD):
            for k in range(TILE):
                acc[i] += a_tile[ty + i * TILE, k] * b_values[k]
        cuda.syncthreads()  # all have read both tiles before any thread loads the next ones
    for i in range(PER_THREAD):
        row = first_row + ty + i * TILE
        if row < m and col < n:
            out[row, col] = acc[i]


def matmul_register_tile_1d_cost(m: int, n: int, k: int, itemsize: int = 4) -> Cost:
    """One load of a for TILE columns of out, one load of b for SIDE rows."""
    return matmul_wide.tiles_cost(m, n, k, TILE, SIDE, TILE, itemsize)


@cuda.jit
def matmul_register_tile_2d_kernel(a, b, out):
    """Multiply two matrices, one thread for PER_THREAD x PER_THREAD elements of out.

    New here   a square of sums in registers: a value of b is used for 8 rows and a value of a
               for 8 columns, 2 reads of shared memory for 8 products. Both tiles are 8 times as
               large, so both matrices are loaded 8 times less often than by the tiled kernel.
               A warp fills two rows of b_tile, hence its padding
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Dtypes     float32 or float64, one for all arrays and the accumulators
    Launch     block (TILE, TILE), grid (ceil_div(N, SIDE), ceil_div(M, SIDE)); x = col, y = row
    Shared     (SIDE + PADDED_SIDE) * TILE * itemsize bytes, static
    Cost       bytes: itemsize (M K ceil_div(N, SIDE) + K N ceil_div(M, SIDE) + M N);
               flops: 2 M' N' K', with M and N rounded up to multiples of SIDE, K of TILE;
               barriers: 2 ceil_div(K, TILE)
    Errors     the host function rejects a.shape[1] != b.shape[0]; the kernel assumes them
               equal, and its block to be exactly (TILE, TILE)
    Source     Volkov and Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", SC 2008
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m, k_size, n = a.shape[0], a.shape[1], b.shape[1]
    first_row, first_col = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    a_tile = cuda.shared.array((SIDE, TILE), out.dtype)
    b_tile = cuda.shared.array((TILE, PADDED_SIDE), out.dtype)
    acc = cuda.local.array((PER_THREAD, PER_THREAD), out.dtype)
    b_values = cuda.local.array(PER_THREAD, out.dtype)
    for i in range(PER_THREAD):
        for j in range(PER_THREAD):
            acc[i, j] = out.dtype.type(0)
    for t in range(0, k_size, TILE):
        for i in range(PER_THREAD):
            r, c = ty + i * TILE, tx + i * TILE
            row, col = first_row + r, first_col + c
            a_tile[r, tx] = a[row, t + tx] if row < m and t + tx < k_size else out.dtype.type(0)
            b_tile[ty, c] = b[t + ty, col] if t + ty < k_size and col < n else out.dtype.type(0)
        cuda.syncthreads()  # both tiles are full before any thread reads them
        for k in range(TILE):
            for j in range(PER_THREAD):
                b_values[j] = b_tile[k, tx + j * TILE]
            for i in range(PER_THREAD):
                a_value = a_tile[ty + i * TILE, k]
                for j in range(PER_THREAD):
                    acc[i, j] += a_value * b_values[j]
        cuda.syncthreads()  # all have read both tiles before any thread loads the next ones
    for i in range(PER_THREAD):
        for j in range(PER_THREAD):
            row, col = first_row + ty + i * TILE, first_col + tx + j * TILE
            if row < m and col < n:
                out[row, col] = acc[i, j]


def matmul_register_tile_2d_cost(m: int, n: int, k: int, itemsize: int = 4) -> Cost:
    """One load of a for SIDE columns of out, one load of b for SIDE rows."""
    return matmul_wide.tiles_cost(m, n, k, SIDE, SIDE, TILE, itemsize)


# --- Host functions --------------------------------------------------------------------------


def matmul(a: Any, b: Any, *, rung: str = "tiled", out: Any = None, stream: Any = 0) -> Any:
    """Return the product of two float32 or two float64 matrices.

    (M, K) and (K, N) give (M, N): `[[1. 2.]] @ [[3.] [4.]]` is `[[11.]]`. A sum over K = 0 is
    zero. The result is a device array if a or b is one; written to `out` where it is given. Only
    the rungs of this file take float64. Those of `matmul_wide` and `matmul_tensor` take K and N in
    multiples of 4, in C order from a multiple of 16 bytes on; for others they hand over to
    register_tile_2d, which gives the bits of all rungs but those on tensor cores: tensor_tf32
    rounds a and b to 10 bits of fraction, those of `matmul_bf16` to 7; they take any sizes, and
    uint16 too, the bits of bfloat16. Raises TypeError for other or mixed dtypes, ValueError for
    shapes that do not fit, an unknown rung or an out on the memory of a or b, LaunchError (a
    ValueError) for more than 65535 blocks of rows (uncoalesced: of columns) and for a GPU without
    the tensor cores that a rung wants.
    """
    chosen = launch.pick("matmul", RUNGS, rung)
    if rung in TF32 | BF16:
        tensor.check_device("matmul", rung, only=ONLY.get(rung))
    a, b = launch.adopt(a), launch.adopt(b)
    _check_operands(rung, a, b)
    m, k, n = a.shape[0], a.shape[1], b.shape[1]
    dtype = np.float32 if rung in BF16 else a.dtype
    result = launch.Result("matmul", out, (m, n), dtype, a, b, stream=stream)
    launch.check_no_overlap("matmul", out, a=a, b=b)
    if k == 0:  # a product of zeros has the same shape and something to multiply
        a, b = np.zeros((m, 1), dtype), np.zeros((1, n), dtype)
    if m and n and rung in BF16:
        matmul_bf16.multiply(chosen.kernel, a, b, result.array, grid_of(rung, m, n), stream)
    elif m and n:
        arrays = launch.to_device(a, stream), launch.to_device(b, stream), result.array
        if rung in IN_QUADS and not matmul_wide.fits(*arrays):
            chosen = launch.pick("matmul", RUNGS, "register_tile_2d")
        chosen.kernel[grid_of(chosen.name, m, n), (TILE, TILE), stream](*arrays)
    return result.get()


def grid_of(rung: str, m: int, n: int) -> tuple[int, int]:
    """Return the grid, of blocks of TILE x TILE threads, with which a rung covers (m, n)."""
    cols_rows = (m, n) if rung == "uncoalesced" else (n, m)
    return launch.grid_2d("matmul", *cols_rows, PARTS.get(rung, (TILE, TILE)))


def reference_of(rung: str) -> Callable[[npt.ArrayLike, npt.ArrayLike], npt.NDArray[np.float64]]:
    """Return the reference of a rung: tensor cores multiply rounded numbers."""
    rounded = matmul_tensor.matmul_tf32_reference if rung in TF32 else matmul_reference
    return matmul_bf16.matmul_bf16_reference if rung in BF16 else rounded


def _check_operands(rung: str, a: Any, b: Any) -> None:
    """Raise unless a and b are matrices that can be multiplied, of a dtype that the rung takes."""
    dtypes = (*launch.FLOATS, np.uint16) if rung in BF16 else launch.FLOATS
    for name, array in (("a", a), ("b", b)):
        launch.check_array("matmul", name, array, ndim=2, dtypes=dtypes)
    launch.check_same_dtype("matmul", a=a, b=b)
    if rung in IN_QUADS | BF16 and a.dtype != np.uint16:
        launch.check_float32("matmul", rung, a, instead="tiled")
    if a.shape[1] != b.shape[0]:
        advice = "Did you mean b.T?" if a.shape[1] == b.shape[1] else "The inner sizes must agree."
        raise ValueError(
            "matmul: expected a.shape[1] == b.shape[0], "
            f"got {tuple(a.shape)} and {tuple(b.shape)}. {advice}"
        )


LADDER = (
    Rung("uncoalesced", matmul_uncoalesced_kernel, matmul_uncoalesced_cost),
    Rung("naive", matmul_naive_kernel, matmul_naive_cost),
    Rung("tiled", matmul_tiled_kernel, matmul_tiled_cost),
    Rung("padded", matmul_padded_kernel, matmul_padded_cost),
    Rung("register_tile_1d", matmul_register_tile_1d_kernel, matmul_register_tile_1d_cost),
    Rung("register_tile_2d", matmul_register_tile_2d_kernel, matmul_register_tile_2d_cost),
)
RUNGS = (*LADDER, *matmul_wide.LADDER, *matmul_tensor.LADDER, *matmul_bf16.MATMUL_LADDER)
__all__ = launch.public_names(globals())
