"""Cases of quantization: rows whose number of largest magnitude is positive, negative or 0."""

import numpy as np

from gpukit.course import Case, by_row, poison

BLOCK = 128
SHAPES = by_row(BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of rows x cols numbers; in every second row the extreme one is negative."""
    x = rng.normal(0.1, 1, (rows, cols))
    sign = np.where(np.arange(rows) % 2, 1, -1)
    x[np.arange(rows), rng.integers(0, cols, rows)] = sign * (1.5 + np.abs(x).max(axis=1))
    x *= np.resize([0.02, 1, 30], rows)[:, None]
    x[4::7] = 0
    largest = np.abs(x).max(axis=1, keepdims=True)
    unit = np.where(largest > 0, largest / 127, 1)
    quotient = x / unit
    # No quotient near halfway between two integers, where rounding errors would decide.
    near = np.abs(quotient - np.floor(quotient) - 0.5) < 0.05
    x = np.where(near, (quotient + 0.15) * unit, x).astype(np.float32)
    scale = unit[:, 0].astype(np.float32)
    q = np.rint(x / scale[:, None].astype(np.float64)).astype(np.int8)
    return Case(
        args={"x": x, "scale": poison(rows), "q": poison((rows, cols), np.int8)},
        grid=rows,
        block=BLOCK,
        expected={"scale": scale, "q": q},
        per="block",
    )
