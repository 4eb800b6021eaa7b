"""Cases of the LSTM cell: few and many samples and units, gates open, closed and in between."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (32, 4)
# Samples and units.
SHAPES = areas(*BLOCK, one="one unit", wide="many units", tall="many samples")


def sigmoid(x: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return (1 + np.tanh(x / 2)) / 2


def case(rng: np.random.Generator, n: int, units: int) -> Case:
    """Return the case of n samples and `units` units."""
    sums = rng.normal(0, 1.5, (n, 4 * units))
    sums[rng.random(sums.shape) < 0.05] *= 60  # saturated gates
    sums = sums.astype(np.float32)
    c = rng.normal(0, 1, (n, units)).astype(np.float32)
    c[rng.random(c.shape) < 0.05] *= 100  # the cell state is not bounded
    wide, old = sums.astype(np.float64), c.astype(np.float64)
    i, f, g, o = np.split(wide, 4, axis=1)
    new_c = sigmoid(f) * old + sigmoid(i) * np.tanh(g)
    new_h = sigmoid(o) * np.tanh(new_c)
    return Case(
        args={"sums": sums, "c": c, "new_h": poison((n, units)), "new_c": poison((n, units))},
        grid=(-(-units // BLOCK[0]), -(-n // BLOCK[1])),
        block=BLOCK,
        expected={"new_c": new_c.astype(np.float32), "new_h": new_h.astype(np.float32)},
        scale={"new_c": np.abs(old) + 1, "new_h": np.ones((n, units))},
    )
