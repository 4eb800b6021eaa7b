from gpukit import cuda
from gpukit.collectives import warp_sum


@cuda.jit
def warp_sum_kernel(x, partials):
    i = cuda.grid(1)
    total = warp_sum(x[i] if i < x.size else x.dtype.type(0))
    if cuda.laneid == 0:
        partials[i // 32] = total
