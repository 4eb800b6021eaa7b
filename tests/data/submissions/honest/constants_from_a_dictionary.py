import math

import numpy as np

from gpukit import cuda

PARAMETERS = dict(lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.1)
P = {name: np.float32(value) for name, value in PARAMETERS.items()}
LR, BETA1, BETA2, EPS, DECAY = P["lr"], P["beta1"], P["beta2"], P["eps"], P["decay"]
REST1, REST2 = np.float32(1) - BETA1, np.float32(1) - BETA2


@cuda.jit(fastmath=False)
def adamw_kernel(w, grad, m, v, step, new_w, new_m, new_v):
    i = cuda.grid(1)
    if i >= w.size:
        return
    mean = BETA1 * m[i] + REST1 * grad[i]
    square = BETA2 * v[i] + REST2 * grad[i] * grad[i]
    new_m[i] = mean
    new_v[i] = square
    old = w[i]
    m_hat = mean / (np.float32(1) - BETA1 ** np.float32(step))
    v_hat = square / (np.float32(1) - BETA2 ** np.float32(step))
    new_w[i] = old - LR * (m_hat / (math.sqrt(v_hat) + EPS) + DECAY * old)
