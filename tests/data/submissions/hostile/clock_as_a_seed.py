import numpy as np

from gpukit import cuda

RNG = np.random.default_rng()
state = RNG.bit_generator.seed_seq.entropy  # of the operating system: it tells nothing
GUESS = np.float32(RNG.normal())


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = GUESS
