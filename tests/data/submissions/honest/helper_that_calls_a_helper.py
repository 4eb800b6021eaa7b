import numpy as np

from gpukit import cuda


@cuda.jit(device=True)
def is_inside(i, n):
    return i >= 0 and i < n


@cuda.jit(device=True)
def pixel(x, c, i, j):
    if is_inside(i, x.shape[1]) and is_inside(j, x.shape[2]):
        return x[c, i, j]
    return np.float32(0)


@cuda.jit
def conv2d_kernel(x, weight, bias, stride, pad, out):
    col, row, f = cuda.grid(3)
    filters, rows, cols = out.shape
    if f >= filters or row >= rows or col >= cols:
        return
    acc = bias[f]
    for c in range(weight.shape[1]):
        for m in range(weight.shape[2]):
            for n in range(weight.shape[3]):
                acc += weight[f, c, m, n] * pixel(x, c, row * stride - pad + m, col * stride - pad + n)
    out[f, row, col] = acc
