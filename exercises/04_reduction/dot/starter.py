"""The dot product of two vectors: a tree and one atomic per block. The task is in task.md."""

import numpy as np

from gpukit import cuda

BLOCK = 128


@cuda.jit
def dot_kernel(a, b, out):
    """Add the sum of a[i] * b[i] to out[0], which is 0 before the launch."""
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, np.float32)
    # FILL ME IN (about 10 lines)
