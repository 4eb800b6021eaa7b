"""Kernels of `patterns.py`, which run under gpukit and, with Nsight Compute, on a GPU."""

from __future__ import annotations

import functools
from typing import Any

from numba import float32, int32

from gpukit import cuda


@cuda.jit
def affine_kernel(x, out, a, b, c, d, e, f):
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    out[d * tx + e * ty + f] = x[a * tx + b * ty + c]


@cuda.jit
def gather_kernel(x, index, out):
    t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    out[t] = x[index[t]]


@cuda.jit
def scatter_kernel(x, index, out):
    t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    out[index[t]] = x[t]


@cuda.jit
def guarded_kernel(x, out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = x[i]


@cuda.jit
def copy_2d_kernel(x, out):
    column, row = cuda.grid(2)
    out[row, column] = x[row, column]


@cuda.jit
def transpose_kernel(x, out):
    column, row = cuda.grid(2)
    out[column, row] = x[row, column]


@cuda.jit
def field_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = x[t].weight


@cuda.jit
def atomic_kernel(index, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, index[i], 1)


@cuda.jit
def shared_atomic_kernel(index, out):
    t = cuda.threadIdx.x
    bins = cuda.shared.array(64, int32)
    bins[t % 64] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, index[t], 1)
    cuda.syncthreads()
    out[t] = bins[t % 64]


@functools.cache
def tiled_transpose(pad: int) -> Any:
    """Return a transpose through a 32 x 32 shared tile padded by `pad` elements per row."""
    width = 32 + pad

    @cuda.jit
    def tiled_transpose_kernel(x, out):
        tile = cuda.shared.array((32, width), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        tile[ty, tx] = x[ty, tx]
        cuda.syncthreads()
        out[ty, tx] = tile[tx, ty]

    return tiled_transpose_kernel


@functools.cache
def shared_affine(dtype: Any) -> Any:
    """Return a kernel that stores to a shared tile at an affine index and loads it back."""

    @cuda.jit
    def shared_affine_kernel(out, a, b, c):
        tile = cuda.shared.array(0, dtype)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        tile[a * tx + b * ty + c] = out[ty * cuda.blockDim.x + tx]
        cuda.syncthreads()
        out[ty * cuda.blockDim.x + tx] = tile[a * tx + b * ty + c]

    return shared_affine_kernel


@functools.cache
def shared_gather(dtype: Any) -> Any:
    """Return a kernel that stores to and loads from a shared tile at given indices."""

    @cuda.jit
    def shared_gather_kernel(index, out):
        tile = cuda.shared.array(0, dtype)
        t = cuda.threadIdx.x
        tile[index[t]] = out[t]
        cuda.syncthreads()
        out[t] = tile[index[t]]

    return shared_gather_kernel


@cuda.jit
def views_kernel(out, n):
    whole = cuda.shared.array(0, float32)
    right = whole[n:]
    t = cuda.threadIdx.x
    whole[t] = out[t]
    right[2 * t] = out[t]
    cuda.syncthreads()
    out[t] = whole[t] + right[2 * t]
