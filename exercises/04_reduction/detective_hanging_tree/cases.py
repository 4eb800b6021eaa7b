"""Cases of the largest of each block: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lanes, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, all negative in most blocks, as low as there are in some."""
    x = rng.uniform(-9, -1, n).astype(np.float32)
    blocks = max(1, -(-n // BLOCK))
    x[: n // 2] += 5 if n == 8 * BLOCK else 0
    if n > BLOCK:
        x[-(n % BLOCK or BLOCK) :] = lanes.LEAST
    if n > 1:
        x[-1] = -np.inf
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
            **{
                f"Past the end of x stands {start:g}, and all numbers of a block may be lower. "
                "Minus infinity is below all.": {
                    "partials": np.append(right[:-1], max(right[-1], start)).astype(np.float32)
                    if n % BLOCK or not n
                    else right
                }
                for start in lanes.STARTS
            },
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
