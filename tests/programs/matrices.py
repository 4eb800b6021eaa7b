"""Linear algebra: products, sparse matrices, factorisations, iterations, transforms."""

import cmath
import math

import numpy as np
from numba import cuda, float32, float64

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
def lu_column(a, k):
    i = cuda.grid(1) + k + 1
    if i < a.shape[0]:
        a[i, k] /= a[k, k]


@cuda.jit
def lu_update(a, k):
    i, j = cuda.grid(2)
    i += k + 1
    j += k + 1
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] -= a[i, k] * a[k, j]


@program(warns="never-written")
def lu_without_pivots():
    a = np.random.default_rng(4).random((11, 11)) + 11 * np.eye(11)
    d = cuda.to_device(a)
    for k in range(10):
        lu_column[1, 16](d, k)
        lu_update[(2, 2), (8, 8)](d, k)
    lu = d.copy_to_host()
    yield (np.tril(lu, -1) + np.eye(11)) @ np.triu(lu), a


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


@cuda.reduce
def total(a, b):
    return a + b


@cuda.jit
def matvec(a, x, y):
    r = cuda.grid(1)
    if r < a.shape[0]:
        acc = 0.0
        for c in range(a.shape[1]):
            acc += a[r, c] * x[c]
        y[r] = acc


@cuda.jit
def axpby(alpha, x, beta, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = alpha * x[i] + beta * y[i]


@cuda.jit
def multiply(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * y[i]


class ConjugateGradient:
    def __init__(self, a):
        self.a = cuda.to_device(a)
        self.n = a.shape[0]
        self.tmp = cuda.device_array(self.n)

    def dot(self, x, y):
        multiply[1, 32](x, y, self.tmp)
        return total(self.tmp)

    def solve(self, b, rounds=40):
        x, ap = cuda.to_device(np.zeros(self.n)), cuda.device_array(self.n)
        r, p = cuda.to_device(b), cuda.to_device(b)
        rr = self.dot(r, r)
        for _ in range(rounds):
            matvec[1, 32](self.a, p, ap)
            alpha = rr / self.dot(p, ap)
            axpby[1, 32](1.0, x, alpha, p, x)
            axpby[1, 32](1.0, r, -alpha, ap, r)
            rr, before = self.dot(r, r), rr
            if rr < 1e-24:
                break
            axpby[1, 32](1.0, r, rr / before, p, p)
        return x


@program(tolerance=1e-8)
def conjugate_gradient_with_cuda_reduce():
    m = np.random.default_rng(6).random((17, 17))
    a, b = m @ m.T + 17 * np.eye(17), np.arange(17.0)
    yield ConjugateGradient(a).solve(b), np.linalg.solve(a, b)


@cuda.jit
def sor_colour(u, f, colour, omega):
    i, j = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1 and (i ^ j) & 1 == colour:
        gs = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j]) / 4
        u[i, j] += omega * (gs - u[i, j])


@program(warns="never-written")
def red_black_over_relaxation():
    f = np.random.default_rng(7).random((9, 12))
    u = cuda.to_device(np.zeros((9, 12)))
    wanted = np.zeros((9, 12))
    colours = np.bitwise_xor.outer(np.arange(9), np.arange(12)) & 1
    for step in range(8):
        sor_colour[(2, 2), (8, 8)](u, f, step % 2, 1.5)
        near = sum(np.roll(wanted, s, a) for s in (1, -1) for a in (0, 1))
        new = wanted + 1.5 * ((near + f) / 4 - wanted)
        inner = np.pad(np.ones((7, 10), bool), 1)
        wanted = np.where(inner & (colours == step % 2), new, wanted)
    yield u, wanted


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


@cuda.jit
def dct_blocks(img, table, out):
    tile = cuda.shared.array((8, 8), float64)
    half = cuda.shared.array((8, 8), float64)
    u, v = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    tile[v, u] = img[y, x] - 128
    cuda.syncthreads()
    s = 0.0
    for k in range(8):
        s += table[u, k] * tile[v, k]
    half[v, u] = s
    cuda.syncthreads()
    s = 0.0
    for k in range(8):
        s += table[v, k] * half[k, u]
    out[y, x] = s


@program()
def discrete_cosine_transform_of_8_by_8_blocks():
    img = np.random.default_rng(9).integers(0, 256, (16, 24), dtype=np.uint8)
    k = np.arange(8)
    table = np.cos(np.pi * np.outer(k, 2 * k + 1) / 16) / 2
    table[0] /= math.sqrt(2)
    out = np.full((16, 24), np.nan)
    dct_blocks[(3, 2), (8, 8)](img, table, out)
    blocks = img.reshape(2, 8, 3, 8) - 128.0
    yield out, np.einsum("ua,rasb,vb->rusv", table, blocks, table).reshape(16, 24)


@cuda.jit
def power_iteration(a, x, rounds, result):
    norm = cuda.shared.array(1, float64)
    t = cuda.threadIdx.x
    n = a.shape[0]
    for _ in range(rounds):
        if t == 0:
            norm[0] = 0
        y = 0.0
        if t < n:
            for j in range(n):
                y += a[t, j] * x[j]
        cuda.syncthreads()
        if t < n:
            cuda.atomic.add(norm, 0, y * y)
        cuda.syncthreads()
        if t < n:
            x[t] = y / math.sqrt(norm[0])
        cuda.syncthreads()
    if t == 0:
        result[0] = math.sqrt(norm[0])


@program(tolerance=1e-6)
def power_iteration_in_one_block():
    m = np.random.default_rng(10).random((12, 12))
    a = m + m.T
    result = np.full(1, np.nan)
    power_iteration[1, 32](a, np.ones(12), 60, result)
    yield result, [np.abs(np.linalg.eigvalsh(a)).max()]


@cuda.jit
def batched_inverse(m, out, singular):
    i = cuda.grid(1)
    if i >= m.shape[0]:
        return
    a, b, c, d = m[i, 0, 0], m[i, 0, 1], m[i, 1, 0], m[i, 1, 1]
    det = a * d - b * c
    if abs(det) < 1e-12:
        singular[i] = True
        for r in range(2):
            for s in range(2):
                out[i, r, s] = 0
        return
    out[i, 0, 0], out[i, 0, 1] = d / det, -b / det
    out[i, 1, 0], out[i, 1, 1] = -c / det, a / det


@program(warns="never-written")
def inverses_of_many_small_matrices():
    m = np.random.default_rng(11).normal(size=(70, 2, 2))
    m[3] = m[50] = [[1, 2], [2, 4]]
    out, singular = np.full_like(m, np.nan), np.zeros(70, np.bool_)
    batched_inverse[3, 32](m, out, singular)
    bad = np.isin(np.arange(70), [3, 50])
    yield singular, bad
    yield out[bad], np.zeros((2, 2, 2))
    yield out[~bad], np.linalg.inv(m[~bad])
