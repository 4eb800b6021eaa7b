"""Rows, matrices and distances: mostly a row or an element a thread."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.plain_loops.case import Case, case, covering, floats, integers, nan, unset
from gpukit import cuda

BLOCK = 128
SQUARE = (16, 16)


def csr_spmv_kernel(starts, cols, values, x, y):
    row = cuda.grid(1)
    if row < y.shape[0]:
        acc = 0.0
        for k in range(starts[row], starts[row + 1]):
            acc += values[k] * x[cols[k]]
        y[row] = acc


def csr_spmv() -> Case:
    n = 50_021
    counts = integers(0, 60, n)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    cols, values, x = integers(0, n, starts[-1]), floats(starts[-1]), floats(n, seed=8)
    products = np.concatenate([[0], np.cumsum(values.astype(float) * x[cols])])
    expected = products[starts[1:]] - products[starts[:-1]]
    arguments = (starts, cols, values, x, nan(n))
    return case(csr_spmv_kernel, covering(BLOCK, n), BLOCK, arguments, expected, terms=60)


def ell_spmv_kernel(cols, values, x, y):
    row = cuda.grid(1)
    if row < y.shape[0]:
        acc = np.float32(0)
        for k in range(values.shape[0]):  # a column of the table for each element of a row
            col = cols[k, row]
            if col >= 0:
                acc += values[k, row] * x[col]
        y[row] = acc


def ell_spmv() -> Case:
    n, width = 70_001, 24
    cols, values, x = integers(-3000, n, width, n), floats(width, n), floats(n, seed=8)
    expected = np.where(cols >= 0, values.astype(float) * x[cols], 0).sum(axis=0)
    arguments = (cols, values, x, nan(n))
    return case(ell_spmv_kernel, covering(BLOCK, n), BLOCK, arguments, expected, terms=width)


def matvec_rows_kernel(a, x, y):
    row = cuda.grid(1)
    if row < a.shape[0]:
        acc = np.float32(0)
        for k in range(a.shape[1]):
            acc += a[row, k] * x[k]
        y[row] = acc


def matvec_rows() -> Case:
    rows, cols = 3001, 1003
    a, x, y = floats(rows, cols), floats(cols, seed=8), nan(rows)
    expected = a.astype(float) @ x
    return case(matvec_rows_kernel, covering(BLOCK, rows), BLOCK, (a, x, y), expected, terms=cols)


def matvec_columns_kernel(a, x, y):
    row = cuda.grid(1)
    if row < a.shape[1]:
        acc = np.float32(0)
        for k in range(a.shape[0]):
            acc += a[k, row] * x[k]
        y[row] = acc


def matvec_columns() -> Case:
    rows, cols = 1003, 5003
    a, x, y = floats(rows, cols), floats(rows, seed=8), nan(cols)
    expected = x @ a.astype(float)
    grid = covering(BLOCK, cols)
    return case(matvec_columns_kernel, grid, BLOCK, (a, x, y), expected, terms=rows)


def matmul_flat_kernel(a, b, c, width):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < width and col < width:
        value = 0.0
        for k in range(width):
            value += a[row * width + k] * b[k * width + col]
        c[row * width + col] = value


def matmul_flat() -> Case:
    n = 251
    a, b, c = floats(n * n), floats(n * n, seed=8), nan(n * n)
    expected = (a.reshape(n, n).astype(float) @ b.reshape(n, n)).ravel()
    grid = covering(SQUARE, n, n)
    return case(matmul_flat_kernel, grid, SQUARE, (a, b, c, n), expected, terms=n)


def inverse_3x3_kernel(matrices, inverses):
    i = cuda.grid(1)
    if i >= matrices.shape[0]:
        return
    m = cuda.local.array((3, 3), np.float32)
    for r in range(3):
        for c in range(3):
            m[r, c] = matrices[i, r, c]
    det = (
        m[0, 0] * (m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1])
        - m[0, 1] * (m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0])
        + m[0, 2] * (m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0])
    )
    scale = np.float32(1) / det
    for r in range(3):
        for c in range(3):
            r1, r2 = (c + 1) % 3, (c + 2) % 3
            c1, c2 = (r + 1) % 3, (r + 2) % 3
            inverses[i, r, c] = (m[r1, c1] * m[r2, c2] - m[r1, c2] * m[r2, c1]) * scale


def inverse_3x3() -> Case:
    n = 300_007
    matrices = floats(n, 3, 3) / 4 + 2 * np.eye(3, dtype=np.float32)
    arguments = (matrices, nan(n, 3, 3))
    expected = np.linalg.inv(matrices.astype(float))
    return case(inverse_3x3_kernel, covering(BLOCK, n), BLOCK, arguments, expected, terms=64)


def dot_rows_kernel(a, b, out):
    row = cuda.grid(1)
    if row < a.shape[0]:
        acc = 0.0
        for k in range(a.shape[1]):
            acc += a[row, k] * b[row, k]
        out[row] = acc


def dot_rows() -> Case:
    rows, cols = 40_009, 65
    a, b = floats(rows, cols, dtype=float), floats(rows, cols, dtype=float, seed=8)
    arguments = (a, b, nan(rows, dtype=float))
    expected = np.einsum("rk,rk->r", a, b)
    return case(dot_rows_kernel, covering(BLOCK, rows), BLOCK, arguments, expected, terms=cols)


def softmax_rows_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        largest = x[row, 0]
        for k in range(1, x.shape[1]):
            largest = max(largest, x[row, k])
        total = np.float32(0)
        for k in range(x.shape[1]):
            power = math.exp(x[row, k] - largest)
            out[row, k] = power
            total += power
        for k in range(x.shape[1]):
            out[row, k] /= total


def softmax_rows() -> Case:
    rows, cols = 3001, 257
    x, out = floats(rows, cols), nan(rows, cols)
    powers = np.exp(x.astype(float))
    expected = powers / powers.sum(axis=1, keepdims=True)
    grid = covering(BLOCK, rows)
    return case(softmax_rows_kernel, grid, BLOCK, (x, out), expected, terms=cols)


def layer_norm_rows_kernel(x, gain, bias, eps, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        cols = x.shape[1]
        mean = np.float32(0)
        for k in range(cols):
            mean += x[row, k]
        mean /= cols
        variance = np.float32(0)
        for k in range(cols):
            d = x[row, k] - mean
            variance += d * d
        variance /= cols
        scale = np.float32(1) / math.sqrt(variance + eps)
        for k in range(cols):
            out[row, k] = (x[row, k] - mean) * scale * gain[k] + bias[k]


def layer_norm_rows() -> Case:
    rows, cols, eps = 4001, 257, np.float32(1e-5)
    x, gain, bias = floats(rows, cols), floats(cols, seed=8), floats(cols, seed=9)
    v = x.astype(float)
    d = v - v.mean(axis=1, keepdims=True)
    expected = d / np.sqrt((d * d).mean(axis=1, keepdims=True) + float(eps)) * gain + bias
    arguments = (x, gain, bias, eps, nan(rows, cols))
    grid = covering(BLOCK, rows)
    return case(layer_norm_rows_kernel, grid, BLOCK, arguments, expected, terms=cols)


def prefix_rows_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = np.float32(0)
        for k in range(x.shape[1]):
            total += x[row, k]
            out[row, k] = total


def prefix_rows() -> Case:
    rows, cols = 4001, 513
    x, out = floats(rows, cols), nan(rows, cols)
    expected = x.cumsum(axis=1, dtype=float)
    return case(prefix_rows_kernel, covering(BLOCK, rows), BLOCK, (x, out), expected, terms=cols)


def knn_distance_kernel(queries, points, nearest):
    i = cuda.grid(1)
    if i < queries.shape[0]:
        best = np.float32(1e30)
        place = -1
        for j in range(points.shape[0]):
            distance = np.float32(0)
            for k in range(3):
                d = queries[i, k] - points[j, k]
                distance += d * d
            if distance < best:
                best = distance
                place = j
        nearest[i] = place


def knn_distance() -> Case:
    queries, points = floats(2003, 3), floats(1001, 3, seed=8)
    d = queries[:, None].astype(float) - points
    expected = (d * d).sum(axis=2).argmin(axis=1)
    arguments = (queries, points, unset(len(queries)))
    grid = covering(BLOCK, len(queries))
    return case(knn_distance_kernel, grid, BLOCK, arguments, expected)


def kmeans_assign_kernel(points, centres, labels, counts):
    i = cuda.grid(1)
    if i < points.shape[0]:
        best = 1e30
        label = 0
        for c in range(centres.shape[0]):
            dx = points[i, 0] - centres[c, 0]
            dy = points[i, 1] - centres[c, 1]
            distance = dx * dx + dy * dy
            if distance < best:
                best = distance
                label = c
        labels[i] = label
        cuda.atomic.add(counts, label, 1)


def kmeans_assign() -> Case:
    n, k = 200_003, 13
    points, centres = floats(n, 2), floats(k, 2, seed=8)
    d = points[:, None].astype(float) - centres
    expected = (d * d).sum(axis=2).argmin(axis=1)
    arguments = (points, centres, unset(n), np.zeros(k, np.int32))
    counts = np.bincount(expected, minlength=k)
    return case(kmeans_assign_kernel, covering(BLOCK, n), BLOCK, arguments, expected, counts)


CASES = (
    csr_spmv,
    ell_spmv,
    matvec_rows,
    matvec_columns,
    matmul_flat,
    inverse_3x3,
    dot_rows,
    softmax_rows,
    layer_norm_rows,
    prefix_rows,
    knn_distance,
    kmeans_assign,
)
