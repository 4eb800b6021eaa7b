"""Find the smallest shape at which an answer fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Shape = tuple[int, ...]

MOST_TRIES = 60


def smallest(shape: Shape, least: Shape, fails: Callable[[Shape], bool]) -> Shape:
    """Return a small shape that fails, none of whose extents is below `least`.

    Each extent is lowered in steps that get shorter, as long as the answer still fails.

    >>> smallest((1009, 7), (0, 1), lambda shape: shape[0] > 128)
    (129, 1)
    """
    tries = 0
    while tries < MOST_TRIES:
        for smaller in _smaller(shape, least):
            tries += 1
            if fails(smaller):
                shape = smaller
                break
            if tries == MOST_TRIES:
                return shape
        else:
            return shape
    return shape


def _smaller(shape: Shape, least: Shape) -> Iterator[Shape]:
    """Yield shapes with one extent lowered: to the least, half way, ..., by one."""
    for axis, (extent, lowest) in enumerate(zip(shape, least, strict=True)):
        step = max(0, extent - lowest)
        while step:
            yield (*shape[:axis], extent - step, *shape[axis + 1 :])
            step //= 2
