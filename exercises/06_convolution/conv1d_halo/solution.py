"""A convolution along a vector, from a tile with a halo. The task is in task.md."""

import numpy as np

from gpukit import cuda

BLOCK = 128
RADIUS = 3
TILE = BLOCK + 2 * RADIUS  # the elements of x that a block reads


@cuda.jit
def conv1d_kernel(x, weight, out):
    """Write the sum of weight[m] * x[i + m - RADIUS] to out[i]; x is padded with zeros."""
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(TILE, np.float32)
    first = cuda.blockIdx.x * BLOCK - RADIUS  # the element of x in tile[0]
    for k in range(tid, TILE, BLOCK):
        j = first + k
        tile[k] = x[j] if j >= 0 and j < x.size else np.float32(0)
    cuda.syncthreads()  # the tile is full before any thread reads another's element
    if i < x.size:
        acc = np.float32(0)
        for m in range(weight.size):
            acc += weight[m] * tile[tid + m]
        out[i] = acc
