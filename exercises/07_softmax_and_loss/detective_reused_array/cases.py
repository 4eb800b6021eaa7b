"""Cases of the softmax of rows, a block for each: ragged rows, scores far from 0."""

import numpy as np

from gpukit.course import Case, lanes, poison

BLOCK = 128
# Rows and columns.
SHAPES = {
    "a column for each thread": (4, 128),
    "one number": (1, 1),
    "one column more": (4, 129),
    "one column less": (5, 127),
    "one column": (9, 1),
    "two primes": (7, 83),
    "many rows": (16, 264),
}


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of rows x cols scores."""
    around = np.resize([0, -1000, 50, 1000, lanes.LEAST, -1e6, -1e30], rows)
    x = (rng.normal(0, 2, (rows, cols)) + around[:, None]).astype(np.float32)
    wide = x.astype(np.float64)
    high = wide.max(axis=1, keepdims=True)
    e = np.exp(wide - high)
    total = e.sum(axis=1, keepdims=True)
    first = e[:, ::BLOCK].sum(axis=1, keepdims=True)

    low = np.exp(wide - np.maximum(high, 0))

    def left(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"out": values.astype(np.float32)}

    return Case(
        args={"x": x, "out": poison((rows, cols))},
        grid=rows,
        block=BLOCK,
        expected=left(e / total),
        mistakes={
            "The powers are not divided by their sum: a row must add up to 1.": left(e),
            "The powers are divided by the sum of thread 0 alone: the tree that adds the parts is "
            "missing.": left(e / first),
            "Rows whose scores all lie below 0 are wrong: the maximum begins with 0, and a small "
            "number "
            "in the denominator hides that. Begin with minus infinity.": left(
                low / np.maximum(low.sum(axis=1, keepdims=True), 1e-30)
            ),
            "The powers are divided by the largest score, which is what the array held before: the "
            "sums were not stored in it.": left(e / high),
            "These are the logarithms of the shares: the last step is exp(x - high) / total.": left(
                wide - high - np.log(total)
            ),
            "This is x - high divided by the sum: the power is missing in the last step.": left(
                (wide - high) / total
            ),
        },
        per="block",
    )
