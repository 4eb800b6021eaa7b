"""Cases of the crossover: lengths around the block size, and zero."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
CPU_SECONDS = float(np.float32(12 / 20e9))
GPU_SECONDS = float(np.float32(12 / 3.35e12))
LAUNCH = float(np.float32(5e-6))


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n sizes, from 1 pair to 1e9, or up to 1e12 if n > BLOCK."""
    pairs = np.float32(10) ** rng.uniform(0, 9, n).astype(np.float32)
    if n == BLOCK - 1:  # one length has zero pairs, too
        pairs[5] = 0
    if n > BLOCK:  # up to sizes that are memory-bound
        pairs[-3:] = 1, 1e9, 1e12
    wide = pairs.astype(np.float64)
    right = wide * CPU_SECONDS / (LAUNCH + wide * GPU_SECONDS)
    return Case(
        args={"pairs": pairs, "speedup": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"speedup": right.astype(np.float32)},
    )
