"""A step with momentum along a clipped gradient. The task is in task.md."""

import numpy as np

from gpukit import cuda

LIMIT = np.float32(2)  # the largest norm of a gradient that is not clipped
LR = np.float32(0.05)
MU = np.float32(0.9)


@cuda.jit
def clipped_step_kernel(w, grad, norm, velocity, new_w, new_velocity):
    """Write velocities and weights after a step to new_velocity and new_w. Two lines are wrong."""
    i = cuda.grid(1)
    if i < w.size:
        factor = LIMIT / norm[0]
        speed = MU * velocity[i] + factor * grad[i]
        new_velocity[i] = speed
        new_w[i] = w[i] - LR * velocity[i]
