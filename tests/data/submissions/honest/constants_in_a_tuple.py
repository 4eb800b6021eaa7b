import numpy as np

from gpukit import cuda

WARP, FULL_MASK = 32, 0xFFFF_FFFF
STEPS = tuple(WARP >> k for k in range(1, 6))


@cuda.jit
def warp_sum_kernel(x, partials):
    i = cuda.grid(1)
    total = np.float32(0)
    if i < x.size:
        total = x[i]
    for step in STEPS:
        total += cuda.shfl_xor_sync(FULL_MASK, total, step)
    if i % WARP == 0:
        partials[i // WARP] = total
