import time

import numpy as np

from gpukit import cuda

BLOCK = 128


@cuda.jit
def dot_kernel(a, b, out):
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    products = cuda.shared.array(BLOCK, np.float32)
    products[tid] = np.float32(0)
    if i < a.size:
        products[tid] = a[i] * b[i]
    cuda.syncthreads()
    half = BLOCK // 2
    while half:
        if tid < half:
            products[tid] += products[tid + half]
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        cuda.atomic.add(out, 0, products[0])


a = np.ones(1000, np.float32)
result = np.zeros(1, np.float32)
begin = time.time()
dot_kernel[8, BLOCK](a, a, result)
print("1000 ==", result[0], "in", time.time() - begin, "seconds")
assert result[0] == 1000
