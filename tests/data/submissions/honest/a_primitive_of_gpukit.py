import numpy as np

from gpukit import cuda
from gpukit.primitives.dot4 import dot4 as dp4a

MASK = -1 & 0xFFFFFFFF


@cuda.jit
def int8_dot_kernel(weight, x, scale, x_scale, out):
    row, lane = divmod(cuda.grid(1), 32)
    if row < out.size:
        total = np.int32(0)
        k = lane
        while k < x.size:
            total = dp4a(weight[row, k], x[k], total)
            k += 32
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(MASK, total, step)
            step //= 2
        if lane == 0:
            out[row] = np.float32(total) * (scale[row] * x_scale[0])
