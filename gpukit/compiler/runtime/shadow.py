"""Finding races and reads of what nobody wrote, in shadow memory (`compiler/watch.py`).

Every element has a cell of two words: who wrote it last, and who has read it since. An access
is compared with both. It is in order if the earlier one was the same thread's, or of the same
block before its last barrier, or before the launch; otherwise it is a finding.
"""

from __future__ import annotations

from numba import njit

from gpukit.compiler import watch as w
from gpukit.compiler.runtime.notes import OPTIONS, compiled, note
from gpukit.compiler.runtime.raw import invoke, peek, peek8, poke

# For functions with one caller, the one that a kernel calls.
inlined = njit(forceinline=True, **OPTIONS)

# How an earlier access stands to one of the running block.
_BEFORE, _ORDERED, _SAME_EPOCH, _OTHER_BLOCK = range(4)


@compiled
def relation(watch, stamp, space):  # type: ignore[no-untyped-def]
    """Tell how an access with this stamp stands to the running block."""
    if stamp < since(watch, space):
        return _BEFORE
    whole = peek(watch, w.WHOLE)
    if whole:
        if (stamp - peek(watch, w.ORIGIN)) % whole != peek(watch, w.BLOCK_NUMBER):
            return _OTHER_BLOCK
    elif stamp < peek(watch, w.BLOCK):
        return _OTHER_BLOCK
    return _SAME_EPOCH if stamp >= peek(watch, w.EPOCH) else _ORDERED


@compiled
def since(watch, space):  # type: ignore[no-untyped-def]
    """Return the stamp before which nothing counts: a block's shared memory begins with it."""
    if space == w.GLOBAL or peek(watch, w.WHOLE):
        return peek(watch, w.LAUNCH)
    return peek(watch, w.BLOCK)


@compiled
def now(watch):  # type: ignore[no-untyped-def]
    """Return the stamp of what the running block does now."""
    if peek(watch, w.WHOLE):
        return peek(watch, w.NOW) + peek(watch, w.BLOCK_NUMBER)
    return peek(watch, w.NOW)


@compiled
def find_region(watch, address):  # type: ignore[no-untyped-def]
    """Return the address of the row of the region that holds an address, or 0."""
    row = peek(watch, w.REGION_TABLE)
    for _ in range(peek(watch, w.REGIONS)):
        if peek(row, w.BEGIN) <= address < peek(row, w.END):
            return row
        row += 8 * w.REGION_WORDS
    return 0


@compiled
def block_of(watch, stamp):  # type: ignore[no-untyped-def]
    """Return the number of the block that ran at a stamp."""
    whole = peek(watch, w.WHOLE)
    if whole:
        return (stamp - peek(watch, w.ORIGIN)) % whole
    table, low, high = peek(watch, w.BLOCK_STAMPS), 0, peek(watch, w.BLOCKS_SEEN)
    while high - low > 1:
        middle = (low + high) // 2
        if peek(table, 2 * middle) <= stamp:
            low = middle
        else:
            high = middle
    return peek(table, 2 * low + 1)


@compiled
def tell(watch, site, thread, address, size, kind):  # type: ignore[no-untyped-def]
    """Let one access be looked at closely (`access`)."""
    invoke(peek(watch, w.FUNCTIONS + w.ACCESS), (watch, site, thread, address, size, kind, 0))


@compiled
def _same(address, value, size):  # type: ignore[no-untyped-def]
    """Tell whether the bytes at two addresses are the same; 0 stands for an unknown value."""
    if value == 0:
        return False
    same = True
    for k in range(size):
        same &= peek8(address, k) == peek8(value, k)
    return same


@compiled
def _fenced(watch, stamp):  # type: ignore[no-untyped-def]
    """Tell whether a fence and an atomic order another block's access before this block."""
    table = peek(watch, w.RELEASES)
    if table == 0:
        return False
    other = block_of(watch, stamp)
    if stamp > peek(table, 2 * other + 1):
        return False
    released = peek(table, 2 * other)
    seen = False
    for k in range(peek(watch, w.ACQUIRED)):
        seen |= peek(watch, w.ACQUIRED_AT + k) == released
    return seen


