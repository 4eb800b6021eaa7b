"""Scale a vector down to the norm MOST if it is longer, in one block. The task is in task.md."""

import math

import numpy as np

from gpukit import cuda

BLOCK = 128
MOST = np.float32(1)


@cuda.jit
def clip_kernel(grad, out):
    """Write grad to out, scaled down to the norm MOST if its norm is larger."""
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, np.float32)
    # FILL ME IN (about 14 lines)
