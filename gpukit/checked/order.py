"""Whether a result depends on the order in which blocks run: runs them in other orders.

A GPU runs blocks in any order. Only blocks that access the same memory can be affected; where
there are no races between blocks, that leaves atomics.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gpukit.checked import decode
from gpukit.checked.finding import Finding
from gpukit.checked.instrumented import Launch
from gpukit.checked.state import CheckerState
from gpukit.compiler import context as layout

MOST_BYTES = 1 << 26  # larger arguments are not copied and run again
MOST_BLOCKS = 1 << 14
SEEDS = (1, 2)
# Atomic additions of floats round differently in every order; that is no mistake.
_TOLERANCE = {"f2": 2e-2, "f4": 1e-4, "f8": 1e-10, "c8": 1e-4, "c16": 1e-10}


class Difference(NamedTuple):
    """An array that differs: in which order of blocks, where first, how often."""

    array: str
    order: str
    first: tuple[int, ...]
    differing: int
    elements: int


def orders(blocks: int) -> Iterator[tuple[str, list[int]]]:
    """Yield orders of blocks, with a description of each."""
    yield "in reverse", list(range(blocks))[::-1]
    for seed in SEEDS:
        mixed = list(range(blocks))
        random.Random(seed).shuffle(mixed)
        yield f"in a shuffled order (seed {seed})", mixed


class Arguments:
    """The arrays of a launch before it ran, kept if the order of its blocks may matter."""

    def __init__(self, launch: Launch) -> None:
        arrays = [a for r in launch.segments() for a in r.arrays if a.host is not None]
        self.arrays = [a for a in arrays if launch.may_write(a.name)]
        hosts = [a.host for a in self.arrays]
        self.before = snapshot(hosts) if is_worth_it(launch) else None

    def findings(self, launch: Launch) -> list[Finding]:
        """Return the finding for an array that differs in another order of blocks, if one does."""
        from gpukit.checked.engine import entries

        if self.before is None:
            return []
        state = CheckerState(launch.compiled, launch.shape, [], 1, False, entries.silent(), {})
        hosts, names = [a.host for a in self.arrays], [a.name for a in self.arrays]
        found = compare(launch, state, hosts, names, self.before)
        if found is None:
            return []
        details: dict[str, Any] = {
            "array": found.array,
            "index": found.first,
            "reason": found.order,
            "count": found.differing,
            "elements": found.elements,
        }
        return [decode.make("block-order", _atomic_location(launch), **details)]


def _atomic_location(launch: Launch) -> Any:
    """Return the first line with an atomic: blocks interact there."""
    found = [launch.compiled.locations[k] for k in launch.compiled.instrumentation.locations]
    return next(s for s in found if s.operation.startswith("atomic."))


def is_worth_it(launch: Launch) -> bool:
    """Tell whether the order of blocks could matter to a launch, and is quick to try."""
    instrumentation = launch.compiled.instrumentation
    atomic = instrumentation.ordered and instrumentation.atomics
    return atomic and 1 < launch.shape.blocks <= MOST_BLOCKS and not launch.compiled.whole_grid


def snapshot(arrays: list[Any]) -> list[Any] | None:
    """Return copies of arrays, or None if they are too large."""
    if sum(a.nbytes for a in arrays) > MOST_BYTES:
        return None
    return [a.copy() for a in arrays]


def compare(
    launch: Launch, state: Any, arrays: list[Any], names: list[str], before: list[Any]
) -> Difference | None:
    """Run the blocks in other orders from the same start; leave the arrays as they are now."""
    after = [a.copy() for a in arrays]
    try:
        for words, order in orders(launch.shape.blocks):
            for a, b in zip(arrays, before, strict=True):
                if a.flags.writeable:
                    a[...] = b
            _run(launch, state, order)
            for name, mine, theirs in zip(names, arrays, after, strict=True):
                found = _difference(name, words, mine, theirs)
                if found is not None:
                    return found
    finally:
        for a, b in zip(arrays, after, strict=True):
            if a.flags.writeable:
                a[...] = b
    return None


def _run(launch: Launch, state: Any, order: list[int]) -> None:
    """Run single blocks one after the other, without instrumentation."""
    run, bench = launch.prepared(state)
    for block in order:
        status = run(block, block + 1)
        if status > 0:
            if bench.context[layout.CODE] == layout.INTERRUPTED:
                raise KeyboardInterrupt
            return


def _difference(name: str, words: str, mine: Any, theirs: Any) -> Difference | None:
    if np.array_equal(mine, theirs):
        return None
    kind = mine.dtype
    if kind.kind in "fc":
        rough = _TOLERANCE.get(f"{kind.kind}{kind.itemsize}", 1e-10)
        finite = np.abs(theirs[np.isfinite(theirs)])
        scale = float(finite.max()) if finite.size else 0.0
        same = np.isclose(mine, theirs, rtol=rough, atol=rough * scale, equal_nan=True)
    else:
        same = mine == theirs
    if np.all(same):
        return None
    wrong = np.argwhere(~np.asarray(same))
    first = tuple(int(k) for k in wrong[0])
    return Difference(name, words, first, len(wrong), int(mine.size))
