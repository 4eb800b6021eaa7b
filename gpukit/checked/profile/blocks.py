"""Which blocks of a launch to profile, for `gpukit.profile(kernel, blocks=...)`."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from gpukit import errors


def why_all(launch: Any) -> str:
    """Return why all blocks of a launch must run: they wait for each other; "" if they need not."""
    if launch.compiled.whole_grid:
        return "synchronizes the grid"
    return "waits for other blocks" if launch.compiled.instrumentation.waits else ""


def chosen(launch: Any, blocks: Any) -> list[int]:
    """Return the linear indices of the blocks to run, ascending; raise ArgumentError."""
    name, total = launch.kernel.py_func.__name__, launch.shape.blocks
    if why := why_all(launch):
        raise errors.ArgumentError(
            f"profile: expected no blocks= for {name}, got {blocks!r}: it {why}, so all of its "
            "blocks must run. Leave blocks= out, and launch a smaller grid if that takes too long."
        )
    if isinstance(blocks, Iterable) and not isinstance(blocks, str):
        found = sorted({_index(name, total, block) for block in blocks})
        if not found:
            raise errors.ArgumentError(
                f"profile: expected at least one block of {name}, got {blocks!r}. Name some, or "
                "leave blocks= out to run all."
            )
        return found
    try:
        count = operator.index(blocks)
    except TypeError:
        count = 0
    if count < 1 or isinstance(blocks, bool):
        raise errors.ArgumentError(
            f"profile: expected a number of blocks, 1 or more, or their indices, got {blocks!r}. "
            "Leave blocks= out to run all."
        )
    return spread(count, total)


def spread(count: int, total: int) -> list[int]:
    """Return the indices of `count` of `total` blocks, evenly spread, the first and last included.

    >>> spread(3, 101), spread(4, 10), spread(1, 7), spread(9, 3)
    ([0, 50, 100], [0, 3, 6, 9], [0], [0, 1, 2])
    """
    count = min(count, total)
    return [k * (total - 1) // max(count - 1, 1) for k in range(count)]


def note(run: int, total: int) -> list[str]:
    """Return the note that says of which blocks the counters are."""
    if run == total:
        return []
    return [f"The counters are those of {run:,} of the grid's {total:,} blocks."]


def _index(name: str, total: int, block: Any) -> int:
    try:
        index = operator.index(block)
    except TypeError:
        index = -1
    if not 0 <= index < total:
        raise errors.ArgumentError(
            f"profile: expected indices of blocks of {name} from 0 to {total - 1:,}, got "
            f"{block!r}. A block has the index blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * "
            "blockIdx.z)."
        )
    return index
