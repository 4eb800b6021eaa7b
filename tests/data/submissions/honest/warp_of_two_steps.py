import numpy as np
from numba import cuda
from numba.types import float32 as f32

BLOCK = 128
WARPS = BLOCK // 32


@cuda.jit
def block_sum_kernel(x, partials):
    """Sum each warp with shuffles, then the sums of the warps."""
    sums = cuda.shared.array(WARPS, f32)
    i, tid = cuda.grid(1), cuda.threadIdx.x
    v = x[i] if i < x.size else np.float32(0)
    for s in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, s)
    if tid % 32 == 0:
        sums[tid // 32] = v
    cuda.syncthreads()
    if tid == 0:
        for k in range(1, WARPS):
            v += sums[k]
        partials[cuda.blockIdx.x] = v
