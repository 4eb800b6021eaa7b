"""Kernels of published measurements in Numba: same tiles, same index order, same block sizes.

They are written for `benchmarks/estimates.py`, which counts some of their blocks. Where the
original checks bounds or scales by alpha and beta, so do these.
"""

from __future__ import annotations

import numpy as np

from gpukit import cuda

f32, u32 = np.float32, np.uint32

# ---- siboehm/SGEMM_CUDA: c = 2 a b + 3 c ---------------------------------------------------------


@cuda.jit
def sgemm_naive(a, b, c):
    """One element per thread; threadIdx.x runs along rows."""
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    col = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if row < c.shape[0] and col < c.shape[1]:
        total = f32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = f32(2) * total + f32(3) * c[row, col]


@cuda.jit
def sgemm_coalesced(a, b, c):
    """One element per thread; threads of a warp lie along a row."""
    row = cuda.blockIdx.x * 32 + cuda.threadIdx.x // 32
    col = cuda.blockIdx.y * 32 + cuda.threadIdx.x % 32
    if row < c.shape[0] and col < c.shape[1]:
        total = f32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = f32(2) * total + f32(3) * c[row, col]


@cuda.jit
def sgemm_shared(a, b, c):
    """Tiles of 32 by 32 in shared memory."""
    a_tile = cuda.shared.array((32, 32), np.float32)
    b_tile = cuda.shared.array((32, 32), np.float32)
    x, y = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    row = cuda.blockIdx.x * 32 + y
    col = cuda.blockIdx.y * 32 + x
    total = f32(0)
    for start in range(0, a.shape[1], 32):
        a_tile[y, x] = a[row, start + x]
        b_tile[y, x] = b[start + y, col]
        cuda.syncthreads()
        for k in range(32):
            total += a_tile[y, k] * b_tile[k, x]
        cuda.syncthreads()
    c[row, col] = f32(2) * total + f32(3) * c[row, col]


