"""Thresholding: a photograph in black and white. The task is in task.md."""

from gpukit import cuda


@cuda.jit
def black_and_white_kernel(photo, out):
    """Write 255 to out where the pixel is 128 or more, and 0 elsewhere."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        if photo[row, col] >= 128:
            out[row, col] = 255
        else:
            out[row, col] = 0
