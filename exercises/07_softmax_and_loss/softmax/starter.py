"""The softmax of each row, one warp of 32 threads per row. The task is in task.md."""

import math

import numpy as np

from gpukit import cuda

ALL = 0xFFFFFFFF  # the mask of a full warp


@cuda.jit
def softmax_kernel(x, out):
    """Write the softmax of each row of x to out; warp r computes row r."""
    row = cuda.grid(1) // 32  # the same in all 32 lanes of a warp
    # FILL ME IN (about 13 lines)
