from gpukit import cuda
import numpy as np

ONE_OVER_KEEP = np.float32(1) / np.float32(0.75)
ZERO = np.float32()


@cuda.jit(lineinfo=True, fastmath=False, opt=True)
def dropout_kernel(x, mask, grad_out, y, grad_x):
    i = cuda.threadIdx.x + cuda.blockDim.x * cuda.blockIdx.x
    if i >= len(x):
        return
    keep = bool(mask[i])
    y[i] = ONE_OVER_KEEP * x[i] if keep else ZERO
    grad_x[i] = ONE_OVER_KEEP * grad_out[i] if keep else ZERO
