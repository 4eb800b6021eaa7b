"""A polynomial with its coefficients in constant memory. The task is in task.md."""

import numpy as np

from gpukit import cuda

# These make dark tones a little darker and bright ones a little brighter; 0 stays 0, 1 stays 1.
COEFFICIENTS = np.array([0, 0.75, 0, 2.5, -3.75, 1.5], np.float32)


@cuda.jit
def tone_curve_kernel(x, out):
    """Evaluate the polynomial with COEFFICIENTS, lowest power first, at x[i] into out[i]."""
    # FILL ME IN (about 7 lines)
