"""Cases of the histogram: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths

BLOCK = 128
MOST = 4
SHAPES = {
    **{name: (n, MOST) for name, (n,) in lengths(BLOCK).items()},
    "many elements, one block": (3000, 1),
    "many elements, two blocks": (2600, 2),
    "many elements, three blocks": (5003, 3),
    "one value, more than 255 times in each thread": (33000, 1),
    "many elements": (9000, MOST),
}


def case(rng: np.random.Generator, n: int, most: int) -> Case:
    """Return the case of n brightnesses, most of them dark, and at most so many blocks."""
    values = np.minimum(rng.exponential(40, n), 255).astype(np.uint8)
    values[1:2], values[2:3] = 255, 0
    if n > 255 * BLOCK:
        values[:] = 7
    grid = max(1, min(most, MOST, -(-n // BLOCK)))
    number = np.arange(n)

    def counted(weights: np.ndarray | None = None) -> dict[str, np.ndarray]:
        counts = np.bincount(values, weights, minlength=256)
        return {"counts": counts.astype(np.int32)}

    right = counted()["counts"]
    upper = right.copy()
    upper[BLOCK:] = 0
    exchanged = np.bincount(number % 256, values, minlength=256).astype(np.int32)
    wide = sum(number % 512 == start for start in range(grid * BLOCK))
    return Case(
        args={"values": values, "counts": np.zeros(256, np.int32)},
        grid=grid,
        block=BLOCK,
        expected={"counts": right},
        mistakes={
            "Only the first 128 counters were handed on: there are 128 threads and 256 counters.": {
                "counts": upper
            },
            "Only as many elements as there are threads: each thread counted one and stopped.": (
                counted(number < grid * BLOCK)
            ),
            "Only the last block's counters are there: add them to counts, do not store them.": (
                counted(number // BLOCK % grid == grid - 1)
            ),
            "Nothing was counted: all counters are still 0, as before the launch.": {
                "counts": np.zeros(256, np.int32)
            },
            "Every counter is 128 times too large: each thread handed on all 256 of its block. "
            "Share them: thread tid takes k = tid, tid + 128.": {"counts": BLOCK * right},
            "Some elements were counted by more than one block: the loop goes on by all threads of "
            "the launch, cuda.gridsize(1), not by those of one block.": counted(
                np.minimum(number // BLOCK + 1, grid)
            ),
            "Every block counted all elements: begin at cuda.grid(1) and go on by "
            "cuda.gridsize(1).": {"counts": grid * right},
            "The last elements were left out: each block has a share of the same length, which is "
            "rounded down.": counted(number < n // grid * grid),
            "Some elements were left out: the loop goes on by a number of threads that is not the "
            "launch's. Use cuda.gridsize(1).": counted(wide),
            "Each counter grew by the value of its elements; it should grow by 1 for each.": (
                counted(values)
            ),
            "The counter of the element's number grew by its value: the counter of its value "
            "should grow by 1.": {"counts": exchanged},
            "Each value that occurs was counted once, however often it occurs.": {
                "counts": np.minimum(right, 1)
            },
        },
        per="block",
    )
