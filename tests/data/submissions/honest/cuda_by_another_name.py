import numpy as np
from gpukit import cuda as gpu

BLOCK = 128


@gpu.jit()
def argmax_kernel(x, best):
    me = gpu.threadIdx.x
    top = gpu.shared.array(BLOCK, np.float32)
    where = gpu.shared.array(BLOCK, np.int32)
    top[me] = np.float32(-np.inf)
    where[me] = me
    for i in range(me, x.shape[0], BLOCK):
        if x[i] > top[me]:
            top[me] = x[i]
            where[me] = i
    gpu.syncthreads()
    for step in (64, 32, 16, 8, 4, 2, 1):
        if me < step:
            a, b = top[me], top[me + step]
            if b > a or (b == a and where[me + step] < where[me]):
                top[me] = b
                where[me] = where[me + step]
        gpu.syncthreads()
    if me == 0:
        best[0] = where[0]
