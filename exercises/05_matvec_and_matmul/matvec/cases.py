"""Cases of the matrix times a vector: ragged rows and columns."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = 128
WARP = 32
# Rows and columns.
SHAPES = {
    "as many rows as columns": (32, 32),
    "a column for each lane": (4, 32),
    "one number": (1, 1),
    "one row": (1, 129),
    "one column": (127, 1),
    "one column more": (4, 33),
    "one column less": (5, 31),
    "two primes": (61, 83),
    "as many rows as threads": (128, 17),
    "many rows": (64, 264),
}


def joined(parts: np.ndarray, *offsets: int) -> np.ndarray:
    """Return what lane 0 holds when the sums of the lanes are handed down by these offsets."""
    held = parts.copy()
    for offset in offsets:
        held[:, : WARP - offset] += held[:, offset:].copy()
        held[:, WARP - offset :] *= 2  # there is no lane to take from, so it gets its own value
    return held[:, 0]


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a matrix of rows x cols."""
    a = rng.normal(0.25, 1, (rows, cols)).astype(np.float32)
    x = rng.normal(0.25, 1, cols).astype(np.float32)
    wide, by = a.astype(np.float64), x.astype(np.float64)
    left = cols % WARP or WARP
    row, column = np.arange(rows), np.arange(cols)
    parts = np.zeros((rows, WARP))
    for lane in range(min(WARP, cols)):
        parts[:, lane] = wide[:, lane::WARP] @ by[lane::WARP]
    right, grid = (wide @ by).astype(np.float32), -(-rows * WARP // BLOCK)
    begin = WARP * (row % (BLOCK // WARP))  # the first column, where it is threadIdx.x
    fourth, first_rows, warp_0 = poison(rows), poison(rows), poison(rows)
    fourth[:: BLOCK // WARP] = right[:: BLOCK // WARP]
    first_rows[:grid] = right[:grid]
    warp_0[:: BLOCK // WARP] = WARP * parts[:: BLOCK // WARP, 0]
    special = {}
    if cols > 256:
        special[
            "Only the first 256 columns were added: the number of steps must come from x.size."
        ] = {"out": (wide[:, :256] @ by[:256]).astype(np.float32)}
    if rows == cols:  # in other shapes such a kernel leaves the matrix
        special["The indices of a are exchanged: a[k, row] for a[row, k]."] = {
            "out": (wide.T @ by).astype(np.float32)
        }
    return Case(
        args={"a": a, "x": x, "out": poison(rows)},
        grid=grid,
        block=BLOCK,
        expected={"out": right},
        scale={"out": np.abs(wide) @ np.abs(by)},
        mistakes={
            **special,
            "Only the first 32 columns were added: each lane took one and stopped.": {
                "out": (wide[:, :WARP] @ by[:WARP]).astype(np.float32)
            },
            "Only every 32nd column was added: this is the part of lane 0. The lanes' sums are not "
            "added up.": {"out": (wide[:, ::WARP] @ by[::WARP]).astype(np.float32)},
            "The columns behind the last 32 are missing: the division is rounded down.": {
                "out": (wide[:, : cols - left] @ by[: cols - left]).astype(np.float32)
            },
            "Only the first 32 of each 128 columns were added: a warp steps by its own 32 lanes, "
            "not by the 128 threads of a block.": {
                "out": (wide[:, column % BLOCK < WARP] @ by[column % BLOCK < WARP]).astype(
                    np.float32
                )
            },
            "The warps of a block begin at different columns. Each begins with its lanes at 0: "
            "`cuda.laneid`, not `cuda.threadIdx.x`.": {
                "out": np.where(column >= begin[:, None], wide * by, 0)
                .sum(axis=1)
                .astype(np.float32)
            },
            "Only the last 32 columns are there: each product of a lane replaced the one before. "
            "It is `+=`.": {"out": (wide[:, -WARP:] @ by[-WARP:]).astype(np.float32)},
            **{
                f"The level of the shuffles with offset {offset} is missing: they go 16, 8, 4, 2, "
                "1.": {
                    "out": joined(parts, *(o for o in (16, 8, 4, 2, 1) if o != offset)).astype(
                        np.float32
                    )
                }
                for offset in (16, 8, 4, 2, 1)
            },
            "Only the level with offset 16 is there: the shuffles go 16, 8, 4, 2, 1.": {
                "out": joined(parts, 16).astype(np.float32)
            },
            "Lane 0 has 32 times its own part: shfl_up_sync hands values to higher lanes. Lane 0 "
            "needs `cuda.shfl_down_sync`.": {"out": (WARP * parts[:, 0]).astype(np.float32)},
            "This is what lane 31 holds. After shfl_down_sync only lane 0 has the sum, and only it "
            "may store: `if cuda.laneid == 0`.": {"out": (WARP * parts[:, -1]).astype(np.float32)},
            "Only one row of four was written, by the first warp of each block. In each warp lane "
            "0 stores: `if cuda.laneid == 0`.": {"out": fourth},
            "Only one row for each block was written. A block has four warps, and each has a row: "
            "`cuda.grid(1) // 32`.": {"out": first_rows},
            "`cuda.threadIdx.x // 32` is the number of the warp. The lane is `cuda.laneid`, or "
            "`cuda.threadIdx.x % 32`.": {"out": warp_0},
        },
        per="block",
    )
