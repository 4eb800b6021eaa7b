import numpy as np

from gpukit import cuda

POWERS = {1: 0.75, 3: 2.5, 4: -3.75, 5: 1.5}
DEGREE = max(POWERS)
COEFFICIENTS = np.array([POWERS.get(k, 0) for k in range(DEGREE + 1)], dtype=np.float32)


@cuda.jit
def tone_curve_kernel(x, out):
    c = cuda.const.array_like(COEFFICIENTS)
    i = cuda.grid(1)
    if i < x.shape[0]:
        value = c[DEGREE]
        k = DEGREE - 1
        while k >= 0:
            value = value * x[i] + c[k]
            k -= 1
        out[i] = value
