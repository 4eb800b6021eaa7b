import numpy as np

from gpukit import cuda

SHAPE = ACROSS, DOWN = 32, 8


@cuda.jit
def bias_grad_kernel(grad_out, grad_bias):
    samples, outputs = grad_out.shape
    col, tx, ty = cuda.grid(1), cuda.threadIdx.x, cuda.threadIdx.y
    parts = cuda.shared.array((DOWN, ACROSS), dtype=np.float32)
    acc = np.float32(0)
    row = ty
    while row < samples and col < outputs:
        acc += grad_out[row, col]
        row += DOWN
    parts[ty, tx] = acc
    cuda.syncthreads()
    if ty != 0 or col >= outputs:
        return
    for k in range(1, DOWN):
        acc += parts[k, tx]
    grad_bias[col] = acc
