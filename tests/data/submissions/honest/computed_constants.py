import numpy as np

from gpukit import cuda

GB, TB, US = 1e9, 1e12, 1e-6
BYTES = 3 * np.dtype(np.float32).itemsize
CPU_BANDWIDTH = 20 * GB
GPU_BANDWIDTH = 3.35 * TB
CPU = np.float32(BYTES / CPU_BANDWIDTH)
GPU = np.float32(BYTES / GPU_BANDWIDTH)
OVERHEAD = np.float32(5 * US)


@cuda.jit
def crossover_kernel(pairs, speedup):
    i = cuda.grid(1)
    if i < pairs.size:
        n = pairs[i]
        speedup[i] = (n * CPU) / (OVERHEAD + n * GPU)
