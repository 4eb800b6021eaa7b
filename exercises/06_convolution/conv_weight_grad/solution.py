"""The gradient of a convolution's weights, one block per weight. The task is in task.md."""

import numpy as np

from gpukit import cuda

BLOCK = 128


@cuda.jit
def conv_weight_grad_kernel(x, grad_out, grad_weight):
    """Write the sum of grad_out[row, col] * x[row + m, col + n] to grad_weight[m, n]."""
    n, m = cuda.blockIdx.x, cuda.blockIdx.y
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, np.float32)
    acc = np.float32(0)
    across = grad_out.shape[1]
    for k in range(tid, grad_out.size, BLOCK):
        row, col = k // across, k % across
        acc += grad_out[row, col] * x[row + m, col + n]
    tile[tid] = acc
    cuda.syncthreads()  # all sums are written before any thread reads another's
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        cuda.syncthreads()  # this level is written before the next one reads
        half //= 2
    if tid == 0:
        grad_weight[m, n] = tile[0]
