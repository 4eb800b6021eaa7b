import sys
import warnings

from gpukit import cuda

warnings.warn("this grid is too small for a GPU", stacklevel=1)
print("loaded", file=sys.stderr)


@cuda.jit
def upside_down_kernel(photo, out):
    col, row = cuda.grid(2)
    rows, cols = photo.shape
    if row < rows and col < cols:
        out[row, col] = photo[rows - 1 - row, col]
