import math

import numpy as np

from gpukit import cuda

η = np.float32(0.05)
μ = np.float32(0.9)


@cuda.jit
def momentum_kernel(w, grad, velocity, new_w, new_velocity):
    i = cuda.grid(1)
    if i < w.size:
        ν = μ * velocity[i] + grad[i]
        new_velocity[i] = ν
        new_w[i] = w[i] - η * ν
