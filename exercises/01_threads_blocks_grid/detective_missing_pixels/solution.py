"""A mirror image that loses pixels. The task is in task.md."""

from gpukit import cuda


@cuda.jit
def mirror_kernel(photo, out):
    """Write to out the photograph with left and right exchanged. Two lines are wrong."""
    col, row = cuda.grid(2)
    rows, cols = out.shape
    if row < rows and col < cols:
        out[row, col] = photo[row, cols - 1 - col]
