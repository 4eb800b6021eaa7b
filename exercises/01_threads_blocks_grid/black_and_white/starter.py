"""Thresholding: a photograph in black and white. The task is in task.md."""

from gpukit import cuda


@cuda.jit
def black_and_white_kernel(photo, out):
    """Write 255 to out where the pixel is 128 or more, and 0 elsewhere."""
    # FILL ME IN (about 6 lines).