@compiled
def _clash(  # type: ignore[no-untyped-def]
    watch, region, address, size, site, thread, kind, stamp, how, near, other, other_site, hazard,
    was_atomic, value,
):  # fmt: skip
    """Report an access that clashes with an earlier one, unless a fence orders the two.

    `near`: that one was by a lane of the same warp; `other`: by whom, NOBODY if that is lost.
    """
    other_block = peek(watch, w.BLOCK_NUMBER)
    what = w.RACE if was_atomic == (kind == w.UPDATE) else w.ATOMIC_RACE
    if hazard == w.WRITE_WRITE and what == w.RACE and _same(address, value, size):
        what = w.SAME_VALUE
    elif how == _SAME_EPOCH and near:
        what = w.WARP_RACE
    if how == _OTHER_BLOCK:
        if other != w.NOBODY and _fenced(watch, stamp):
            return
        other_block = w.NOBODY if other == w.NOBODY else block_of(watch, stamp)
    note(watch, what, site, other_site, region, thread, other, other_block, address, size,
         hazard, 0, int(kind == w.UPDATE))  # fmt: skip


@compiled
def _warp_met(watch, thread, stamp):  # type: ignore[no-untyped-def]
    """Tell whether the warp of a thread has met since a stamp."""
    return stamp < peek(watch, w.WARPS + (thread >> 5))


@compiled
def _against_write(watch, region, space, address, size, cell, site, thread, kind, value):  # type: ignore[no-untyped-def]
    """Compare an access with the last write of its element."""
    word = peek(cell, 0)
    stamp = word >> w.STAMP
    how = relation(watch, stamp, space)
    if how == _BEFORE:
        return
    writer = (word >> w.WRITE_THREAD) & w.THREAD_MASK
    near = writer >> 5 == thread >> 5
    was_atomic = word & w.ATOMIC != 0
    if kind == w.UPDATE and was_atomic:  # what clashes is a plain write before the atomics
        plain = word & w.PLAIN if how == _OTHER_BLOCK else word & w.PLAIN_HERE
        if not plain or how == _ORDERED or (how == _SAME_EPOCH and near):
            return
        was_atomic = False
    elif word & w.ELSEWHERE and how != _OTHER_BLOCK:
        how, writer = _OTHER_BLOCK, w.NOBODY  # another block's atomic, since overwritten
    elif how == _ORDERED:
        return
    elif how == _SAME_EPOCH and near:
        near = not word & w.MANY_WARPS
        alone = writer == thread and not word & w.SEVERAL
        if near and (alone or _warp_met(watch, thread, stamp)):
            return
        if writer == thread or not near:
            writer = w.NOBODY
    other_site = (word >> w.WRITE_SITE) & w.SITE_MASK
    hazard = w.WRITE_READ if kind == w.LOAD else w.WRITE_WRITE
    _clash(watch, region, address, size, site, thread, kind, stamp, how, near, writer, other_site,
           hazard, was_atomic, value)  # fmt: skip


@compiled
def _against_reads(watch, region, space, address, size, cell, site, thread, kind):  # type: ignore[no-untyped-def]
    """Compare a write with the reads of its element since the last write.

    Of two readers at least one is in the way of any writer, if they are of different warps where
    several warps have read (`_read`).
    """
    word = peek(cell + peek(region, w.GAP), 0)
    stamp = word >> w.STAMP
    how = relation(watch, stamp, space)
    if how == _BEFORE:
        return
    other = (word >> w.READ_FIRST) & w.THREAD_MASK
    second = (word >> w.READ_OTHER) & w.THREAD_MASK
    near = False
    if word & w.READ_ELSEWHERE and how != _OTHER_BLOCK:
        how, other = _OTHER_BLOCK, w.NOBODY  # another block's, since overwritten
    elif how == _ORDERED:
        return
    elif how == _SAME_EPOCH:
        if other == thread or other >> 5 == thread >> 5 != second >> 5:
            other = second
        near = other >> 5 == thread >> 5
        if other == thread or (near and _warp_met(watch, thread, stamp)):
            return
    other_site = (word >> w.READ_SITE) & w.SITE_MASK
    _clash(watch, region, address, size, site, thread, kind, stamp, how, near, other, other_site,
           w.READ_WRITE, False, 0)  # fmt: skip


