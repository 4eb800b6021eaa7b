"""One step with a dynamic loss scale. The task is in task.md."""

import numpy as np

EVERY = 3


def scaled_step(backward, weights, state, lr):
    """Update the weights with the gradient of a scaled loss, or skip the step; adapt the scale."""
    grad = backward(state.scale).astype(np.float32) / np.float32(state.scale)
    if not np.isfinite(grad).all():
        state.scale /= 2
        state.good = 0
        return False
    weights -= lr * grad
    state.good += 1
    if state.good == EVERY:
        state.scale *= 2
        state.good = 0
    return True
