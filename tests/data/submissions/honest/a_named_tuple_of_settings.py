import math
from collections import namedtuple

import numpy as np

from gpukit import cuda

Settings = namedtuple("Settings", "block most")
SETTINGS = Settings(block=128, most=np.float32(1))
BLOCK, MOST = SETTINGS.block, SETTINGS.most


@cuda.jit
def clip_kernel(grad, out):
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, np.float32)
    acc = np.float32(0)
    for i in range(tid, grad.size, BLOCK):
        acc += grad[i] ** 2
    tile[tid] = acc
    cuda.syncthreads()
    step = BLOCK >> 1
    while step:
        if tid < step:
            tile[tid] += tile[tid + step]
        cuda.syncthreads()
        step >>= 1
    norm = math.sqrt(tile[0])
    scale = np.float32(1)
    if norm > MOST:
        scale = MOST / norm
    for i in range(tid, grad.size, BLOCK):
        out[i] = scale * grad[i]
