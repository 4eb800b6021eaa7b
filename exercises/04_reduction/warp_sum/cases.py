"""Cases of the sums of warps: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def by_warp(x: np.ndarray, warps: int) -> np.ndarray:
    """Return the elements of each warp in float64, with 0 past the end."""
    padded = np.zeros(warps * 32)
    padded[: len(x)] = x
    return padded.reshape(warps, 32)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(0.25, 1, n).astype(np.float32)
    blocks = max(1, -(-n // BLOCK))
    warps = blocks * BLOCK // 32
    rows = by_warp(x, warps)

    def sums(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"partials": values.astype(np.float32)}

    right = sums(rows.sum(axis=1))
    return Case(
        args={"x": x, "partials": poison(warps)},
        grid=blocks,
        block=BLOCK,
        expected=right,
        scale={"partials": np.abs(rows).sum(axis=1)},
        per="block",
    )
