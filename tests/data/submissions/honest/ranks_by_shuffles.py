import numpy as np
from numba import cuda

ALL_LANES = 2**32 - 1


@cuda.jit
def prune_kernel(weight, out):
    i = cuda.grid(1)
    w = np.float32(0)
    if i < weight.size:
        w = weight[i]
    size, rank = abs(w), 0
    for k in range(1, 4):
        other = cuda.shfl_xor_sync(ALL_LANES, size, k)
        first = (i ^ k) < i
        if first and other >= size or not first and other > size:
            rank += 1
    if i < out.size:
        out[i] = w if rank < 2 else np.float32(0)
