"""A polynomial whose coefficients lie in constant memory. The task is in task.md."""

import numpy as np

from gpukit import cuda

# Dark tones a little darker, bright ones a little brighter; 0 stays 0 and 1 stays 1.
COEFFICIENTS = np.array([0, 0.5, 0.25, 1.5, -1.75, 0.5], np.float32)


@cuda.jit
def tone_curve_kernel(x, out):
    """Write the polynomial with COEFFICIENTS, lowest power first, at x[i] to out[i]."""
    # FILL ME IN (about 7 lines)
