"""The size from which a GPU adds vectors faster than a CPU, by a model. The task is in task.md."""

import numpy as np

from gpukit import cuda

# Per pair two numbers are read and one is written: 12 bytes. The memory bandwidth is 20 GB/s for a
# laptop's core and 3.35 TB/s for an H100. A launch takes about 5 microseconds, whatever its size.
CPU_SECONDS = np.float32(12 / 20e9)
GPU_SECONDS = np.float32(12 / 3.35e12)
LAUNCH = np.float32(5e-6)


@cuda.jit
def crossover_kernel(pairs, speedup):
    """Write to speedup[i] how many times faster the GPU adds pairs[i] pairs than the CPU does."""
    i = cuda.grid(1)
    if i < pairs.size:
        cpu = pairs[i] * CPU_SECONDS
        gpu = LAUNCH + pairs[i] * GPU_SECONDS
        speedup[i] = cpu / gpu
