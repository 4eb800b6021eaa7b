"""Cases of the block sum: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
RISING = (1, 2, 4, 8, 16, 32, 64)


def by_block(x: np.ndarray, blocks: int) -> np.ndarray:
    """Return the elements of each block in float64, with 0 past the end."""
    padded = np.zeros(blocks * BLOCK)
    padded[: len(x)] = x
    return padded.reshape(blocks, BLOCK)


def lowest_threads(rows: np.ndarray) -> np.ndarray:
    """Return what tile[0] holds where the steps rise and only threads below the step add."""
    tile = rows.copy()
    for step in RISING:
        tile[:, :step] += tile[:, step : 2 * step].copy()
    return tile[:, 0]


def next_neighbours(rows: np.ndarray) -> np.ndarray:
    """Return what tile[0] holds where every level adds tile[tid + 1]."""
    tile = rows.copy()
    for step in RISING:
        tile[:, :: 2 * step] += tile[:, 1 :: 2 * step].copy()
    return tile[:, 0]


def halved(rows: np.ndarray, n: int) -> np.ndarray:
    """Return the sums of trees that begin with half of the elements that each block has."""
    tiles = rows.copy()
    for number, tile in enumerate(tiles):
        half = min(BLOCK, n - number * BLOCK) // 2
        while half > 0:
            tile[:half] += tile[half : 2 * half]
            half //= 2
    return np.asarray(tiles[:, 0])


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(0.25, 1, n).astype(np.float32)
    blocks = max(1, -(-n // BLOCK))
    rows = by_block(x, blocks)

    def sums(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"partials": values.astype(np.float32)}

    return Case(
        args={"x": x, "partials": poison(blocks)},
        grid=blocks,
        block=BLOCK,
        expected=sums(rows.sum(axis=1)),
        scale={"partials": np.abs(rows).sum(axis=1)},
        mistakes={
            "The last level is missing: half must come down to 1. The sum of elements 1, 3, 5, ... "
            "is left in tile[1].": sums(rows[:, ::2].sum(axis=1)),
            "The first level is missing: half begins at 64. Only elements 0 to 63 of each block "
            "were added.": sums(rows[:, :64].sum(axis=1)),
            "This is the first element of each block: nothing was added to tile[0]. Threads with "
            "tid < half add tile[tid + half] to tile[tid].": sums(rows[:, 0]),
            "This is the last element of each block: in the tree stands = where += belongs.": sums(
                rows[:, -1]
            ),
            "The fractions are lost: the shared array must be of np.float32, not of whole "
            "numbers.": sums(np.trunc(rows).sum(axis=1)),
            "Some elements were added twice and others not at all: with tid < half the steps must "
            "fall, 64, 32, ..., 1; here they rise.": sums(lowest_threads(rows)),
            "The tree over an odd number of elements leaves one out at each odd level: it always "
            "begins with 64, and elements that are missing count as 0.": sums(halved(rows, n)),
            "With no elements nothing was stored: all threads had returned. The sum is 0 then, "
            "and all "
            "threads of a block must reach its barriers: no early return.": (
                {} if n else {"partials": poison(blocks)}
            ),
            "Every level added the next neighbour, tile[tid + 1]. From the second level on the "
            "partner stands further off: tile[tid + step].": sums(next_neighbours(rows)),
            "Each block added the elements of block 0: x is read at cuda.grid(1), tile at "
            "cuda.threadIdx.x.": sums(np.tile(rows[:1], (blocks, 1)).sum(axis=1)),
        },
        per="block",
    )
