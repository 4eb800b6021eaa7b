import numpy as np

from gpukit import cuda

THREADS = 256
TILE = int(THREADS**0.5)
assert TILE * TILE == THREADS


@cuda.jit
def dense_backward_kernel(grad_out, x, grad_weight):
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * TILE + tx
    row = cuda.blockIdx.y * TILE + ty
    left = cuda.blockIdx.y * TILE
    gs = cuda.shared.array((TILE, TILE), np.float32)
    xs = cuda.shared.array((TILE, TILE), np.float32)
    n = x.shape[0]
    acc = np.float32(0)
    first = 0
    while first < n:
        s = first + ty
        gs[ty, tx] = grad_out[s, left + tx] if s < n and left + tx < grad_out.shape[1] else np.float32(0)
        xs[ty, tx] = x[s, col] if s < n and col < x.shape[1] else np.float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += gs[k, ty] * xs[k, tx]
        cuda.syncthreads()
        first += TILE
    if row < grad_weight.shape[0] and col < grad_weight.shape[1]:
        grad_weight[row, col] = acc
