import numpy as np

from gpukit import cuda

SAMPLES = 1 << 4


@cuda.jit
def weight_grad_kernel(grad_out, net, x, grad_weight):
    col, row = cuda.grid(2)
    if row >= grad_weight.shape[0] or col >= grad_weight.shape[1]:
        return
    first = cuda.blockIdx.z * SAMPLES
    last = min(first + SAMPLES, x.shape[0])
    acc = np.float32(0)
    for n in range(first, last):
        if net[n, row] <= 0:
            continue
        acc += grad_out[n, row] * x[n, col]
    where = (row, col)
    cuda.atomic.add(grad_weight, where, acc)
