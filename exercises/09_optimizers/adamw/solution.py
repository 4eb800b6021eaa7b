"""One step of the optimizer AdamW. The task is in task.md."""

import math

import numpy as np

from gpukit import cuda

LR = np.float32(0.01)
BETA1 = np.float32(0.9)
BETA2 = np.float32(0.999)
EPS = np.float32(1e-8)
DECAY = np.float32(0.1)
ONE = np.float32(1)


@cuda.jit
def adamw_kernel(w, grad, m, v, step, new_w, new_m, new_v):
    """Write the weights and both moments after this step; step counts from 1."""
    i = cuda.grid(1)
    if i < w.size:
        mean = BETA1 * m[i] + (ONE - BETA1) * grad[i]
        square = BETA2 * v[i] + (ONE - BETA2) * grad[i] * grad[i]
        m_hat = mean / (ONE - BETA1 ** np.float32(step))
        v_hat = square / (ONE - BETA2 ** np.float32(step))
        new_w[i] = w[i] - LR * DECAY * w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)
        new_m[i] = mean
        new_v[i] = square