@cuda.jit
def sgemm_8_per_thread(a, b, c):
    """Tiles of 64 by 64, 8 deep; a thread has 8 rows of a column."""
    a_tile = cuda.shared.array((64, 8), np.float32)
    b_tile = cuda.shared.array((8, 64), np.float32)
    sums = cuda.local.array(8, np.float32)
    thread = cuda.threadIdx.x
    x, y = thread % 64, thread // 64
    for r in range(8):
        sums[r] = f32(0)
    top, left = cuda.blockIdx.y * 64, cuda.blockIdx.x * 64
    for start in range(0, a.shape[1], 8):
        a_tile[thread // 8, thread % 8] = a[top + thread // 8, start + thread % 8]
        b_tile[y, x] = b[start + y, left + x]
        cuda.syncthreads()
        for k in range(8):
            factor = b_tile[k, x]
            for r in range(8):
                sums[r] += a_tile[y * 8 + r, k] * factor
        cuda.syncthreads()
    for r in range(8):
        old = c[top + y * 8 + r, left + x]
        c[top + y * 8 + r, left + x] = f32(2) * sums[r] + f32(3) * old


@cuda.jit
def sgemm_64_per_thread(a, b, c):
    """Tiles of 128 by 128, 8 deep; a thread has 8 by 8 elements."""
    a_tile = cuda.shared.array((128, 8), np.float32)
    b_tile = cuda.shared.array((8, 128), np.float32)
    sums = cuda.local.array((8, 8), np.float32)
    column = cuda.local.array(8, np.float32)
    row = cuda.local.array(8, np.float32)
    thread = cuda.threadIdx.x
    x, y = thread % 16, thread // 16
    for i in range(8):
        for j in range(8):
            sums[i, j] = f32(0)
    top, left = cuda.blockIdx.y * 128, cuda.blockIdx.x * 128
    for start in range(0, a.shape[1], 8):
        for step in range(0, 128, 32):
            at = thread // 8 + step
            a_tile[at, thread % 8] = a[top + at, start + thread % 8]
        for step in range(0, 8, 2):
            at = thread // 128 + step
            b_tile[at, thread % 128] = b[start + at, left + thread % 128]
        cuda.syncthreads()
        for k in range(8):
            for i in range(8):
                column[i] = a_tile[y * 8 + i, k]
            for j in range(8):
                row[j] = b_tile[k, x * 8 + j]
            for i in range(8):
                for j in range(8):
                    sums[i, j] += column[i] * row[j]
        cuda.syncthreads()
    for i in range(8):
        for j in range(8):
            old = c[top + y * 8 + i, left + x * 8 + j]
            c[top + y * 8 + i, left + x * 8 + j] = f32(2) * sums[i, j] + f32(3) * old


@cuda.jit
def sgemm_vectorized(a, b, c):
    """The same; a's tile lies transposed, and global loads are of four neighbours."""
    a_tile = cuda.shared.array((8, 128), np.float32)
    b_tile = cuda.shared.array((8, 128), np.float32)
    sums = cuda.local.array((8, 8), np.float32)
    column = cuda.local.array(8, np.float32)
    row = cuda.local.array(8, np.float32)
    thread = cuda.threadIdx.x
    x, y = thread % 16, thread // 16
    for i in range(8):
        for j in range(8):
            sums[i, j] = f32(0)
    top, left = cuda.blockIdx.y * 128, cuda.blockIdx.x * 128
    for start in range(0, a.shape[1], 8):
        for q in range(4):
            at = thread % 2 * 4 + q
            a_tile[at, thread // 2] = a[top + thread // 2, start + at]
        for q in range(4):
            at = thread % 32 * 4 + q
            b_tile[thread // 32, at] = b[start + thread // 32, left + at]
        cuda.syncthreads()
        for k in range(8):
            for i in range(8):
                column[i] = a_tile[k, y * 8 + i]
            for j in range(8):
                row[j] = b_tile[k, x * 8 + j]
            for i in range(8):
                for j in range(8):
                    sums[i, j] += column[i] * row[j]
        cuda.syncthreads()
    for i in range(8):
        for j in range(8):
            old = c[top + y * 8 + i, left + x * 8 + j]
            c[top + y * 8 + i, left + x * 8 + j] = f32(2) * sums[i, j] + f32(3) * old


# ---- Pupking/01_tiled_gemm -----------------------------------------------------------------------


@cuda.jit
def gemm_4_per_thread(a, b, c):
    """Tiles of 32 by 32; a thread has 2 by 2 elements, 16 by 16 threads."""
    a_tile = cuda.shared.array((32, 32), np.float32)
    b_tile = cuda.shared.array((32, 32), np.float32)
    sums = cuda.local.array((2, 2), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    for r in range(2):
        for q in range(2):
            sums[r, q] = f32(0)
    for start in range(0, a.shape[1], 32):
        for r in range(0, 32, 16):
            for q in range(0, 32, 16):
                a_tile[y + r, x + q] = a[top + y + r, start + x + q]
                b_tile[y + r, x + q] = b[start + y + r, left + x + q]
        cuda.syncthreads()
        for k in range(32):
            for r in range(2):
                for q in range(2):
                    sums[r, q] += a_tile[y * 2 + r, k] * b_tile[k, x * 2 + q]
        cuda.syncthreads()
    for r in range(2):
        for q in range(2):
            c[top + y * 2 + r, left + x * 2 + q] = sums[r, q]


@cuda.jit
def gemm_16_per_thread(a, b, c):
    """Tiles of 32 by 32; a thread has 8 by 2 elements, 16 by 4 threads."""
    a_tile = cuda.shared.array((32, 32), np.float32)
    b_tile = cuda.shared.array((32, 32), np.float32)
    sums = cuda.local.array((8, 2), np.float32)
    column = cuda.local.array(8, np.float32)
    row = cuda.local.array(2, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    for r in range(8):
        for q in range(2):
            sums[r, q] = f32(0)
    for start in range(0, a.shape[1], 32):
        for i in range(16):
            at = y * 16 + x + i * 64
            a_tile[at // 32, at % 32] = a[top + at // 32, start + at % 32]
            b_tile[at // 32, at % 32] = b[start + at // 32, left + at % 32]
        cuda.syncthreads()
        for k in range(32):
            for r in range(8):
                column[r] = a_tile[y * 8 + r, k]
            for q in range(2):
                row[q] = b_tile[k, q * 16 + x]
            for r in range(8):
                for q in range(2):
                    sums[r, q] += column[r] * row[q]
        cuda.syncthreads()
    for r in range(8):
        for q in range(2):
            c[top + y * 8 + r, left + q * 16 + x] = sums[r, q]


# ---- R100001/Programming-Massively-Parallel-Processors -------------------------------------------


@cuda.jit
def add_not_coalesced(a, b, c):
    """Add matrices; threadIdx.x runs along rows."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = a[i, j] + b[i, j]


@cuda.jit
def add_coalesced(a, b, c):
    """Add matrices; threadIdx.x runs along columns."""
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = a[i, j] + b[i, j]


@cuda.jit
def matmul_naive(a, b, c):
    """One element per thread, of any dtype."""
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < c.shape[0] and col < c.shape[1]:
        total = c.dtype.type(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


def _tiled(size):
    """Return the product with tiles of this size, one element per thread."""

    @cuda.jit
    def matmul_tiled(a, b, c):
        a_tile = cuda.shared.array((size, size), np.uint32)
        b_tile = cuda.shared.array((size, size), np.uint32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        row, col = cuda.blockIdx.y * size + y, cuda.blockIdx.x * size + x
        rows, cols, depth = c.shape[0], c.shape[1], a.shape[1]
        total = u32(0)
        for start in range(0, depth, size):
            a_tile[y, x] = a[row, start + x] if row < rows and start + x < depth else u32(0)
            b_tile[y, x] = b[start + y, col] if start + y < depth and col < cols else u32(0)
            cuda.syncthreads()
            for k in range(size):
                total += a_tile[y, k] * b_tile[k, x]
            cuda.syncthreads()
        if row < rows and col < cols:
            c[row, col] = total

    return matmul_tiled


matmul_tiled_16, matmul_tiled_32 = _tiled(16), _tiled(32)


@cuda.jit
def matvec(out, matrix, vector):
    """One row per thread."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < matrix.shape[0]:
        total = u32(0)
        for k in range(matrix.shape[1]):
            total += matrix[i, k] * vector[k]
        out[i] = total


@cuda.jit
def histogram_global(x, bins):
    """Atomics on the bins in global memory."""
    first = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    for i in range(first, x.shape[0], cuda.blockDim.x * cuda.gridDim.x):
        cuda.atomic.add(bins, x[i], 1)


@cuda.jit
def histogram_shared(x, bins):
    """Atomics on bins in shared memory, then one per bin and block on global memory."""
    own = cuda.shared.array(512, np.uint32)
    first = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    for k in range(cuda.threadIdx.x, 512, cuda.blockDim.x):
        own[k] = 0
    cuda.syncthreads()
    for i in range(first, x.shape[0], cuda.blockDim.x * cuda.gridDim.x):
        cuda.atomic.add(own, x[i], 1)
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, 512, cuda.blockDim.x):
        cuda.atomic.add(bins, k, own[k])
