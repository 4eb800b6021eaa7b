"""The windows of an image as the columns of a matrix. The task is in task.md."""

from gpukit import cuda


@cuda.jit
def im2col_kernel(x, k_rows, k_cols, cols):
    """Write the pixel that weight `tap` multiplies at `position` to cols[tap, position]."""
    position, tap = cuda.grid(2)
    if tap < cols.shape[0] and position < cols.shape[1]:
        across = x.shape[2] - k_cols + 1  # positions per row
        row, col = position // across, position % across
        c = tap // (k_rows * k_cols)
        m, n = tap // k_cols % k_rows, tap % k_cols
        cols[tap, position] = x[c, row + m, col + n]
