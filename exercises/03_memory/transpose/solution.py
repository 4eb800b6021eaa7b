"""The transpose of a matrix, one thread per element. The task is in task.md."""

from gpukit import cuda


@cuda.jit
def transpose_kernel(a, out):
    """Write row r of a to column r of out."""
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[1]:
        out[col, row] = a[row, col]
