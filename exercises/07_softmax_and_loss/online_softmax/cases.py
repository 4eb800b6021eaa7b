"""Cases of the online softmax: ragged rows and columns, numbers far from 0."""

import numpy as np

from gpukit.course import Case, lanes, poison

BLOCK = 128
SHAPES = lanes.SHAPES  # rows and columns


def walked(
    x: np.ndarray, rescaled: bool = True, added: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return the maximum and the sum of each lane after its walk along the row.

    Where a larger number comes its own exponential is `added`, or is not.
    """
    high = np.full((len(x), lanes.WARP), lanes.LEAST)
    total = np.zeros_like(high)
    for start in range(0, x.shape[1], lanes.WARP):
        value = x[:, start : start + lanes.WARP]
        part = np.s_[:, : value.shape[1]]
        above = np.maximum(high[part], value)
        kept = np.exp(high[part] - above) if rescaled else 1
        new = np.where(value > high[part], float(added), np.exp(value - above))
        total[part] = total[part] * kept + new
        high[part] = above
    return high, total


def joined(high: np.ndarray, total: np.ndarray, mine: bool, others: bool) -> np.ndarray:
    """Return the sum in lane 0, where my part and the other's are rescaled, or are not."""
    lane = np.arange(lanes.WARP)
    for offset in lanes.LEVELS:
        other_high, other = high[:, lane ^ offset], total[:, lane ^ offset]
        above = np.maximum(high, other_high)
        total = total * (np.exp(high - above) if mine else 1)
        total = total + other * (np.exp(other_high - above) if others else 1)
        high = above
    return total[:, 0]


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of rows x cols numbers."""
    x = lanes.scores(rng, rows, cols)
    wide = x.astype(np.float64)
    high = wide.max(axis=1)
    lane_high, lane_total = walked(wide)
    first, last = slice(None, lanes.WARP), slice((cols - 1) // lanes.WARP * lanes.WARP, None)

    def left(total: np.ndarray, highest: np.ndarray = high) -> dict[str, np.ndarray]:
        with np.errstate(over="ignore"):  # as in a kernel
            return {"highest": highest.astype(np.float32), "total": total.astype(np.float32)}

    def of_part(part: slice) -> dict[str, np.ndarray]:
        most = wide[:, part].max(axis=1)
        return left(np.exp(wide[:, part] - most[:, None]).sum(axis=1), most)

    def of_start(start: float) -> dict[str, np.ndarray]:
        most = np.maximum(high, start)
        return left(np.exp(wide - most[:, None]).sum(axis=1), most)

    right = np.exp(wide - high[:, None]).sum(axis=1)
    with np.errstate(over="ignore"):  # as in a kernel
        plain = np.exp(x).astype(np.float64)
    return Case(
        args={"x": x, "highest": poison(rows), "total": poison(rows)},
        grid=-(-rows * lanes.WARP // BLOCK),
        block=BLOCK,
        expected=left(right),
        mistakes={
            "Where a larger number came, the sum of a lane was not multiplied by exp(old - new): "
            "compute that factor before the maximum is replaced.": left(
                joined(*walked(wide, rescaled=False), True, True)
            ),
            "The sums of two lanes were added as they are. They count from different maxima: each "
            "is multiplied by exp(its own maximum - the larger one) first.": left(
                joined(lane_high, lane_total, False, False)
            ),
            "Of two lanes that join, the own sum was not multiplied by exp(old - new): compute "
            "that factor before the maximum is replaced.": left(
                joined(lane_high, lane_total, False, True)
            ),
            "Of two lanes that join, the other's sum was not multiplied by exp(its maximum - the "
            "larger one).": left(joined(lane_high, lane_total, True, False)),
            "Where a larger number came, its own exponential, which is 1, was not added.": left(
                joined(*walked(wide, added=False), True, True)
            ),
            "Nothing is multiplied by exp(old - new): sums that count from different maxima cannot "
            "be added.": left(joined(*walked(wide, rescaled=False), False, False)),
            "These are maximum and sum of lane 0, of every 32nd column. The 32 lanes must be "
            "joined by shuffles.": left(lane_total[:, 0], lane_high[:, 0]),
            "The sum is that of lane 0, of every 32nd column. The sums of the 32 lanes must be "
            "joined, too.": left(lane_total[:, 0]),
            "Only the first 32 columns were taken: each lane took one and stopped.": of_part(first),
            "Only the last 32 columns are there: each number replaced the one before.": of_part(
                last
            ),
            "This is the sum of exp(x): the maximum is not subtracted in the exponents.": left(
                plain.sum(axis=1)
            ),
            **{
                f"The maximum begins with {start:g}, and all numbers of a row may be lower. Begin "
                "with the lowest finite number, or with the first of the row.": of_start(start)
                for start in lanes.STARTS
            },
            "The maximum begins with -infinity, and a lane without a column keeps it. Where two "
            "such lanes join, -infinity minus -infinity is NaN: begin with the lowest finite "
            "number, or leave their exp out.": left(
                right if cols > lanes.WARP // 2 - 1 else np.full(rows, np.nan)
            ),
            "The total is the sum of the numbers themselves: exp is missing.": left(
                wide.sum(axis=1)
            ),
            "These are the logarithms of the sums; the sums themselves are asked.": left(
                np.log(np.exp(wide - high[:, None]).sum(axis=1))
            ),
        },
        per="block",
    )
