"""Square roots, eight per thread. The task is in task.md."""

import math

from gpukit import cuda

EACH = 8  # elements per thread


@cuda.jit
def root_kernel(x, out):
    """Write the square root of x[i] to out[i]. Correct, but moves eight times too many sectors."""
    first = cuda.grid(1) * EACH
    for i in range(first, min(first + EACH, x.size)):
        out[i] = math.sqrt(x[i])