@compiled
def _read(watch, space, reads, site, thread):  # type: ignore[no-untyped-def]
    """Note in the word of an element's reads that a thread has read it.

    Two readers are kept: of different warps, if several of the block's have read since the last
    barrier; else those since the warp met last.
    """
    word = peek(reads, 0)
    stamp = word >> w.STAMP
    how = relation(watch, stamp, space)
    if how == _SAME_EPOCH:
        first = (word >> w.READ_FIRST) & w.THREAD_MASK
        second = (word >> w.READ_OTHER) & w.THREAD_MASK
        near = first >> 5 == thread >> 5
        if first >> 5 != second >> 5 or not (near and _warp_met(watch, thread, stamp)):
            if first >> 5 == second >> 5 and not (near and (first == thread or first != second)):
                word &= ~(w.THREAD_MASK << w.READ_OTHER)
                poke(reads, 0, word | thread << w.READ_OTHER)
            return
    flag = word & w.READ_ELSEWHERE if how != _BEFORE else 0
    if how == _OTHER_BLOCK:
        flag = w.READ_ELSEWHERE
    fresh = now(watch) << w.STAMP | thread << w.READ_FIRST | thread << w.READ_OTHER
    poke(reads, 0, fresh | site << w.READ_SITE | flag)


@compiled
def _write(watch, space, cell, site, thread, atomic):  # type: ignore[no-untyped-def]
    """Note in a cell that a thread has written it."""
    flags = 0
    if atomic:
        word = peek(cell, 0)
        stamp = word >> w.STAMP
        how = relation(watch, stamp, space)
        flags = w.ATOMIC
        writer = (word >> w.WRITE_THREAD) & w.THREAD_MASK
        plain, met = not word & w.ATOMIC, _warp_met(watch, thread, stamp)
        near = writer >> 5 == thread >> 5
        if how == _SAME_EPOCH:
            if plain and not (near and met):
                return  # the plain write is what other threads' atomics clash with
            flags |= w.PLAIN_HERE if plain else word & (w.PLAIN_HERE | w.MANY_WARPS)
            if not near:
                flags |= w.MANY_WARPS
            if not plain and ((word & w.SEVERAL or writer != thread) and not (near and met)):
                flags |= w.SEVERAL
            if flags & w.MANY_WARPS:
                flags |= w.SEVERAL
        if how != _BEFORE and (word & w.PLAIN or plain):
            flags |= w.PLAIN
        if how == _OTHER_BLOCK or (how != _BEFORE and word & w.ELSEWHERE):
            flags |= w.ELSEWHERE
    fresh = now(watch) << w.STAMP | thread << w.WRITE_THREAD | site << w.WRITE_SITE
    poke(cell, 0, fresh | flags)


@compiled
def _unset(watch, region, space, word):  # type: ignore[no-untyped-def]
    """Tell whether a read element was never written."""
    if space == w.GLOBAL:
        return word & w.UNINITIALISED != 0
    return relation(watch, word >> w.STAMP, space) in (_BEFORE, _OTHER_BLOCK)


@compiled
def see_cell(watch, region, space, address, size, cell, site, thread, kind, value):  # type: ignore[no-untyped-def]
    """Check one access to one cell and note it there."""
    if kind != w.STORE and _unset(watch, region, space, peek(cell, 0)):
        note(watch, w.UNSET, site, -1, region, thread, -1, -1, address, size, 0, space, 0)
    if space != w.LOCAL and peek(watch, w.RACES):
        _against_write(watch, region, space, address, size, cell, site, thread, kind, value)
        if kind != w.LOAD:
            _against_reads(watch, region, space, address, size, cell, site, thread, kind)
    if kind == w.LOAD:
        if space != w.LOCAL:
            _read(watch, space, cell + peek(region, w.GAP), site, thread)
    else:
        poke(watch, w.WRITES, peek(watch, w.WRITES) + 1)
        _write(watch, space, cell, site, thread, kind == w.UPDATE)


