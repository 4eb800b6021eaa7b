import math

import numpy as np
from numpy import inf

from gpukit import cuda


@cuda.jit
def cross_entropy_grad_kernel(logits, log_sum, target, grad):
    c, s = cuda.grid(2)
    samples, classes = logits.shape
    if s < samples and c < classes:
        p = math.exp(logits[s, c] - log_sum[s])
        if c == target[s]:
            p -= np.float32(1)
        grad[s, c] = p / np.float32(samples)
