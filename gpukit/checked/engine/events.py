"""Records what a launch does, event by event, for the player (`compiler/checker_state.py`)."""

from __future__ import annotations

from gpukit.checked.engine.shadow import find_segment
from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.raw import peek, peek8, poke


@compiled
def event(checker, kind, location, thread, a, b, c, d):  # type: ignore[no-untyped-def]
    """Append an event; return its address, 0 where there is no space left."""
    count = peek(checker, w.EVENT_COUNT)
    if count >= peek(checker, w.EVENT_CAPACITY):
        return 0
    poke(checker, w.EVENT_COUNT, count + 1)
    row = peek(checker, w.EVENTS) + 8 * w.EVENT_WORDS * count
    poke(row, 0, kind)
    poke(row, 1, location)
    poke(row, 2, peek(checker, w.BLOCK_NUMBER))
    poke(row, 3, thread)
    poke(row, 4, a)
    poke(row, 5, b)
    poke(row, 6, c)
    poke(row, 7, d)
    return row


@compiled
def _value(address, first, size):  # type: ignore[no-untyped-def]
    """Return up to eight bytes of an element, from byte `first` on, as a word."""
    value = 0
    for k in range(min(max(size - first, 0), 8)):
        value |= peek8(address, first + k) << (8 * k)
    return value


@compiled
def settle(checker):  # type: ignore[no-untyped-def]
    """Record the value left by the last atomic: it was recorded before it was executed."""
    row = peek(checker, w.PENDING)
    if row:
        poke(row, 6, _value(peek(row, 5), 0, peek(row, 4) >> 32))
        poke(checker, w.PENDING, 0)


@compiled
def access(checker, location, thread, address, size, kind, value):  # type: ignore[no-untyped-def]
    """Record an access: the value that was read, or the one that will be written."""
    settle(checker)
    segment = find_segment(checker, address)
    number = peek(segment, w.NUMBER) if segment else -1
    at = value if value else address
    how = kind | (number + 1) << 8 | size << 32
    bits = _value(at, 0, size)
    row = event(checker, w.E_ACCESS, location, thread, how, address, bits, _value(at, 8, size))
    if kind == w.UPDATE:
        poke(checker, w.PENDING, row)


@compiled
def row(checker, location, thread, count, address, step, size, mask, kind):  # type: ignore[no-untyped-def]
    """Record the reads of a row of threads."""
    for k in range(count):
        if mask == 0 or peek8(mask, k) != 0:
            access(checker, location, thread + k, address + k * step, size, kind, 0)


@compiled
def sync_warps(checker, location, threads, active):  # type: ignore[no-untyped-def]
    """Record which lanes pass a syncwarp, warp by warp."""
    _all_lanes(checker, w.E_SYNCWARP, location, threads, active)


@compiled
def work(checker, location, thread, count, mask):  # type: ignore[no-untyped-def]
    """Record which lanes begin a statement, warp by warp."""
    settle(checker)
    if count > peek(checker, w.THREADS):  # once for the whole grid
        _all_lanes(checker, w.E_WORK, location, count, mask)
    else:
        _lanes(checker, w.E_WORK, location, thread, count, mask)


@compiled
def _all_lanes(checker, kind, location, threads, mask):  # type: ignore[no-untyped-def]
    """Record lanes of the running block, or in a cooperative grid of one block after the other."""
    size = peek(checker, w.THREADS)
    for block in range(threads // size):
        if threads > size:
            poke(checker, w.BLOCK_NUMBER, block)
        _lanes(checker, kind, location, 0, size, mask + block * size if mask else 0)


@compiled
def _lanes(checker, kind, location, thread, count, mask):  # type: ignore[no-untyped-def]
    """Record which of some threads of a block execute something, warp by warp."""
    lanes, warp = 0, thread >> 5
    for k in range(count):
        if (thread + k) >> 5 != warp:
            if lanes:
                event(checker, kind, location, 32 * warp, lanes, 0, 0, 0)
            lanes, warp = 0, (thread + k) >> 5
        if mask == 0 or peek8(mask, k) != 0:
            lanes |= 1 << ((thread + k) & 31)
    if lanes:
        event(checker, kind, location, 32 * warp, lanes, 0, 0, 0)
