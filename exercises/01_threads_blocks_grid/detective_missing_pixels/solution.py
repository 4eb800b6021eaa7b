"""A mirror image that loses pixels. The task is in task.md."""

from gpukit import cuda


@cuda.jit
def mirror_kernel(photo, out):
    """Write the photograph, mirrored left to right, to out. Two lines are wrong."""
    col, row = cuda.grid(2)
    rows, cols = out.shape
    if row < rows and col < cols:
        out[row, col] = photo[row, cols - 1 - col]
