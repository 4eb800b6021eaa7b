"""One step of gradient descent with momentum. The task is in task.md."""

import numpy as np

from gpukit import cuda

LR = np.float32(0.05)
MU = np.float32(0.9)


@cuda.jit
def momentum_kernel(w, grad, velocity, new_w, new_velocity):
    """Write the velocities and the weights after this step to new_velocity and new_w."""
    i = cuda.grid(1)
    # FILL ME IN (about 4 lines)
