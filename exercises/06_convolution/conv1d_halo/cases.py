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

    right = window(-RADIUS)
    return Case(
        args={"x": x, "weight": weight, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=sums(right),
        scale={"out": np.abs(right) @ np.abs(by)},
    )
