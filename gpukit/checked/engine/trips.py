"""Counting how often the warps of a block must wait for memory: the deepest chain of their loads.

`compiler/lowering/trips.py` says what a depth is and passes those that matter. A location counts by
how much its loads were deeper than all earlier ones of a warp: the sum is the depth of the warps.
"""

from __future__ import annotations

from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.raw import peek, poke


@compiled
def _row(checker):  # type: ignore[no-untyped-def]
    """Return the address of the running block's row."""
    block = peek(checker, w.BLOCK_NUMBER) if peek(checker, w.WHOLE) else 0
    return peek(checker, w.TRIPS) + 8 * w.TRIP_WORDS * block


@compiled
def begin_block(checker):  # type: ignore[no-untyped-def]
    """Begin a block; those of a cooperative grid begin once, with rows of zeros."""
    if peek(checker, w.WHOLE) == 0:
        for word in range(w.T_GIVEN):
            poke(peek(checker, w.TRIPS), word, 0)


@compiled
def reach(checker, location, thread, depth):  # type: ignore[no-untyped-def]
    """Count a load behind others of a depth, for the row of a location; return its own depth."""
    row = _row(checker)
    warp, reached = w.T_DEEPEST + (thread >> 5), 1 + max(depth, peek(row, w.T_BASE))
    more = reached - peek(row, warp)
    if more > 0:
        poke(row, warp, reached)
        poke(location, w.S_TRIPS, peek(location, w.S_TRIPS) + more)
    return reached


@compiled
def exchange(checker, what, thread, depth):  # type: ignore[no-untyped-def]
    """Pass a depth on: to shared memory, or to the other lanes of the warp and back."""
    row, warp = _row(checker), thread >> 5
    if what == w.TRIP_STORE:
        poke(row, w.T_STORED, max(peek(row, w.T_STORED), depth))
    elif what == w.TRIP_GIVE:
        if peek(row, w.T_GIVEN_TICK + warp) != peek(checker, w.TICK):
            poke(row, w.T_GIVEN_TICK + warp, peek(checker, w.TICK))
            poke(row, w.T_GIVEN + warp, 0)
        poke(row, w.T_GIVEN + warp, max(peek(row, w.T_GIVEN + warp), depth))
    else:
        return peek(row, w.T_GIVEN + warp)
    return 0


@compiled
def wait(checker):  # type: ignore[no-untyped-def]
    """Pass a barrier: what follows comes after all that has been stored to shared memory."""
    row = peek(checker, w.TRIPS)
    if row == 0:  # not a profile
        return
    for _ in range(max(peek(checker, w.WHOLE), 1)):
        poke(row, w.T_BASE, max(peek(row, w.T_BASE), peek(row, w.T_STORED)))
        row += 8 * w.TRIP_WORDS


@compiled
def wait_for_grid(checker):  # type: ignore[no-untyped-def]
    """Pass a barrier of the grid: what follows comes after all loads of all blocks."""
    first, blocks, deepest = peek(checker, w.TRIPS), peek(checker, w.WHOLE), 0
    if first == 0:
        return
    for block in range(blocks):
        for warp in range((peek(checker, w.THREADS) + 31) >> 5):
            row = first + 8 * w.TRIP_WORDS * block
            deepest = max(deepest, peek(row, w.T_DEEPEST + warp))
    for block in range(blocks):
        poke(first + 8 * w.TRIP_WORDS * block, w.T_BASE, deepest)
