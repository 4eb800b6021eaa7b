"""Cases of int8 dot products: rows of few and many words, one scale per row."""

import numpy as np

from gpukit.course import Case, lanes, poison

BLOCK = 128
# Rows, and words of four int8.
SHAPES = {name.replace("column", "word"): shape for name, shape in lanes.SHAPES.items()}


def case(rng: np.random.Generator, rows: int, words: int) -> Case:
    """Return the case of `rows` rows with `words` words each."""
    weight = rng.integers(-127, 128, (rows, 4 * words)).astype(np.int8)
    x = rng.integers(-127, 128, 4 * words).astype(np.int8)
    weight += np.where((weight < 0) != (x < 0), -weight // 4, 0).astype(np.int8)  # sums above 0
    scale = rng.uniform(0.5, 1, rows) * np.resize([0.01, 0.3, 2], rows)
    x_scale = np.array([rng.uniform(0.02, 0.06)])
    sums = weight.astype(np.int64) @ x.astype(np.int64)
    factors = scale.astype(np.float32), x_scale.astype(np.float32)
    right = sums * factors[0].astype(np.float64) * factors[1].astype(np.float64)
    return Case(
        args={
            "weight": weight.view(np.int32),
            "x": x.view(np.int32),
            "scale": factors[0],
            "x_scale": factors[1],
            "out": poison(rows),
        },
        grid=-(-rows * lanes.WARP // BLOCK),
        block=BLOCK,
        expected={"out": right.astype(np.float32)},
        per="block",
    )
