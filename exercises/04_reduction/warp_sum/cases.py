"""Cases of the sums of warps: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def by_warp(x: np.ndarray, warps: int) -> np.ndarray:
    """Return the sum of each warp's elements in float64."""
    padded = np.zeros(warps * 32)
    padded[: len(x)] = x
    return padded.reshape(warps, 32).sum(axis=1)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(0.25, 1, n).astype(np.float32)
    blocks = max(1, -(-n // BLOCK))
    warps = blocks * BLOCK // 32
    halves = np.zeros(warps * 32)
    halves[:n] = x
    right = by_warp(x, warps).astype(np.float32)
    return Case(
        args={"x": x, "partials": poison(warps)},
        grid=blocks,
        block=BLOCK,
        expected={"partials": right},
        scale={"partials": by_warp(np.abs(x), warps)},
        mistakes={
            "Only the first 16 elements of each warp were added: the step of 16 is missing.": {
                "partials": halves.reshape(warps, 2, 16)[:, 0].sum(axis=1).astype(np.float32)
            },
            "Only every second element was added: the step of 1 is missing.": {
                "partials": halves.reshape(warps, 16, 2)[:, :, 0].sum(axis=1).astype(np.float32)
            },
            "Only the first warp of each block stored its sum: cuda.threadIdx.x is 0 in one thread "
            "of a block; lane 0 of each warp is asked.": {
                "partials": np.where(np.arange(warps) % (BLOCK // 32), poison(warps), right)
            },
        },
        per="block",
    )
