import math

from gpukit import cuda

EACH = 2 ** 3


@cuda.jit
def root_kernel(x, out):
    """Neighbouring threads take neighbouring elements."""
    stride = cuda.blockDim.x * cuda.gridDim.x
    i = cuda.grid(1)
    for _ in range(EACH):
        if i < x.size:
            out[i] = math.sqrt(x[i])
        i += stride
