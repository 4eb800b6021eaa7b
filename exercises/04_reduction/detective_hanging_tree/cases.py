"""Cases of the largest of each block: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, all of them negative."""
    x = rng.uniform(-9, -1, n).astype(np.float32)
    blocks = max(1, -(-n // BLOCK))
    padded = np.full(blocks * BLOCK, -np.inf, np.float32)
    padded[:n] = x
    rows = padded.reshape(blocks, BLOCK)
    right = rows.max(axis=1)
    zero = right.copy()
    zero[n // BLOCK :] = 0
    clamped = right.copy()  # the first element of x past the end of it
    if n % BLOCK:
        clamped[-1] = max(right[-1], x[0])
    return Case(
        args={"x": x, "partials": poison(blocks)},
        grid=blocks,
        block=BLOCK,
        expected={"partials": right},
        mistakes={
            "The last block says 0, though all numbers are negative: a maximum begins with minus "
            "infinity, not with 0.": {"partials": zero},
            "The last level is missing: the largest of elements 1, 3, 5, ... is left in tile[1].": {
                "partials": rows[:, ::2].max(axis=1)
            },
            "The last block found x[0], which is not its own: past the end of x belongs minus "
            "infinity.": {"partials": clamped},
            "The first level is missing: only elements 0 to 63 of each block were compared.": {
                "partials": rows[:, :64].max(axis=1)
            },
            "This is the first element of each block: nothing was compared with tile[0].": {
                "partials": rows[:, 0]
            },
        },
        per="block",
    )
