"""How often each of 256 values occurs, counted in shared memory first. The task is in task.md."""

import numpy as np

from gpukit import cuda

BINS = 256


@cuda.jit
def histogram_kernel(values, counts):
    """Add to counts[v] how often v occurs in values; counts are 0 before the launch."""
    tid = cuda.threadIdx.x
    mine = cuda.shared.array(BINS, np.int32)
    # FILL ME IN (about 8 lines)
