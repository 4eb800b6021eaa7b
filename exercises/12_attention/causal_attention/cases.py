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

    after = np.where(seen, shares(scores, np.ones_like(seen)), 0) @ wide_v
    zeros = np.where(seen, scores, 0)
    own = wide_q[:, None, :] * wide_k[None] / np.sqrt(size)  # query, key, column: of one lane
    e = np.where(seen, np.exp(np.minimum(scores - highest(scores, seen), 0)), 0)
    ahead = np.tri(n, k=1, dtype=bool)
    return Case(
        args={"q": q, "k": k, "v": v, "out": poison((n, size))},
        grid=-(-n * lanes.WARP // BLOCK),
        block=BLOCK,
        expected=of(scores),
        scale={"out": np.full((n, size), np.abs(wide_v).max())},
        mistakes={
            "There is no mask: a place sees those behind it, too. The keys of query `row` end with "
            "its own, range(row + 1).": of(scores, np.ones_like(seen)),
            "The mask came after the softmax, whose sum counts the keys behind the query: the "
            "shares of the others do not add up to 1. Leave them out of the sum.": left(after),
            "Keys behind the query have the score 0, and exp(0) is 1. They count nothing: -inf, or "
            "no loop over them.": of(zeros, np.ones_like(seen)),
            "A place sees the one behind it, too: range(row + 1) ends with the place itself.": of(
                scores, ahead
            ),
            "The mask is the wrong way round: a place sees itself and those behind it instead of "
            "those before it.": of(scores, seen.T),
            "The highest score begins with a number that is not low enough: where all scores of a "
            "query are lower nothing is added up, and 0 / 0 is NaN. Begin with -infinity.": (
                left(np.where(highest(scores, seen) < -1e35, np.nan, of(scores)["out"]))
            ),
            "The scores are not divided by the root of the number of columns.": of(products),
            "The scores are divided by the number of columns; it is the root of it.": of(
                products / size
            ),
            "The scores are multiplied by the root of the number of columns, not divided.": (
                {} if low else of(products * np.sqrt(size))
            ),
            "The root is that of 32, the lanes; the scores are divided by that of the number of "
            "columns.": of(products / np.sqrt(lanes.WARP)),
            "The root is that of the number of places; it is that of the number of columns.": of(
                products / np.sqrt(n)
            ),
            "The shares are not divided by their sum: they must add up to 1.": left(e @ wide_v),
            "Each value counts the same: the scores have no effect.": of(np.zeros_like(scores)),
            "Only the value of the place itself is there.": left(wide_v),
            "Only the value of the first place is there.": left(np.repeat(wide_v[:1], n, axis=0)),
            "Only the value of the highest score is there: the others count by exp(score - "
            "highest).": left(wide_v[np.where(seen, scores, -np.inf).argmax(axis=1)]),
            "Where a higher score came, what was added up was not multiplied by exp(old - new): "
            "neither the shares nor their sum.": left(walked(scores, wide_v, False, False)),
            "Where a higher score came, the sum of the shares was not multiplied by exp(old - "
            "new).": left(walked(scores, wide_v, True, False)),
            "Where a higher score came, the values added up were not multiplied by exp(old - "
            "new).": left(walked(scores, wide_v, False, True)),
            "Each lane took the product of its own column for the score: the 32 products must be "
            "added up, by shuffles.": left(
                np.stack([shares(own[:, :, d], seen) @ wide_v[:, d] for d in range(size)], axis=1)
            ),
            "The keys are in the place of the values.": of(scores, values=wide_k),
            "The values are in the place of the keys.": of(wide_q @ wide_v.T / np.sqrt(size)),
            "The queries are compared with queries: the second factor is a key.": (
                {} if low else of(wide_q @ wide_q.T / np.sqrt(size))
            ),
            "The keys are compared with keys: the first factor is the query.": of(
                wide_k @ wide_k.T / np.sqrt(size)
            ),
            "Queries and keys are exchanged: the query is that of the row, the key is that of the "
            "loop.": of(scores.T),
            "Only the highest 32 places before are seen: a query sees all of them.": of(
                scores, seen & ~np.tri(n, k=-lanes.WARP, dtype=bool)
            ),
            "Only the first 32 places are seen: a query sees all up to itself.": of(
                scores, seen & (np.arange(n) < lanes.WARP)
            ),
        },
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


def walked(scores: np.ndarray, v: np.ndarray, values: bool, total: bool) -> np.ndarray:
    """Return the outputs of one pass, where the values and the sum are rescaled, or are not."""
    n = len(v)
    high, whole, acc = np.full(n, -np.inf), np.zeros(n), np.zeros_like(v)
    for key in range(n):
        rows = np.arange(n) >= key
        above = np.where(rows, np.maximum(high, scores[:, key]), high)
        with np.errstate(invalid="ignore"):
            kept = np.where(rows & np.isfinite(high), np.exp(high - above), 1)
            weight = np.where(rows, np.exp(np.minimum(scores[:, key] - above, 0)), 0)
        whole = whole * (kept if total else 1) + weight
        acc = acc * (kept[:, None] if values else 1) + weight[:, None] * v[key]
        high = above
    return acc / whole[:, None]
