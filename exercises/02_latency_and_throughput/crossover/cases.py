"""Cases of the crossover: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
CPU_SECONDS = float(np.float32(12 / 20e9))
GPU_SECONDS = float(np.float32(12 / 3.35e12))
LAUNCH = float(np.float32(5e-6))


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n sizes, from one pair to a billion."""
    pairs = np.float32(10) ** rng.uniform(0, 9, n).astype(np.float32)
    wide = pairs.astype(np.float64)
    cpu, gpu = wide * CPU_SECONDS, wide * GPU_SECONDS
    return Case(
        args={"pairs": pairs, "speedup": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"speedup": (cpu / (LAUNCH + gpu)).astype(np.float32)},
        mistakes={
            "The launch is left out: then every size has the same speedup.": {
                "speedup": (cpu / np.where(gpu, gpu, 1)).astype(np.float32)
            },
            "The ratio is upside down: it is the GPU's time divided by the CPU's.": {
                "speedup": ((LAUNCH + gpu) / cpu).astype(np.float32)
            },
            "The launch is paid for each pair; it is paid once.": {
                "speedup": (cpu / (wide * LAUNCH + gpu)).astype(np.float32)
            },
            "The launch was added to the CPU's time; the GPU needs it.": {
                "speedup": ((LAUNCH + cpu) / gpu).astype(np.float32)
            },
        },
    )
