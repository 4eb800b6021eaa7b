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

    strict = rows.copy()  # what is left where only threads with tid > step add
    for step in (1, 2, 4, 8, 16, 32, 64):
        strict[:, step + 1 :] += strict[:, 1 : BLOCK - step].copy()

    return Case(
        args={"x": x, "out": poison(n), "totals": poison(blocks)},
        grid=blocks,
        block=BLOCK,
        expected={"out": flat(sums), "totals": totals},
        scale={"out": flat(sizes), "totals": sizes[:, -1]},
        mistakes={
            "These are the sums before each element: an exclusive scan. The element itself belongs "
            "to its running sum.": {"out": flat(sums - rows), "totals": totals},
            "These are the sums before each element: an exclusive scan, in the totals too.": {
                "out": flat(sums - rows),
                "totals": (sums - rows)[:, -1].astype(np.float32),
            },
            "Some sums lack their first element: the thread with tid == step has a neighbour to "
            "its left too, so the comparison is tid >= step.": {
                "out": flat(strict),
                "totals": strict[:, -1].astype(np.float32),
            },
            "The total of a block is its last running sum, not its first element.": {
                "out": flat(sums),
                "totals": rows[:, 0].astype(np.float32),
            },
            "The sums run on from block to block; each block is asked for itself.": {
                "out": flat(padded.cumsum().reshape(rows.shape)),
                "totals": totals,
            },
        },
        per="block",
    )
