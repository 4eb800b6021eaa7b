"""Linear algebra: products, sparse matrices, factorisations, iterations, transforms."""

import cmath
import math

import numpy as np
from numba import cuda, float32

from tests.programs.registry import program

TPB = 8


@cuda.jit
def fast_matmul(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    bpg = (A.shape[1] + TPB - 1) // TPB
    tmp = float32(0.0)
    for i in range(bpg):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * TPB) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TPB]
        if x < B.shape[1] and (ty + i * TPB) < B.shape[0]:
            sB[ty, tx] = B[ty + i * TPB, x]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp


@program()
def tiled_product_of_the_numba_manual():
    rng = np.random.default_rng(1)
    A, B = rng.random((13, 21), np.float32), rng.random((21, 10), np.float32)
    C = np.full((13, 10), np.nan, np.float32)
    fast_matmul[(2, 2), (TPB, TPB)](A, B, C)
    yield C, A @ B
    fast_matmul[(2, 2), (TPB, TPB)](A.astype(np.float64), np.asfortranarray(B), C)
    yield C, A @ B


@cuda.jit
def spmv_csr(data, indices, indptr, x, y):
    row = cuda.grid(1)
    if row < y.size:
        acc = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            acc += data[k] * x[indices[k]]
        y[row] = acc


@cuda.jit
def spmv_csr_warp(data, indices, indptr, x, y):
    row = cuda.grid(1) // 32
    lane = cuda.laneid
    if row >= y.size:
        return
    acc = 0.0
    for k in range(indptr[row] + lane, indptr[row + 1], 32):
        acc += data[k] * x[indices[k]]
    offset = 16
    while offset > 0:
        acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, offset)
        offset //= 2
    if lane == 0:
        y[row] = acc


@cuda.jit
def spmv_coo(rows, cols, data, x, y):
    i = cuda.grid(1)
    if i < data.size:
        cuda.atomic.add(y, rows[i], data[i] * x[cols[i]])


@cuda.jit
def spmv_ell(values, columns, x, y):
    row = cuda.grid(1)
    if row < y.shape[0]:
        y[row] = 0
        for k in range(values.shape[1]):
            if columns[row, k] < 0:
                break
            y[row] += values[row, k] * x[columns[row, k]]


def sparse(n, m, seed):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, m)) < 0.2, rng.normal(size=(n, m)), 0)


@program()
def sparse_products_in_three_formats():
    dense = sparse(37, 45, 2)
    dense[5] = 0
    x = np.random.default_rng(3).random(45)
    rows, cols = np.nonzero(dense)
    data = dense[rows, cols]
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(dense, 1))]).astype(np.int32)
    for kernel, grid in ((spmv_csr, 2), (spmv_csr_warp, 19)):
        y = np.full(37, np.nan)
        kernel[grid, 64](data, cols.astype(np.int32), indptr, x, y)
        yield y, dense @ x
    y = np.zeros(37)
    spmv_coo[(data.size + 31) // 32, 32](rows, cols, data, x, y)
    yield y, dense @ x
    width = np.count_nonzero(dense, 1).max()
    columns = np.full((37, width), -1)
    values = np.zeros((37, width))
    for r, line in enumerate(dense):
        (at,) = np.nonzero(line)
        columns[r, : at.size], values[r, : at.size] = at, line[at]
    y = np.full(37, np.nan)
    spmv_ell[2, 32](values, columns, x, y)
    yield y, dense @ x


@cuda.jit
def cholesky_block(a, n):
    t = cuda.threadIdx.x
    for k in range(n):
        if t == k:
            a[k, k] = math.sqrt(a[k, k])
        cuda.syncthreads()
        if k < t < n:
            a[t, k] /= a[k, k]
        cuda.syncthreads()
        if k < t < n:
            for j in range(k + 1, t + 1):
                a[t, j] -= a[t, k] * a[j, k]
        cuda.syncthreads()


@program(warns="never-written")
def cholesky_in_one_block():
    m = np.random.default_rng(5).random((9, 9))
    a = m @ m.T + np.eye(9)
    got = a.copy()
    cholesky_block[1, 32](got, 9)
    yield np.tril(got), np.linalg.cholesky(a)


@cuda.jit
def fft_stage(src, dst, half):
    i = cuda.grid(1)
    n = src.size
    if i < n // 2:
        k = i % half
        j = (i // half) * half * 2 + k
        w = cmath.exp(-1j * math.pi * k / half)
        a, b = src[i], src[i + n // 2] * w
        dst[j] = a + b
        dst[j + half] = a - b


@program()
def stockham_fft():
    x = np.random.default_rng(8).normal(size=64) + 1j * np.arange(64)
    a, b = cuda.to_device(x), cuda.device_array(64, np.complex128)
    half = 1
    while half < 64:
        fft_stage[2, 16](a, b, half)
        a, b = b, a
        half *= 2
    yield a, np.fft.fft(x)
