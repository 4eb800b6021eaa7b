"""Cases of causal attention, a block for a query: short texts and long ones."""

import numpy as np

from gpukit.course import Case, poison

BLOCK, MOST = 64, 128
# Places and columns.
SHAPES = {
    "two places": (2, 8),
    "one place": (1, 1),
    "a column for each thread": (17, 64),
    "one less than a block": (63, 5),
    "a key for each thread": (64, 32),
    "one more than a block": (65, 3),
    "two primes": (101, 23),
    "as many as there is room for": (128, 2),
}


def case(rng: np.random.Generator, n: int, size: int) -> Case:
    """Return the case of at most 128 places with at most 64 columns."""
    n, size = min(n, MOST), min(size, BLOCK)
    # Multiples of 1 / 16, so that the products and their sums are exact in float32.
    q, k = np.round(rng.normal(0, 16, (2, n, size))) / 16
    around = np.resize([0, 150, 0, -150, 1], n)  # where the scores of a query lie
    k[:, 0] = 4 + np.round(rng.normal(0, 4, n)) / 16
    q[:, 0] += np.round(around * 16 * np.sqrt(size) / 4) / 16
    q[5::16], q[5::16, :1] = 0, -(2.0**124)  # scores below which there is hardly a number
    v = rng.normal(0, 1, (n, size)) + 1
    q, k, v = (a.astype(np.float32) for a in (q, k, v))
    wide_q, wide_k, wide_v = (a.astype(np.float64) for a in (q, k, v))
    scores = wide_q @ wide_k.T / np.sqrt(size)
    seen = np.tri(n, dtype=bool)

    def of(scores: np.ndarray, seen: np.ndarray = seen) -> dict[str, np.ndarray]:
        """Return the outputs of these scores, where a query sees these keys."""
        high = np.where(seen, scores, -np.inf).max(axis=1, keepdims=True)
        e = np.where(seen, np.exp(np.minimum(scores - high, 0)), 0)
        with np.errstate(invalid="ignore"):  # of a query that sees nothing
            return {"out": (e / e.sum(axis=1, keepdims=True) @ wide_v).astype(np.float32)}

    return Case(
        args={"q": q, "k": k, "v": v, "out": poison((n, size))},
        grid=n,
        block=BLOCK,
        expected=of(scores),
        scale={"out": np.full((n, size), np.abs(wide_v).max())},
        per="block",
        # A warp that has neither a key that the query may see nor a column of the values.
        idle_warps=sum(min(n, warp) for warp in range(32, BLOCK, 32) if warp >= size),
    )
