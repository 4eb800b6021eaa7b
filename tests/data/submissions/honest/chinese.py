"""直方图：先在共享内存中计数，再加到全局内存。"""

import numpy as np

from gpukit import cuda

BINS = 256  # 亮度的数目


@cuda.jit
def histogram_kernel(values, counts):
    """统计每个亮度出现的次数，把结果加到 counts。"""
    线程 = cuda.threadIdx.x
    local = cuda.shared.array(BINS, np.int32)
    for k in range(线程, BINS, cuda.blockDim.x):
        local[k] = 0  # 清零
    cuda.syncthreads()  # 所有计数器都是零之后才开始计数
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(local, values[i], 1)
    cuda.syncthreads()
    for k in range(线程, BINS, cuda.blockDim.x):
        cuda.atomic.add(counts, k, local[k])
