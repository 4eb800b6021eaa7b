"""Cases of the layer norm: ragged rows and columns, constant rows, rows far from 0."""

import numpy as np

from gpukit.course import Case, lanes, poison

BLOCK = 128
EPS = float(np.float32(1e-5))
FAR = 2.0**15  # float32 numbers near its square are 64 or more apart
# Rows and columns, and whether the rows lie far from 0.
SHAPES = {name: (*shape, 0) for name, shape in lanes.SHAPES.items()} | {
    "one column less, far from 0": (5, 31, 1),
    "far from 0": (5, 128, 1),
}


def numbers(rng: np.random.Generator, rows: int, cols: int, far: int) -> np.ndarray:
    """Return rows of pairs symmetric about a centre, whose sums are exact in float32."""
    spread, centre = np.resize([1, 0, 0.1, 3], rows), np.resize([0.5, 0.5, -0.25, 2], rows)
    above = np.round(1024 * rng.normal(0, spread[:, None], (rows, cols // 2))) / 1024
    if far:
        above, centre = np.sign(above + 1e-9), np.full(rows, FAR)
    distances = np.concatenate([above, -above, np.zeros((rows, cols % 2))], axis=1)
    return (rng.permuted(distances, axis=1) + centre[:, None]).astype(np.float32)


def case(rng: np.random.Generator, rows: int, cols: int, far: int) -> Case:
    """Return the case of rows x cols numbers."""
    x = numbers(rng, rows, cols, far)
    gain, shift = rng.normal(1, 0.5, (2, cols)).astype(np.float32)
    wide, times, plus = (a.astype(np.float64) for a in (x, gain, shift))
    mean = wide.mean(axis=1, keepdims=True)
    distance = wide - mean
    variance = (distance**2).mean(axis=1, keepdims=True)
    root = np.sqrt(variance + EPS)
    return Case(
        args={"x": x, "gain": gain, "shift": shift, "out": poison((rows, cols))},
        grid=-(-rows * lanes.WARP // BLOCK),
        block=BLOCK,
        expected={"out": (distance / root * times + plus).astype(np.float32)},
        # The rounding error of the mean is of the order of that of the numbers.
        scale={"out": (np.abs(times) + np.abs(plus)) * ((np.abs(wide) + np.abs(mean)) / root + 1)},
        per="block",
    )
