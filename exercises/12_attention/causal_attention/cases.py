"""Cases of causal attention: texts of all lengths, up to 32 columns, scores far from 0."""

import numpy as np

from gpukit.course import Case, lanes, poison

BLOCK, MOST = 128, 32
LOW = (61, 64)  # places of the cases in which some scores are as low as -1e37
# Places and columns.
SHAPES = {
    "a query for each warp": (4, 32),
    "one place": (1, 1),
    "two places": (2, 8),
    "one place more": (5, 31),
    "one column": (9, 1),
    "a column for each second lane": (7, 16),
    "two primes": (61, 23),
    "one less than a block": (127, 4),
    "as many as a block": (128, 3),
    "one more than a block": (129, 2),
    "many places": (64, 32),
}


def case(rng: np.random.Generator, n: int, size: int) -> Case:
    """Return the case of n places with so many columns, at most 32."""
    size = min(size, MOST)
    # Multiples of 1 / 16, so that the products and their sums are exact in float32.
    q, k = np.round(rng.normal(0, 16, (2, n, size))) / 16
    around = np.resize([0, 150, -150, 1, 0], n)  # where the scores of a query lie
    k[:, 0] = 4 + np.round(rng.normal(0, 4, n)) / 16
    k[6::16, 0] = 12  # far above the first for a query of 150, far below for one of -150
    q[:, 0] += np.round(around * 16 * np.sqrt(size) / 4) / 16
    q[4::5] *= 8  # some scores far above the others
    low = n in LOW
    if low:  # scores below which there is hardly a number; some mistakes leave float32 there
        q[7::16], q[7::16, 0] = 0, -(2.0**124)
    v = rng.normal(0, 1, (n, size)) + 1
    q, k, v = (a.astype(np.float32) for a in (q, k, v))
    wide_q, wide_k, wide_v = (a.astype(np.float64) for a in (q, k, v))
    products = wide_q @ wide_k.T
    scores = products / np.sqrt(size)
    seen = np.tri(n, dtype=bool)

    def left(result: np.ndarray) -> dict[str, np.ndarray]:
        return {"out": result.astype(np.float32)}

    def of(
        scores: np.ndarray, seen: np.ndarray = seen, values: np.ndarray = wide_v
    ) -> dict[str, np.ndarray]:
        """Return the outputs of these scores, where a query sees these keys."""
        return left(shares(scores, seen) @ values)

    return Case(
        args={"q": q, "k": k, "v": v, "out": poison((n, size))},
        grid=-(-n * lanes.WARP // BLOCK),
        block=BLOCK,
        expected=of(scores),
        scale={"out": np.full((n, size), np.abs(wide_v).max())},
        per="block",
    )


def highest(scores: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return the highest score that each query sees."""
    return np.asarray(np.where(seen, scores, -np.inf).max(axis=1, keepdims=True))


def shares(scores: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return the softmax of the scores that each query sees, 0 elsewhere."""
    with np.errstate(over="ignore"):  # of scores that are not seen
        e = np.where(seen, np.exp(scores - highest(scores, seen)), 0)
    return np.asarray(e / e.sum(axis=1, keepdims=True))
