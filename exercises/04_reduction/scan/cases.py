"""Cases of the running sums: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(0.25, 1, n).astype(np.float32)
    blocks = max(1, -(-n // BLOCK))
    padded = np.zeros(blocks * BLOCK)
    padded[:n] = x
    rows = padded.reshape(blocks, BLOCK)
    sums = rows.cumsum(axis=1)
    sizes = np.abs(rows).cumsum(axis=1)
    totals = sums[:, -1].astype(np.float32)

    def flat(values: np.ndarray) -> np.ndarray:
        return values.reshape(-1)[:n].astype(np.float32)

    return Case(
        args={"x": x, "out": poison(n), "totals": poison(blocks)},
        grid=blocks,
        block=BLOCK,
        expected={"out": flat(sums), "totals": totals},
        scale={"out": flat(sizes), "totals": sizes[:, -1]},
        per="block",
    )
