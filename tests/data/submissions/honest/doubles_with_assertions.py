import math

import numpy as np

from gpukit import cuda

h = 1e-4
assert h > 0, "the step must be positive"


@cuda.jit
def gradcheck_kernel(x, target, w, grad, numeric, suspect):
    i = cuda.grid(1)
    if i >= w.shape[0]:
        return
    difference = 0.0
    for b in range(x.shape[0]):
        z = 0.0
        for k in range(w.shape[0]):
            z += x[b, k] * w[k]
        up = math.tanh(z + h * x[b, i]) - target[b]
        down = math.tanh(z - h * x[b, i]) - target[b]
        difference += 0.5 * (up * up - down * down)
    numeric[i] = difference / (2 * h)
    if abs(numeric[i] - grad[i]) > 1e-4 * max(1.0, abs(numeric[i])):
        suspect[i] = 1
    else:
        suspect[i] = 0
