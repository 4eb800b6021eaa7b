"""Cases of the softmax of rows: ragged rows and columns, scores far from 0."""

import numpy as np

from gpukit.course import Case, lanes, poison

BLOCK = 128
WARP = lanes.WARP
SHAPES = lanes.SHAPES  # rows and columns


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of rows x cols scores."""
    x = lanes.scores(rng, rows, cols)
    wide, lane = x.astype(np.float64), np.arange(cols) % WARP
    high = wide.max(axis=1, keepdims=True)
    e = np.exp(wide - high)
    right = e / e.sum(axis=1, keepdims=True)
    own_sums = lanes.own(e, np.add, 0)
    own_highs = lanes.own(wide, np.maximum, -np.inf)
    above = np.exp(wide - own_highs[:, lane])
    down_sums = lanes.shuffled_down(own_sums, np.add)
    begin = WARP * (np.arange(rows) % (BLOCK // WARP))  # where the lane is threadIdx.x
    column = np.arange(cols)
    late = np.where(column >= begin[:, None], e, 0)
    strided = np.where(column % BLOCK < WARP, e, 0)
    whole = cols // WARP * WARP
    down_highs = lanes.shuffled_down(own_highs, np.maximum)
    lower = np.exp(wide - down_highs[:, lane])
    every_fourth = poison((rows, cols))
    every_fourth[:, lane == 0] = right[:, lane == 0]

    def left(values: np.ndarray, written: np.ndarray | bool = True) -> dict[str, np.ndarray]:
        """Return the outputs where these were `written`."""
        with np.errstate(invalid="ignore"):
            kept = np.where(written, values.astype(np.float32), poison((rows, cols)))
        return {"out": kept}

    def share(parts: np.ndarray) -> np.ndarray:
        whole = parts.sum(axis=1, keepdims=True)
        return parts / np.where(whole == 0, 1, whole)

    return Case(
        args={"x": x, "out": poison((rows, cols))},
        grid=-(-rows * WARP // BLOCK),
        block=BLOCK,
        expected=left(right),
        mistakes={
            "The exponentials are not divided by their sum: a row must add up to 1.": left(e),
            "Each lane divided by the sum of its own columns: the sums of the 32 lanes must be "
            "added up, by shuffles.": left(e / own_sums[:, lane]),
            "Each lane subtracted the maximum of its own columns. All 32 lanes must subtract the "
            "same: the maximum of the row, by shuffles.": left(share(above)),
            "After shfl_down_sync only lane 0 holds the sum of the row, and every lane divides by "
            "it. Use `cuda.shfl_xor_sync`.": left(e / down_sums[:, lane]),
            "Only the first 32 columns were written: each lane took one and stopped.": left(
                share(np.where(column < WARP, e, 0)), column < WARP
            ),
            "Only whole turns of 32 columns were taken: the number of turns is rounded down.": left(
                share(np.where(column < whole, e, 0)), column < whole
            ),
            "After shfl_down_sync only lane 0 holds the maximum of the row, and every lane "
            "subtracts "
            "it. Use `cuda.shfl_xor_sync`.": left(
                np.divide(lower, lower.sum(axis=1, keepdims=True))
            ),
            "Only 32 of each 128 columns were taken: a warp steps by its own 32 lanes, not by the "
            "128 threads of a block.": left(share(strided), column % BLOCK < WARP),
            "The warps of a block begin at different columns. Each begins with its lanes at 0: "
            "`cuda.laneid`, not `cuda.threadIdx.x`.": left(share(late), column >= begin[:, None]),
            "These are the logarithms of the shares: the last step is exp(x - high) / total.": left(
                np.log(right)
            ),
            "This is x - max divided by the sum: the exponential is missing in the last step.": (
                left((wide - high) / e.sum(axis=1, keepdims=True))
            ),
            "Only every 32nd column was written: in the last loop all lanes store, not lane 0 "
            "alone.": {"out": every_fourth},
        },
        per="block",
    )
