"""Two dense layers whose weights are divided among ranks. The task is in task.md."""

import numpy as np


def split_linear(group, x, w1, b1, w2, b2, grad):
    """Return the output of both layers and the gradient of x, the same on all ranks."""
    h = np.maximum(x @ w1.T + b1, 0)
    out = group.all_reduce(h @ w2.T)
    out += b2
    grad_h = (grad @ w2) * (h > 0)
    grad_x = group.all_reduce(grad_h @ w1)
    return out, grad_x
