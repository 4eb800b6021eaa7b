"""Cases of the running sums: full and partial blocks, one element, none."""

import numpy as np

from gpukit.course import Case, by_block, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(0.25, 1, n).astype(np.float32)
    rows = by_block(x, BLOCK)
    sums, sizes = rows.cumsum(axis=1), np.abs(rows).cumsum(axis=1)

    def flat(values: np.ndarray) -> np.ndarray:
        return values.reshape(-1)[:n].astype(np.float32)

    return Case(
        args={"x": x, "out": poison(n), "totals": poison(len(rows))},
        grid=len(rows),
        block=BLOCK,
        expected={"out": flat(sums), "totals": sums[:, -1].astype(np.float32)},
        scale={"out": flat(sizes), "totals": sizes[:, -1]},
        per="block",
    )
