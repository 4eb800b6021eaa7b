"""Kernels and arguments that many tests use."""

import numpy as np

from gpukit import cuda

N = 70
BLOCK = 32


def ones(*shape):
    return np.ones(shape, np.float32)


@cuda.jit
def fill_kernel(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = i


@cuda.jit
def copy_kernel(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i]


@cuda.jit
def double_kernel(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = 2 * x[i]


@cuda.jit
def count_kernel(x, counts):
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(counts, x[i], 1)


@cuda.jit
def sum_kernel(x, total):
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(total, 0, x[i])


@cuda.jit
def copy_unguarded_kernel(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


@cuda.jit
def unguarded_kernel(out, seen):
    """Write past the end of `out`, and from all threads to one element of `seen`."""
    i = cuda.grid(1)
    out[i] = 7
    seen[0] = i


@cuda.jit
def collide_kernel(out):
    out[0] = cuda.threadIdx.x
