"""Cases of the convolution along a vector: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
RADIUS = 3
SIZE = 2 * RADIUS + 1
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(1, 1, n).astype(np.float32)
    weight = rng.normal(1, 1, SIZE).astype(np.float32)
    wide, by = x.astype(np.float64), weight.astype(np.float64)
    padded = np.pad(wide, (SIZE, 2 * SIZE))  # more than one window needs, for those too far on

    def window(first: int) -> np.ndarray:
        """Return SIZE elements for each output, from `first` before or behind it on."""
        views = np.lib.stride_tricks.sliding_window_view(padded, SIZE)
        return views[SIZE + first : SIZE + first + n]

    def sums(values: np.ndarray, factors: np.ndarray = by) -> dict[str, np.ndarray]:
        return {"out": (values * factors).sum(axis=1).astype(np.float32)}

    right, taken = window(-RADIUS), np.arange(n)[:, None] + np.arange(SIZE) - RADIUS
    start = np.arange(n)[:, None] // BLOCK * BLOCK
    before, behind = taken < start, taken >= start + BLOCK
    beyond = np.where(taken < 0, wide[:1].sum(), np.where(taken >= n, wide[-1:].sum(), right))
    return Case(
        args={"x": x, "weight": weight, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=sums(right),
        scale={"out": np.abs(right) @ np.abs(by)},
        mistakes={
            "The halo is missing: at both ends of a block the neighbours in the next block count "
            "as 0. The tile needs RADIUS elements more at each end.": sums(
                np.where(before | behind, 0, right)
            ),
            "The left part of the halo is missing: the first threads of a block lack the last "
            "elements of the block before.": sums(np.where(before, 0, right)),
            "The right part of the halo is missing: the last threads of a block lack the first "
            "elements of the block behind.": sums(np.where(behind, 0, right)),
            "The weights are reversed: weight[0] belongs to the leftmost element of the window, "
            "x[i - RADIUS].": sums(right, by[::-1]),
            "The window begins at x[i]. It begins RADIUS elements before, so that x[i] is in its "
            "middle.": sums(window(0)),
            "The window ends at x[i]. Its middle is x[i]: three elements before it, three "
            "behind.": sums(window(-2 * RADIUS)),
            "Outside x the first and the last element are repeated; there should be 0.": sums(
                beyond
            ),
            "Outside x its other end is taken, as if it were a ring; there should be 0.": sums(
                wide[taken % max(1, n)]
            ),
            "The last weight is missing: there are 2 * RADIUS + 1 of them.": sums(
                right[:, :-1], by[:-1]
            ),
            "The first weight is missing: m begins with 0.": sums(right[:, 1:], by[1:]),
            "The weights are not multiplied in: this is the sum of the window.": sums(
                right, np.ones(SIZE)
            ),
            "Only the last product is there: each one replaced the one before, not added to it.": (
                sums(right[:, -1:], by[-1:])
            ),
            "The fractions are lost: the shared array must be of np.float32, not of whole "
            "numbers.": sums(np.trunc(right)),
        },
    )
