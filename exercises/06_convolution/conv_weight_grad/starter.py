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
    # FILL ME IN (about 13 lines)
