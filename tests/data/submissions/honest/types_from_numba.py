from numba import cuda, float32

BLOCK = 128


@cuda.jit
def block_sum_kernel(x, partials):
    shared = cuda.shared.array(shape=BLOCK, dtype=float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < x.shape[0]:
        shared[tid] = x[i]
    else:
        shared[tid] = float32(0.0)
    cuda.syncthreads()
    s = cuda.blockDim.x // 2
    while s > 0:
        if tid < s:
            shared[tid] += shared[tid + s]
        cuda.syncthreads()
        s >>= 1
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
