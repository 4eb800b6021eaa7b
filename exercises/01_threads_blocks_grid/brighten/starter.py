"""A photograph at twice the brightness, clamped to white. The task is in task.md."""

import numpy as np

from gpukit import cuda


@cuda.jit
def brighten_kernel(photo, out):
    """Write twice the brightness of each pixel to out, 255 at most."""
    # FILL ME IN (about 3 lines). np.float32(2) and np.float32(255) keep it float32.
