"""The index of the largest element, the first of equal ones. The task is in task.md."""

import numpy as np

from gpukit import cuda

BLOCK = 128


@cuda.jit
def argmax_kernel(x, best):
    """Write the index of the largest element of x to best[0]; in a single block."""
    tid = cuda.threadIdx.x
    values = cuda.shared.array(BLOCK, np.float32)
    places = cuda.shared.array(BLOCK, np.int32)
    # FILL ME IN (about 21 lines)
