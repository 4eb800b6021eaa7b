import sys

import numpy as np

from gpukit import cuda

if sys.version_info >= (3, 12):
    WHITE = np.float32(0xFF)
else:
    WHITE = np.float32(255)

FACTOR = np.float32(2) if WHITE > 1 else np.float32(0)
TABLE, *_ = (FACTOR, 3, 4)


@cuda.jit
def brighten_kernel(photo, out):
    col, row = cuda.grid(2)
    if (row < out.shape[0]) & (col < out.shape[1]):
        out[row, col] = min(TABLE * photo[row, col], WHITE)
