"""Dot products of int8 rows, one warp per row. The task is in task.md."""

import numpy as np

from gpukit import cuda
from gpukit.primitives.dot4 import dot4


@cuda.jit
def int8_dot_kernel(weight, x, scale, x_scale, out):
    """Write the product of each row of weight and x, both scaled int8, to out."""
    row = cuda.grid(1) // 32  # the same in all 32 lanes of a warp
    if row < out.size:
        acc = np.int32(0)
        for k in range(cuda.laneid, x.size, 32):
            acc = dot4(weight[row, k], x[k], acc)
        for offset in (16, 8, 4, 2, 1):
            acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, offset)
        if cuda.laneid == 0:
            out[row] = np.float32(acc) * (scale[row] * x_scale[0])
