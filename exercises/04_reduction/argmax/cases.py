"""Cases of the argmax: lengths around the block size, ties, numbers far below 0, minus infinity."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = {
    **{name: shape for name, shape in lengths(BLOCK).items() if shape != (0,)},
    "numbers that differ by fractions": (300,),
    "numbers far below zero": (500,),
    "more than 1024 numbers": (1300,),
    "numbers of both signs": (257,),
    "minus infinity and the least number above it": (262,),
    "minus infinity everywhere": (275,),
}
BOTH_SIGNS, LEAST, NOTHING = 257, 262, 275  # lengths


def numbers(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return n numbers, nearly always negative and many of them equal, with several maxima."""
    if n == BOTH_SIGNS:
        x = np.round(rng.normal(0, 4, n)).astype(np.float32)
        x[n // 3 :: BLOCK] = x.max() + 1
        return x
    if n == NOTHING:
        return np.full(n, -np.inf, np.float32)
    if n == LEAST:
        x = np.full(n, -np.inf, np.float32)
        x[[n // 3, n // 3 + BLOCK]] = np.finfo(np.float32).min
        return x
    steps = rng.integers(1, 20, n).astype(np.float64)
    # Several maxima, in one thread and in different threads.
    steps[n // 3 :: BLOCK] = 0.5
    steps[n // 3 + 100 : n // 3 + 101] = 0.5
    if n > 1024:
        steps[-1] = 0.25  # beyond the reach of a loop of fixed length
    # By length: numbers that differ by fractions, whole numbers, numbers near the least float32.
    first, step = ((1, 1 / 32), (0, 1), (3e38, 2e36))[n % 3]
    return (-first - step * steps).astype(np.float32)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, many of them equal."""
    x = numbers(rng, n)
    right = int(np.argmax(x))
    # A kernel must not rely on the previous contents of `best`: mostly garbage, sometimes 0.
    before = np.zeros(1, np.int32) if n % 12 in (0, 4) and right else poison(1, np.int32)
    return Case(
        args={"x": x, "best": before},
        grid=1,
        block=BLOCK,
        expected={"best": np.array([right], np.int32)},
        per="block",
    )
