"""Cases of the running sums: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
DOUBLING = (1, 2, 4, 8, 16, 32, 64)


def steps(rows: np.ndarray, taken: tuple[int, ...] | range, first: int = 0) -> np.ndarray:
    """Return the tile after these steps, in which threads below step + first add nothing."""
    tile = rows.copy()
    for step in taken:
        tile[:, step + first :] += tile[:, first : BLOCK - step].copy()
    return tile


def without_lane_guard(rows: np.ndarray) -> np.ndarray:
    """Return the sums by shuffles in which lanes below the step add their own value."""
    tile = rows.reshape(-1, 4, 32).copy()
    for step in DOUBLING[:5]:
        left = tile.copy()  # a lane with nobody to its left gets its own value back
        left[:, :, step:] = tile[:, :, :-step]
        tile += left
    ends = tile[:, :, -1].copy()
    for warp in range(4):
        for before in range(warp):
            tile[:, warp] += ends[:, before, None]
    return tile.reshape(rows.shape)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(0.25, 1, n).astype(np.float32)
    blocks = max(1, -(-n // BLOCK))
    padded = np.zeros(blocks * BLOCK)
    padded[:n] = x
    rows = padded.reshape(blocks, BLOCK)
    narrow = rows.astype(np.float32)  # mistakes with large sums are rounded as a kernel rounds
    sums = rows.cumsum(axis=1)
    sizes = np.abs(rows).cumsum(axis=1)
    totals = sums[:, -1].astype(np.float32)
    number = np.arange(blocks)

    def flat(values: np.ndarray) -> np.ndarray:
        return values.reshape(-1)[:n].astype(np.float32)

    def tile(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"out": flat(values), "totals": values[:, -1].astype(np.float32)}

    def total(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"out": flat(sums), "totals": values.astype(np.float32)}

    return Case(
        args={"x": x, "out": poison(n), "totals": poison(blocks)},
        grid=blocks,
        block=BLOCK,
        expected={"out": flat(sums), "totals": totals},
        scale={"out": flat(sizes), "totals": sizes[:, -1]},
        mistakes={
            "These are the sums before each element: an exclusive scan. The element itself belongs "
            "to its running sum.": {"out": flat(sums - rows), "totals": totals},
            "These are the sums before each element: an exclusive scan, in the totals too.": tile(
                sums - rows
            ),
            "Some sums lack their first element: the thread with tid == step has a neighbour to "
            "its left too, so the comparison is tid >= step.": tile(steps(rows, DOUBLING, 1)),
            "The total of a block is its last running sum, not its first element.": total(
                rows[:, 0]
            ),
            "The total of a block is its last running sum, tile[BLOCK - 1], not its last "
            "element.": total(rows[:, -1]),
            "The sums run on from block to block; each block is asked for itself.": {
                "out": flat(padded.cumsum().reshape(rows.shape)),
                "totals": totals,
            },
            "Blocks that are not full have no total. Thread BLOCK - 1 stores it even past the end: "
            "it must not return early or stand behind i < x.size.": total(
                np.where((number + 1) * BLOCK > n, poison(blocks), totals)
            ),
            "Only the block of the last element has a total. Each block stores its own, by thread "
            "BLOCK - 1, which is there even past the end.": total(
                np.where(number * BLOCK <= n - 1, totals, poison(blocks))
                if blocks == 1
                else np.where(number < blocks - 1, poison(blocks), totals)
            ),
            "The last step is missing: step must reach 64, so the loop goes on while step < "
            "BLOCK.": tile(steps(rows, DOUBLING[:-1])),
            "The first step is missing: step begins at 1.": tile(steps(rows, DOUBLING[1:])),
            "These are the sums within each warp of 32. The sums of the warps before it in the "
            "block are missing.": tile(rows.reshape(-1, 32).cumsum(axis=1).reshape(rows.shape)),
            "Some elements were added more than once: step must double, 1, 2, 4, ..., 64; here it "
            "grows by 1.": tile(steps(narrow, range(1, BLOCK))),
            "In each warp the lanes below the step added their own value: cuda.shfl_up_sync gives "
            "it back where there is no lane to the left. Add only if lane >= step.": tile(
                without_lane_guard(narrow)
            ),
            "The fractions are lost: the shared array must be of np.float32, not of whole "
            "numbers.": tile(np.trunc(rows).cumsum(axis=1)),
        },
        per="block",
    )
