"""A data parallel step with clipping and momentum. The task is in task.md."""

import numpy as np

LR, MOMENTUM, LIMIT = 0.1, 0.9, 1.0


def data_parallel_step(group, weights, velocity, x, y):
    """Update weights and velocity in place by the clipped mean gradient of all ranks."""
    error = x @ weights - y
    grad = x.T @ error / len(x)
    grad = group.all_reduce(grad) / group.size
    grad *= LIMIT / max(np.linalg.norm(grad), LIMIT)
    velocity *= MOMENTUM
    velocity += grad
    weights -= LR * velocity
