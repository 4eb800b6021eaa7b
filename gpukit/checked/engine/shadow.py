"""Detects races and uninitialised reads, in shadow memory (`compiler/checker_state.py`).

Every element has a cell of two words: its last writer, and its readers since. An access
is compared with both. It is in order if the earlier one was by the same thread, or by the same
block before its last barrier, or before the launch; otherwise it is a finding.
"""

from __future__ import annotations

from gpukit.checked.engine import fences
from gpukit.checked.engine.conflicts import against_reads, against_write, is_before, warp_synced
from gpukit.checked.engine.epochs import (
    BEFORE,
    OTHER_BLOCK,
    SAME_INTERVAL,
    begun,
    now,
    relation,
    since,
)
from gpukit.checked.engine.findings import note
from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled, inlined
from gpukit.compiler.runtime.raw import invoke, peek, poke, poke8


@compiled
def find_segment(checker, address):  # type: ignore[no-untyped-def]
    """Return the address of the row of the segment that holds an address, or 0."""
    row = peek(checker, w.SEGMENT_TABLE)
    for _ in range(peek(checker, w.SEGMENTS)):
        if peek(row, w.BEGIN) <= address < peek(row, w.END):
            return row
        row += 8 * w.SEGMENT_WORDS
    return 0


@compiled
def record(checker, location, thread, address, size, kind):  # type: ignore[no-untyped-def]
    """Check one access thread by thread (`access`)."""
    invoke(
        peek(checker, w.FUNCTIONS + w.ACCESS), (checker, location, thread, address, size, kind, 0)
    )


@compiled
def _read(checker, space, reads, location, thread):  # type: ignore[no-untyped-def]
    """Record in the word of an element's reads that a thread has read it.

    Two readers are kept: of different warps, if several of the block's have read since the last
    barrier; readers that are ordered before this one need not be.
    """
    if space == w.GLOBAL:
        fences.note_read(checker)
    word = peek(reads, 0)
    epoch = word >> w.EPOCH
    how = relation(checker, epoch, space)
    beside = thread
    if how == SAME_INTERVAL:
        first = (word >> w.READ_FIRST) & w.THREAD_MASK
        second = (word >> w.READ_OTHER) & w.THREAD_MASK
        if second >> 5 == thread >> 5:
            first, second = second, first
        # Now the second is of another warp than the thread, if either is.
        if not is_before(checker, how, location, thread, second, epoch):
            beside = second
            full = first >> 5 != second >> 5 or (second >> 5 == thread >> 5 and first != second)
            if full and not is_before(checker, how, location, thread, first, epoch):
                return
            if full and first >> 5 != second >> 5 and peek(checker, w.KNOWN) == 0:
                return
        elif not is_before(checker, how, location, thread, first, epoch):
            beside = first
        elif first == thread and epoch >= peek(checker, w.LAST_SYNCWARP):
            return
    flag = word & w.READ_ELSEWHERE if how != BEFORE else 0
    if how == OTHER_BLOCK:
        for shift in (w.READ_FIRST, w.READ_OTHER):
            other = (word >> shift) & w.THREAD_MASK
            if not is_before(checker, how, location, thread, other, epoch):
                flag = w.READ_ELSEWHERE
    fresh = now(checker) << w.EPOCH | beside << w.READ_FIRST | thread << w.READ_OTHER
    poke(reads, 0, fresh | location << w.READ_LOCATION | flag)


@compiled
def _write(checker, space, cell, location, thread, atomic, flags):  # type: ignore[no-untyped-def]
    """Record in a cell that a thread has written it; `flags` are those of a plain write."""
    if atomic:
        word = peek(cell, 0)
        epoch = word >> w.EPOCH
        how = relation(checker, epoch, space)
        flags = w.ATOMIC
        writer = (word >> w.WRITE_THREAD) & w.THREAD_MASK
        plain, synced = not word & w.ATOMIC, warp_synced(checker, thread, epoch)
        near = writer >> 5 == thread >> 5
        if how == SAME_INTERVAL:
            if plain and not (near and synced):
                return  # the plain write is what conflicts with other threads' atomics
            flags |= w.PLAIN_HERE if plain else word & (w.PLAIN_HERE | w.MANY_WARPS)
            if not near:
                flags |= w.MANY_WARPS
            if not plain and ((word & w.SEVERAL or writer != thread) and not (near and synced)):
                flags |= w.SEVERAL
            if flags & w.MANY_WARPS:
                flags |= w.SEVERAL
        if how != BEFORE and (word & w.PLAIN or plain):
            flags |= w.PLAIN
        if how == OTHER_BLOCK or (how != BEFORE and word & w.ELSEWHERE):
            flags |= w.ELSEWHERE
    fresh = now(checker) << w.EPOCH | thread << w.WRITE_THREAD | location << w.WRITE_LOCATION
    poke(cell, 0, fresh | flags)


@compiled
def _unset(checker, segment, space, word):  # type: ignore[no-untyped-def]
    """Tell whether a read element was never written."""
    if space == w.GLOBAL:
        return word & w.UNINITIALISED != 0
    return word >> w.EPOCH < begun(checker)


