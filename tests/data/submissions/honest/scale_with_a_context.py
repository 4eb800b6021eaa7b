import warnings

import numpy as np

EVERY = 3


def scaled_step(backward, weights, state, lr):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad = backward(state.scale)
    if np.any(np.isnan(grad) | np.isinf(grad)):
        state.scale = state.scale * 0.5
        state.good = 0
        return False
    grad = np.asarray(grad, dtype=np.float32)
    np.divide(grad, np.float32(state.scale), out=grad)
    weights[...] = weights - lr * grad
    state.good = (state.good + 1) % EVERY
    if not state.good:
        state.scale *= 2.0
    return True
