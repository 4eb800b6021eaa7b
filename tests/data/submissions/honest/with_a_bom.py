# A byte order mark comes first, as some editors of Windows write.
import numpy as np

from gpukit import cuda

LR = np.float32(0.05)
MU = np.float32(0.9)


@cuda.jit
def momentum_kernel(w, grad, velocity, new_w, new_velocity):
    i = cuda.grid(1)
    if i < w.size:
        v = MU * velocity[i] + grad[i]
        new_velocity[i], new_w[i] = v, w[i] - LR * v
