"""Cases of the crossover: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
CPU_SECONDS = np.float32(12 / 20e9)
GPU_SECONDS = np.float32(12 / 3.35e12)
LAUNCH = np.float32(5e-6)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n sizes, from one pair to a billion; in one length also no pair."""
    pairs = np.float32(10) ** rng.uniform(0, 9, n).astype(np.float32)
    if n == BLOCK - 1:
        pairs[5] = 0
    if n > BLOCK:  # where nearly all of the time is that of the memory
        pairs[-3:] = 1, 1e9, 1e12
    wide = pairs.astype(np.float64)
    launch = float(LAUNCH)
    cpu, gpu = wide * float(CPU_SECONDS), wide * float(GPU_SECONDS)
    number = np.arange(n)
    right = cpu / (launch + gpu)
    # In float32 and in a kernel's order: rounding shows where two times are nearly equal.
    difference = pairs * CPU_SECONDS - (LAUNCH + pairs * GPU_SECONDS)
    return Case(
        args={"pairs": pairs, "speedup": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"speedup": right.astype(np.float32)},
        mistakes={
            "Where pairs is 0 the speedup is 0: the CPU needs no time, the GPU its launch.": _left(
                np.maximum(wide, 1) * float(CPU_SECONDS),
                launch + np.maximum(wide, 1) * float(GPU_SECONDS),
            ),
            "The launch is left out: then every size has the same speedup.": _left(cpu, gpu),
            "The ratio is upside down: it is the GPU's time divided by the CPU's.": _left(
                launch + gpu, cpu
            ),
            "The launch is paid for each pair; it is paid once.": _left(cpu, wide * launch + gpu),
            "The launch is multiplied by pairs.size, the number of all sizes; each size has one "
            "launch.": _left(cpu, launch * n + gpu),
            "The launch was added to the CPU's time; the GPU needs it.": _left(launch + cpu, gpu),
            "The GPU needs the launch and the transfer, one after the other: their sum, not the "
            "larger of "
            "them.": _left(cpu, np.maximum(launch, gpu)),
            "The launch was added to both times; only the GPU needs it.": _left(
                launch + cpu, launch + gpu
            ),
            "This is cpu / LAUNCH + gpu: a division comes before a sum. Put LAUNCH + pairs[i] * "
            "GPU_SECONDS into parentheses.": _left(cpu / launch + gpu, 1),
            "This is the difference of the two times; the speedup is cpu / gpu.": _left(
                difference, 1
            ),
            "The fractions are cut off: // divides and rounds down, / divides.": _left(
                np.floor(right), 1
            ),
            "Each thread computes with its index i; the number of pairs is pairs[i].": _left(
                number * float(CPU_SECONDS), launch + number * float(GPU_SECONDS)
            ),
            "No speedup is below 1 here, yet for few pairs the GPU is slower: leave it below 1.": (
                _left(np.maximum(right, 1), 1)
            ),
            "The 12 bytes of a pair are missing: keep the constants as they are given.": (
                _left(wide / 20e9, launch + wide / 3.35e12)
            ),
        },
    )


def _left(above: np.ndarray, below: np.ndarray | float) -> dict[str, np.ndarray]:
    """Return a quotient as float32; nothing where it has a NaN, which equals nothing.

    The other cases tell such a mistake then.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        speedup = np.asarray(above / below).astype(np.float32)
    return {} if np.isnan(speedup).any() else {"speedup": speedup}
