"""The windows of an image as the columns of a matrix. The task is in task.md."""

from gpukit import cuda


@cuda.jit
def im2col_kernel(x, k_rows, k_cols, cols):
    """Write the pixel that weight `tap` multiplies at `position` to cols[tap, position]."""
    position, tap = cuda.grid(2)
    # FILL ME IN (about 6 lines)
