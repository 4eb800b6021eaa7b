"""How epochs advance in an instrumented launch: blocks, barriers, warp operations."""

from __future__ import annotations

from gpukit.checked.engine import fences, trips
from gpukit.checked.engine.findings import note
from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.raw import peek, peek8, poke


@compiled
def _close_block(checker):  # type: ignore[no-untyped-def]
    """Count what has ended without touching memory: the block, if there was one, and its warps."""
    touched = peek(checker, w.TOUCHED)
    if peek(checker, w.BLOCKS_SEEN):
        if touched == 0:
            if peek(checker, w.IDLE_BLOCKS) == 0:
                poke(checker, w.FIRST_IDLE, peek(checker, w.BLOCK_NUMBER))
            poke(checker, w.IDLE_BLOCKS, peek(checker, w.IDLE_BLOCKS) + 1)
        for warp in range((peek(checker, w.THREADS) + 31) >> 5):
            idle = 1 - (touched >> warp & 1)
            poke(checker, w.IDLE_WARPS, peek(checker, w.IDLE_WARPS) + idle)
    poke(checker, w.TOUCHED, 0)


@compiled
def begin_block(checker, block):  # type: ignore[no-untyped-def]
    """Begin the block with this number."""
    if peek(checker, w.WHOLE):
        poke(checker, w.BLOCK_NUMBER, block)
        return
    _close_block(checker)
    epoch = peek(checker, w.NOW) + 1
    for word in (w.NOW, w.BLOCK, w.BARRIER):
        poke(checker, word, epoch)
    poke(checker, w.BLOCK_NUMBER, block)
    fences.begin(checker)
    table, seen = peek(checker, w.BLOCK_EPOCHS), peek(checker, w.BLOCKS_SEEN)
    poke(table, 2 * seen, epoch)
    poke(table, 2 * seen + 1, block)
    poke(checker, w.BLOCKS_SEEN, seen + 1)


@compiled
def _advance(checker):  # type: ignore[no-untyped-def]
    epoch = peek(checker, w.NOW) + max(peek(checker, w.WHOLE), 1)
    poke(checker, w.NOW, epoch)
    return epoch


@compiled
def barrier(checker):  # type: ignore[no-untyped-def]
    """Pass a barrier of the block: it orders what came before and what follows."""
    poke(checker, w.BARRIER, _advance(checker))
    threads = peek(checker, w.THREADS)
    for block in range(max(peek(checker, w.WHOLE), 1)):
        fences.synchronise(checker, block * threads, (block + 1) * threads, 0)
    trips.wait(checker)


@compiled
def grid_barrier(checker):  # type: ignore[no-untyped-def]
    """Pass a barrier of the whole grid."""
    epoch = _advance(checker)
    for word in (w.BARRIER, w.LAUNCH, w.BLOCK):
        poke(checker, word, epoch)
    trips.wait_for_grid(checker)


@compiled
def sync_warps(checker, threads, active):  # type: ignore[no-untyped-def]
    """Pass a syncwarp; `active` holds a flag per thread, or is 0 if all are active.

    In a cooperative grid these are the threads of all blocks; warps of one number share an epoch.
    """
    epoch, size = _advance(checker), peek(checker, w.THREADS)
    for thread in range(threads):
        if active == 0 or peek8(active, thread) != 0:
            poke(checker, w.WARPS + (thread % size >> 5), epoch)
    poke(checker, w.LAST_SYNCWARP, epoch)
    for block in range(0, threads, size):
        for warp in range(block, min(block + size, threads), 32):
            fences.synchronise(checker, warp, min(warp + 32, block + size), active)
    trips.wait(checker)


# ---- warp operations --------------------------------------------------------------------------


@compiled
def _lanes(flags, base, count):  # type: ignore[no-untyped-def]
    """Return the lanes of a warp as bits; address 0 stands for all."""
    bits = 0
    for lane in range(count):
        if flags == 0 or peek8(flags, base + lane):
            bits |= 1 << lane
    return bits


@compiled
def check_mask(checker, location, thread, threads, active, returned, mask):  # type: ignore[no-untyped-def]
    """Check the mask that a thread passes to a warp operation."""
    base = thread & ~31
    count = min(32, threads - base)
    here = _lanes(active, base, count)
    gone = _lanes(returned, base, count) if returned else 0
    mask &= 0xFFFFFFFF
    if not (mask >> (thread & 31)) & 1:
        note(checker, w.MASK_CALLER, location, -1, 0, thread, -1, -1, 0, 0, 0, mask, here)
        return
    exist = (1 << count) - 1
    missing = mask & exist & ~here & ~gone
    if missing:
        note(checker, w.MASK_MISSING, location, -1, 0, thread, -1, -1, 0, 0, 0, mask, missing)


@compiled
def check_source(checker, location, thread, threads, active, source, mask):  # type: ignore[no-untyped-def]
    """Check that the lane from which a shuffle reads takes part in it."""
    if source < 0 or source == thread:
        return
    here = active == 0 or peek8(active, source) != 0
    if source >= threads or not here or not (mask >> (source & 31)) & 1:
        note(checker, w.SOURCE, location, -1, 0, thread, -1, -1, 0, 0, 0, mask, source & 31)


@compiled
def after_return(checker, location, threads, returned):  # type: ignore[no-untyped-def]
    """Record a barrier that some threads cannot reach because they have returned."""
    gone = 0
    for k in range(threads):
        gone += peek8(returned, k) != 0
    if gone == 0 or gone == threads:
        return
    row_ = note(checker, w.AFTER_RETURN, location, -1, 0, 0, -1, -1, 0, 0, 0, gone, 0)
    if row_ == 0:
        return
    for k in range(threads):
        word = w.F_INDEX + (k >> 6)
        if k & 63 == 0:
            poke(row_, word, 0)
        if peek8(returned, k):
            poke(row_, word, peek(row_, word) | 1 << (k & 63))


@compiled
def grid_return(checker, location, threads, returned):  # type: ignore[no-untyped-def]
    """Record a barrier of the grid that threads or whole blocks can no longer reach."""
    size = peek(checker, w.THREADS)
    for block in range(threads // size):
        gone = 0
        for k in range(block * size, (block + 1) * size):
            gone += peek8(returned, k) != 0
        poke(checker, w.BLOCK_NUMBER, block)
        if gone == size:
            note(checker, w.GRID_RETURN, location, -1, 0, 0, -1, -1, 0, 0, 0, block, 0)
        elif gone:
            after_return(checker, location, size, returned + block * size)
