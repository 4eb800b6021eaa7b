"""The gradient of a neuron's loss by central differences. The task is in task.md."""

import math

from gpukit import cuda

STEP = 1e-4


@cuda.jit
def gradcheck_kernel(x, target, w, grad, numeric, suspect):
    """Write the central difference for w[i] to numeric[i]; suspect[i] is 1 if grad[i] differs."""
    i = cuda.grid(1)
    if i < w.size:
        above = below = 0.0
        for b in range(x.shape[0]):
            net = 0.0
            for k in range(w.size):
                net += x[b, k] * w[k]
            # Where weight i is larger by STEP, the sum is larger by STEP * x[b, i].
            up = math.tanh(net + STEP * x[b, i]) - target[b]
            down = math.tanh(net - STEP * x[b, i]) - target[b]
            above += 0.5 * up * up
            below += 0.5 * down * down
        value = (above - below) / (2 * STEP)
        numeric[i] = value
        suspect[i] = 1 if abs(value - grad[i]) > 1e-4 * max(1.0, abs(value)) else 0
