"""How time goes on in a watched launch: blocks, barriers, warp operations."""

from __future__ import annotations

from gpukit.compiler import watch as w
from gpukit.compiler.runtime import fences
from gpukit.compiler.runtime.notes import compiled, note
from gpukit.compiler.runtime.raw import peek, peek8, poke


@compiled
def _close_block(watch):  # type: ignore[no-untyped-def]
    """Count what has ended without touching memory: the block, if there was one, and its warps."""
    touched = peek(watch, w.TOUCHED)
    if peek(watch, w.BLOCKS_SEEN):
        if touched == 0:
            if peek(watch, w.IDLE_BLOCKS) == 0:
                poke(watch, w.FIRST_IDLE, peek(watch, w.BLOCK_NUMBER))
            poke(watch, w.IDLE_BLOCKS, peek(watch, w.IDLE_BLOCKS) + 1)
        for warp in range((peek(watch, w.THREADS) + 31) >> 5):
            idle = 1 - (touched >> warp & 1)
            poke(watch, w.IDLE_WARPS, peek(watch, w.IDLE_WARPS) + idle)
    poke(watch, w.TOUCHED, 0)


@compiled
def begin_block(watch, block):  # type: ignore[no-untyped-def]
    """Begin a block; `block` is its number."""
    if peek(watch, w.WHOLE):
        poke(watch, w.BLOCK_NUMBER, block)
        return
    _close_block(watch)
    stamp = peek(watch, w.NOW) + 1
    for word in (w.NOW, w.BLOCK, w.EPOCH):
        poke(watch, word, stamp)
    poke(watch, w.BLOCK_NUMBER, block)
    fences.begin(watch)
    table, seen = peek(watch, w.BLOCK_STAMPS), peek(watch, w.BLOCKS_SEEN)
    poke(table, 2 * seen, stamp)
    poke(table, 2 * seen + 1, block)
    poke(watch, w.BLOCKS_SEEN, seen + 1)


@compiled
def _advance(watch):  # type: ignore[no-untyped-def]
    stamp = peek(watch, w.NOW) + max(peek(watch, w.WHOLE), 1)
    poke(watch, w.NOW, stamp)
    return stamp


@compiled
def barrier(watch):  # type: ignore[no-untyped-def]
    """Pass a barrier of the block: what came before is in order with what follows."""
    poke(watch, w.EPOCH, _advance(watch))
    threads = peek(watch, w.THREADS)
    for block in range(max(peek(watch, w.WHOLE), 1)):
        fences.synchronise(watch, block * threads, (block + 1) * threads, 0)


@compiled
def grid_barrier(watch):  # type: ignore[no-untyped-def]
    """Pass a barrier of the whole grid."""
    stamp = _advance(watch)
    for word in (w.EPOCH, w.LAUNCH, w.BLOCK):
        poke(watch, word, stamp)


@compiled
def sync_warps(watch, threads, active):  # type: ignore[no-untyped-def]
    """Pass a syncwarp; `active` holds a flag for each thread, or is 0 for all of them.

    In a grid in step these are the threads of all blocks; warps of one number share a stamp.
    """
    stamp, size = _advance(watch), peek(watch, w.THREADS)
    for thread in range(threads):
        if active == 0 or peek8(active, thread) != 0:
            poke(watch, w.WARPS + (thread % size >> 5), stamp)
    poke(watch, w.LAST_SYNCWARP, stamp)
    for block in range(0, threads, size):
        for warp in range(block, min(block + size, threads), 32):
            fences.synchronise(watch, warp, min(warp + 32, block + size), active)


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
def check_mask(watch, site, thread, threads, active, returned, mask):  # type: ignore[no-untyped-def]
    """Check the mask that a thread gives to a warp operation."""
    base = thread & ~31
    count = min(32, threads - base)
    here = _lanes(active, base, count)
    gone = _lanes(returned, base, count) if returned else 0
    mask &= 0xFFFFFFFF
    if not (mask >> (thread & 31)) & 1:
        note(watch, w.MASK_CALLER, site, -1, 0, thread, -1, -1, 0, 0, 0, mask, here)
        return
    exist = (1 << count) - 1
    missing = mask & exist & ~here & ~gone
    if missing:
        note(watch, w.MASK_MISSING, site, -1, 0, thread, -1, -1, 0, 0, 0, mask, missing)


@compiled
def check_source(watch, site, thread, threads, active, source, mask):  # type: ignore[no-untyped-def]
    """Check that the lane from which a shuffle reads takes part in it."""
    if source < 0 or source == thread:
        return
    here = active == 0 or peek8(active, source) != 0
    if source >= threads or not here or not (mask >> (source & 31)) & 1:
        note(watch, w.SOURCE, site, -1, 0, thread, -1, -1, 0, 0, 0, mask, source & 31)


@compiled
def after_return(watch, site, threads, returned):  # type: ignore[no-untyped-def]
    """Note a barrier that some threads cannot reach because they have returned."""
    gone = 0
    for k in range(threads):
        gone += peek8(returned, k) != 0
    if gone == 0 or gone == threads:
        return
    row_ = note(watch, w.AFTER_RETURN, site, -1, 0, 0, -1, -1, 0, 0, 0, gone, 0)
    if row_ == 0:
        return
    for k in range(threads):
        word = w.F_INDEX + (k >> 6)
        if k & 63 == 0:
            poke(row_, word, 0)
        if peek8(returned, k):
            poke(row_, word, peek(row_, word) | 1 << (k & 63))


@compiled
def grid_return(watch, site, threads, returned):  # type: ignore[no-untyped-def]
    """Note a barrier of the grid that threads or whole blocks cannot reach any more."""
    size = peek(watch, w.THREADS)
    for block in range(threads // size):
        gone = 0
        for k in range(block * size, (block + 1) * size):
            gone += peek8(returned, k) != 0
        poke(watch, w.BLOCK_NUMBER, block)
        if gone == size:
            note(watch, w.GRID_RETURN, site, -1, 0, 0, -1, -1, 0, 0, 0, block, 0)
        elif gone:
            after_return(watch, site, size, returned + block * size)
