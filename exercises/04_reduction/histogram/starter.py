"""The histogram of a uint8 vector, counted in shared memory first. The task is in task.md."""

import numpy as np

from gpukit import cuda

BINS = 256


@cuda.jit
def histogram_kernel(values, counts):
    """Add the count of each v in values to counts[v], which is 0 before the launch."""
    tid = cuda.threadIdx.x
    mine = cuda.shared.array(BINS, np.int32)
    # FILL ME IN (about 8 lines)
