"""Prune each group of four weights to two, one thread per weight. The task is in task.md."""

import numpy as np

from gpukit import cuda

BLOCK = 128


@cuda.jit
def prune_kernel(weight, out):
    """Write weight[i] to out[i] if its magnitude is among the two largest of its four, else 0."""
    i = cuda.grid(1)
    value = weight[i] if i < weight.size else np.float32(0)
    before = 0  # how many of the other three rank before this one
    for k in (1, 2, 3):
        other = cuda.shfl_xor_sync(0xFFFFFFFF, abs(value), k)
        if other > abs(value) or (other == abs(value) and i ^ k < i):
            before += 1
    if i < out.size:
        out[i] = value if before < 2 else np.float32(0)