@compiled
def see_cell(checker, segment, space, address, size, cell, location, thread, kind, value):  # type: ignore[no-untyped-def]
    """Check one access to one cell and record it there."""
    if kind != w.STORE and _unset(checker, segment, space, peek(cell, 0)):
        note(checker, w.UNSET, location, -1, segment, thread, -1, -1, address, size, 0, space, 0)
    flags = 0
    if space != w.LOCAL and peek(checker, w.RACES):
        flags = against_write(
            checker, segment, space, address, size, cell, location, thread, kind, value
        )
        if kind != w.LOAD:
            against_reads(checker, segment, space, address, size, cell, location, thread, kind)
    if kind == w.LOAD:
        if space != w.LOCAL:
            _read(checker, space, cell + peek(segment, w.GAP), location, thread)
    else:
        poke(checker, w.WRITES, peek(checker, w.WRITES) + 1)
        _write(checker, space, cell, location, thread, kind == w.UPDATE, flags)


@inlined
def access(checker, location, thread, address, size, kind, value):  # type: ignore[no-untyped-def]
    """Check one access of one thread."""
    warp = thread >> 5
    poke(checker, w.LAST_LOCATION, location)
    poke(checker, w.TOUCHED, peek(checker, w.TOUCHED) | 1 << warp)
    segment = find_segment(checker, address)
    if segment == 0:
        return
    shift, space = peek(segment, w.SHIFT), peek(segment, w.SPACE)
    natural = size & -size
    # An element whose size is no power of two, or over 16 bytes, is copied in pieces.
    odd = natural == size and size <= 16 and address & (size - 1) != 0
    if kind == w.LOAD and peek(segment, w.CONSTANT) and not odd:
        return
    if odd:
        what = w.MISALIGNED
        note(checker, what, location, -1, segment, thread, -1, -1, address, size, 0, natural, 0)
    begin = peek(segment, w.BEGIN)
    first = (address - begin) >> shift
    # Never beyond the segment, whatever size of an access is recorded.
    last = (min(address + size, peek(segment, w.END)) - 1 - begin) >> shift
    cells = peek(segment, w.CELLS)
    if kind == w.UPDATE:
        _note_adder(checker, cells + 8 * first, location, thread)
    if space == w.SHARED and first == last and peek(checker, w.KNOWN) == 0:
        if _in_order(checker, segment, cells + 8 * first, location, thread, kind):
            return
    for k in range(first, last + 1):
        see_cell(
            checker, segment, space, address, size, cells + 8 * k, location, thread, kind, value
        )
    heads = peek(segment, w.HEADS)
    if kind == w.UPDATE and heads:
        fences.atomic(checker, heads + 8 * first, since(checker, space), thread)


@compiled
def _note_adder(checker, cell, location, thread):  # type: ignore[no-untyped-def]
    """Record that an atomic changes what another thread's atomic has changed in this launch."""
    word = peek(cell, 0)
    if (word & w.ATOMIC != 0) & (word >= peek(checker, w.LAUNCH) << w.EPOCH):
        other = (word >> w.WRITE_THREAD) & w.THREAD_MASK != thread
        if other | (word < peek(checker, w.BLOCK) << w.EPOCH):
            poke8(peek(checker, w.ADDERS), location, 1)


@compiled
def _in_order(checker, segment, cell, location, thread, kind):  # type: ignore[no-untyped-def]
    """Record an access to a shared element if no other access since the last barrier conflicts.

    The same as `see_cell`, which handles every relation of two accesses; this handles the
    usual ones: all others were before the barrier, the thread's own, or atomics like this one.
    """
    if peek(checker, w.WHOLE):
        return False
    word, seen = peek(cell, 0), peek(cell + peek(segment, w.GAP), 0)
    recent, fresh = peek(checker, w.BARRIER) << w.EPOCH, peek(checker, w.NOW) << w.EPOCH
    own = (word >> w.WRITE_THREAD) & w.THREAD_MASK == thread
    if kind == w.LOAD:
        unset = word < peek(checker, w.BLOCK) << w.EPOCH
        if unset | (word >= recent) & (not own) | (word & (w.SEVERAL | w.ELSEWHERE) != 0):
            return False
        if (seen >= recent) | (seen & w.READ_ELSEWHERE != 0):
            return False
        fresh |= thread << w.READ_FIRST | thread << w.READ_OTHER | location << w.READ_LOCATION
        poke(cell + peek(segment, w.GAP), 0, fresh)
        return True
    if seen >= recent:
        return False
    flags = 0
    if kind == w.UPDATE:
        met = max(peek(checker, w.BARRIER), peek(checker, w.LAST_SYNCWARP)) << w.EPOCH
        if (word < met) | (word & (w.ATOMIC | w.ELSEWHERE | w.PLAIN_HERE) != w.ATOMIC):
            return False
        flags = w.ATOMIC | word & (w.PLAIN | w.SEVERAL | w.MANY_WARPS) | (0 if own else w.SEVERAL)
        if ((word >> w.WRITE_THREAD) & w.THREAD_MASK) >> 5 != thread >> 5:
            flags |= w.MANY_WARPS
    elif (word >= recent) | (word & w.ELSEWHERE != 0) | (seen & w.READ_ELSEWHERE != 0):
        return False
    poke(cell, 0, fresh | thread << w.WRITE_THREAD | location << w.WRITE_LOCATION | flags)
    poke(checker, w.WRITES, peek(checker, w.WRITES) + 1)
    return True


@compiled
def set_segment(checker, number, address, size):  # type: ignore[no-untyped-def]
    """Record where a segment lies: scratch memory is known only while the kernel runs."""
    row_ = peek(checker, w.SEGMENT_TABLE) + 8 * w.SEGMENT_WORDS * number
    poke(row_, w.BEGIN, address)
    poke(row_, w.END, address + size)
    poke(row_, w.BASE, address)
