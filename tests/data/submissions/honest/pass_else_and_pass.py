import numpy as np

from gpukit import cuda

LIMIT = np.float32(2)
LR = np.float32(0.05)
MU = np.float32(0.9)


@cuda.jit
def clipped_step_kernel(w, grad, norm, velocity, new_w, new_velocity):
    i = cuda.grid(1)
    if not i < w.size:
        pass
    else:
        n = norm[0]
        g = grad[i]
        if n > LIMIT:
            g = g * (LIMIT / n)
        v = MU * velocity[i] + g
        new_velocity[i] = v
        new_w[i] = w[i] - LR * v