@inlined
def access(watch, site, thread, address, size, kind, value):  # type: ignore[no-untyped-def]
    """Check one access of one thread."""
    warp = thread >> 5
    poke(watch, w.TOUCHED, peek(watch, w.TOUCHED) | 1 << warp)
    region = find_region(watch, address)
    if region == 0:
        return
    shift, space = peek(region, w.SHIFT), peek(region, w.SPACE)
    natural = size & -size
    if kind == w.LOAD and peek(region, w.CONSTANT) and not address & (min(natural, 16) - 1):
        return
    if address & (min(natural, 16) - 1):
        note(watch, w.MISALIGNED, site, -1, region, thread, -1, -1, address, size, 0, natural, 0)
    begin = peek(region, w.BEGIN)
    first = (address - begin) >> shift
    # Never beyond the region, whatever size an access is told to have.
    last = (min(address + size, peek(region, w.END)) - 1 - begin) >> shift
    cells = peek(region, w.CELLS)
    if space == w.SHARED and first == last:
        if _in_order(watch, region, cells + 8 * first, site, thread, kind):
            return
    for k in range(first, last + 1):
        see_cell(watch, region, space, address, size, cells + 8 * k, site, thread, kind, value)
    if kind == w.UPDATE and space == w.GLOBAL:
        _synchronise(watch, address)


@compiled
def _in_order(watch, region, cell, site, thread, kind):  # type: ignore[no-untyped-def]
    """Note an access to a shared element that no other access since the last barrier concerns.

    The same as `see_cell`, which looks at every way that two accesses can stand; this at the
    usual ones: all others were before the barrier, the thread's own, or atomics like this one.
    """
    if peek(watch, w.WHOLE):
        return False
    word, seen = peek(cell, 0), peek(cell + peek(region, w.GAP), 0)
    recent, fresh = peek(watch, w.EPOCH) << w.STAMP, peek(watch, w.NOW) << w.STAMP
    own = (word >> w.WRITE_THREAD) & w.THREAD_MASK == thread
    if kind == w.LOAD:
        unset = word < peek(watch, w.BLOCK) << w.STAMP
        if unset | (word >= recent) & (not own) | (word & (w.SEVERAL | w.ELSEWHERE) != 0):
            return False
        if (seen >= recent) | (seen & w.READ_ELSEWHERE != 0):
            return False
        fresh |= thread << w.READ_FIRST | thread << w.READ_OTHER | site << w.READ_SITE
        poke(cell + peek(region, w.GAP), 0, fresh)
        return True
    if seen >= recent:
        return False
    flags = 0
    if kind == w.UPDATE:
        met = max(peek(watch, w.EPOCH), peek(watch, w.LAST_SYNCWARP)) << w.STAMP
        if (word < met) | (word & (w.ATOMIC | w.ELSEWHERE | w.PLAIN_HERE) != w.ATOMIC):
            return False
        flags = w.ATOMIC | word & (w.PLAIN | w.SEVERAL | w.MANY_WARPS) | (0 if own else w.SEVERAL)
        if ((word >> w.WRITE_THREAD) & w.THREAD_MASK) >> 5 != thread >> 5:
            flags |= w.MANY_WARPS
    elif (word >= recent) | (word & w.ELSEWHERE != 0) | (seen & w.READ_ELSEWHERE != 0):
        return False
    poke(cell, 0, fresh | thread << w.WRITE_THREAD | site << w.WRITE_SITE | flags)
    poke(watch, w.WRITES, peek(watch, w.WRITES) + 1)
    return True


@compiled
def _synchronise(watch, address):  # type: ignore[no-untyped-def]
    """Take note of an atomic: behind a fence it publishes, and it sees what others published."""
    count = peek(watch, w.ACQUIRED)
    known = False
    for k in range(count):
        known |= peek(watch, w.ACQUIRED_AT + k) == address
    if not known and count < w.MAX_ACQUIRED:
        poke(watch, w.ACQUIRED_AT + count, address)
        poke(watch, w.ACQUIRED, count + 1)
    table, fence = peek(watch, w.RELEASES), peek(watch, w.FENCE_STAMP)
    if table and fence:
        block = peek(watch, w.BLOCK_NUMBER)
        poke(table, 2 * block, address)
        poke(table, 2 * block + 1, fence)


@compiled
def set_region(watch, number, address, size):  # type: ignore[no-untyped-def]
    """Say where a region lies: scratch memory is only known when the kernel runs."""
    row_ = peek(watch, w.REGION_TABLE) + 8 * w.REGION_WORDS * number
    poke(row_, w.BEGIN, address)
    poke(row_, w.END, address + size)
    poke(row_, w.BASE, address)
