import numba
import numba.cuda

BLOCK = 128


@numba.cuda.jit
def block_sum_kernel(x, partials):
    tile = numba.cuda.shared.array(BLOCK, numba.float32)
    tid = numba.cuda.threadIdx.x
    i = numba.cuda.grid(1)
    tile[tid] = x[i] if i < x.size else numba.float32(0)
    numba.cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        numba.cuda.syncthreads()
        half //= 2
    if tid == 0:
        partials[numba.cuda.blockIdx.x] = tile[0]
