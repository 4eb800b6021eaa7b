import numpy as np

from gpukit import cuda


def make_kernel(block):
    """Return the kernel for a block size, with a tree of its own."""

    @cuda.jit(device=True)
    def tree(tile, tid):
        half = block // 2
        while half > 0:
            if tid < half:
                tile[tid] += tile[tid + half]
            cuda.syncthreads()
            half //= 2

    @cuda.jit
    def kernel(x, grad_out, grad_weight):
        n, m, tid = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x
        tile = cuda.shared.array(block, np.float32)
        acc = np.float32(0)
        across = grad_out.shape[1]
        for k in range(tid, grad_out.size, block):
            acc += grad_out[k // across, k % across] * x[k // across + m, k % across + n]
        tile[tid] = acc
        cuda.syncthreads()
        tree(tile, tid)
        if tid == 0:
            grad_weight[m, n] = tile[0]

    return kernel


conv_weight_grad_kernel = make_kernel(block=128)
