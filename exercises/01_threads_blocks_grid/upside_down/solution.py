"""A photograph turned upside down. The task is in task.md."""

from gpukit import cuda


@cuda.jit
def upside_down_kernel(photo, out):
    """Write the rows of the photograph to out in reverse order."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[out.shape[0] - 1 - row, col] = photo[row, col]
