"""The five reductions of R100001/Programming-Massively-Parallel-Processors in Numba."""

from __future__ import annotations

import numpy as np

from gpukit import cuda

u32, BLOCK = np.uint32, 512


@cuda.jit
def reduce_modulo(x, y):
    """Interleaved addressing: the threads that add are found with a modulo."""
    partial = cuda.shared.array(BLOCK, np.uint32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    partial[t] = x[i] if i < x.shape[0] else u32(0)
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        if t % (2 * step) == 0:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        y[cuda.blockIdx.x] = partial[0]


@cuda.jit
def reduce_strided(x, y):
    """Neighbouring threads add, at strides that conflict in the banks."""
    partial = cuda.shared.array(BLOCK, np.uint32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    partial[t] = x[i] if i < x.shape[0] else u32(0)
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        k = 2 * step * t
        if k < BLOCK:
            partial[k] += partial[k + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        y[cuda.blockIdx.x] = partial[0]


@cuda.jit
def reduce_sequential(x, y):
    """Neighbouring threads add neighbouring elements."""
    partial = cuda.shared.array(BLOCK, np.uint32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    partial[t] = x[i] if i < x.shape[0] else u32(0)
    cuda.syncthreads()
    step = BLOCK // 2
    while step > 0:
        if t < step:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        y[cuda.blockIdx.x] = partial[0]


@cuda.jit
def reduce_two_loads(x, y):
    """A thread loads two elements, so that there are half as many blocks."""
    partial = cuda.shared.array(BLOCK, np.uint32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 2 * cuda.blockDim.x + t
    partial[t] = x[i] if i < x.shape[0] else u32(0)
    partial[t] += x[i + BLOCK] if i + BLOCK < x.shape[0] else u32(0)
    cuda.syncthreads()
    step = BLOCK // 2
    while step > 0:
        if t < step:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        y[cuda.blockIdx.x] = partial[0]


@cuda.jit
def reduce_last_warp(x, y):
    """The last warp adds without barriers of the block."""
    partial = cuda.shared.array(BLOCK, np.uint32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 2 * cuda.blockDim.x + t
    partial[t] = x[i] if i < x.shape[0] else u32(0)
    partial[t] += x[i + BLOCK] if i + BLOCK < x.shape[0] else u32(0)
    cuda.syncthreads()
    step = BLOCK // 2
    while step > 32:
        if t < step:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step //= 2
    if t < 32:
        partial[t] += partial[t + 32]
        cuda.syncwarp()
        if t < 16:
            partial[t] += partial[t + 16]
        cuda.syncwarp()
        if t < 8:
            partial[t] += partial[t + 8]
        cuda.syncwarp()
        if t < 4:
            partial[t] += partial[t + 4]
        cuda.syncwarp()
        if t < 2:
            partial[t] += partial[t + 2]
        cuda.syncwarp()
        if t < 1:
            partial[t] += partial[t + 1]
    if t == 0:
        y[cuda.blockIdx.x] = partial[0]
