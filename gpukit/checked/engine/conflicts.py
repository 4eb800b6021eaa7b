"""Compares an access with earlier ones to the same element, and reports those in no order."""

from __future__ import annotations

from gpukit.checked.engine import fences
from gpukit.checked.engine.epochs import (
    BEFORE,
    ORDERED,
    OTHER_BLOCK,
    SAME_INTERVAL,
    block_of,
    relation,
)
from gpukit.checked.engine.findings import note
from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.raw import peek, peek8


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
def _decided(checker, location):  # type: ignore[no-untyped-def]
    """Tell whether a thread does this access only if an atomic returned a certain value.

    A thread that does not test a flag's value has not waited for what the flag signals.
    """
    table = peek(checker, w.DECIDED)
    return table != 0 and peek8(table, location) != 0


@compiled
def is_before(checker, how, location, thread, other, epoch):  # type: ignore[no-untyped-def]
    """Tell whether an access since the block's last barrier is ordered before one of a thread."""
    block = peek(checker, w.BLOCK_NUMBER)
    if how == OTHER_BLOCK:
        block = block_of(checker, epoch)
    elif other == thread or (other >> 5 == thread >> 5 and warp_synced(checker, thread, epoch)):
        return True
    return _decided(checker, location) and fences.knows(checker, thread, block, other, epoch)


@compiled
def _clash(checker, access, epoch, how, who, other, hazard, was_atomic):  # type: ignore[no-untyped-def]
    """Report an access that conflicts with one by thread `who`, NOBODY if that is not known.

    NOBODY less 32 is an unknown lane of the thread's own warp. `other` is the line of that access.
    """
    segment, address, size, location, thread, kind, value = access
    block, b = peek(checker, w.BLOCK_NUMBER), int(kind == w.UPDATE)
    what = w.RACE if was_atomic == (kind == w.UPDATE) else w.ATOMIC_RACE
    if hazard == w.WRITE_WRITE and what == w.RACE and _same(address, value, size):
        what = w.SAME_VALUE
    elif how == SAME_INTERVAL and (who >> 5 == thread >> 5 or who < w.NOBODY):
        what = w.WARP_RACE
    if how == OTHER_BLOCK:
        block = w.NOBODY if who == w.NOBODY else block_of(checker, epoch)
    who = max(who, w.NOBODY)
    note(checker, what, location, other, segment, thread, who, block, address, size, hazard, 0, b)


@compiled
def warp_synced(checker, thread, epoch):  # type: ignore[no-untyped-def]
    """Tell whether the warp of a thread has synchronized since an epoch."""
    return epoch < peek(checker, w.WARPS + (thread >> 5))


@compiled
def against_write(checker, segment, space, address, size, cell, location, thread, kind, value):  # type: ignore[no-untyped-def]
    """Compare an access with the last write of its element; return the flags of a new write."""
    word = peek(cell, 0)
    epoch = word >> w.EPOCH
    how = relation(checker, epoch, space)
    if how == BEFORE:
        return 0
    writer = (word >> w.WRITE_THREAD) & w.THREAD_MASK
    near = writer >> 5 == thread >> 5
    was_atomic = word & w.ATOMIC != 0
    if kind == w.UPDATE and was_atomic:  # a plain write before the atomics conflicts
        plain = word & w.PLAIN if how == OTHER_BLOCK else word & w.PLAIN_HERE
        if not plain or how == ORDERED or (how == SAME_INTERVAL and near):
            return 0
        was_atomic = False
    if how == ORDERED or is_before(checker, how, location, thread, writer, epoch):
        locks = 0 if was_atomic else _locks(checker, word, how, thread)
        others = locks if not was_atomic else _others_atomics(checker, word, how, thread)
        if not others or _decided(checker, location):
            return locks  # an atomic is ordered after earlier ones on the element
        writer = w.NOBODY
        if locks & w.LOCKED:
            how = OTHER_BLOCK
        elif locks == 0 and how == SAME_INTERVAL and not word & (w.ELSEWHERE | w.MANY_WARPS):
            writer -= 32
        elif word & w.ELSEWHERE:
            how = OTHER_BLOCK
    elif how == SAME_INTERVAL and near and word & w.MANY_WARPS:
        writer = w.NOBODY
    elif how == SAME_INTERVAL and near and word & w.ELSEWHERE:
        how, writer = OTHER_BLOCK, w.NOBODY
    other_location = (word >> w.WRITE_LOCATION) & w.LOCATION_MASK
    hazard = w.WRITE_READ if kind == w.LOAD else w.WRITE_WRITE
    access = segment, address, size, location, thread, kind, value
    _clash(checker, access, epoch, how, writer, other_location, hazard, was_atomic)
    return 0


@compiled
def _locks(checker, word, how, thread):  # type: ignore[no-untyped-def]
    """Return in which ways locks order an element's last plain write after those before it."""
    if how == OTHER_BLOCK:
        return w.LOCKED
    flags = word & w.LOCKED
    if how == SAME_INTERVAL:
        writer = (word >> w.WRITE_THREAD) & w.THREAD_MASK
        near = writer >> 5 == thread >> 5 and warp_synced(checker, thread, word >> w.EPOCH)
        flags |= word & w.LOCKED_HERE if writer == thread or near else w.LOCKED_HERE
    return flags


@compiled
def _others_atomics(checker, word, how, thread):  # type: ignore[no-untyped-def]
    """Tell whether atomics came before an element's last one that are not in order with it."""
    if word & w.ELSEWHERE:
        return True
    if how != SAME_INTERVAL:
        return False
    alone = warp_synced(checker, thread, word >> w.EPOCH) or not word & w.SEVERAL
    return word & w.MANY_WARPS != 0 or not alone


@compiled
def against_reads(checker, segment, space, address, size, cell, location, thread, kind):  # type: ignore[no-untyped-def]
    """Compare a write with the reads of its element since the last write.

    Of any two readers at least one conflicts with a writer, if they are of different warps where
    several warps have read (`_read`).
    """
    word = peek(cell + peek(segment, w.GAP), 0)
    epoch = word >> w.EPOCH
    how = relation(checker, epoch, space)
    if how == BEFORE:
        return
    first = (word >> w.READ_FIRST) & w.THREAD_MASK
    other = (word >> w.READ_OTHER) & w.THREAD_MASK
    if word & w.READ_ELSEWHERE and not (
        _decided(checker, location) and fences.knows_all_reads(checker, thread)
    ):
        if how != OTHER_BLOCK:
            how, other = OTHER_BLOCK, w.NOBODY  # another block's, since overwritten
    elif how == ORDERED:
        return
    else:
        if first >> 5 != thread >> 5:
            first, other = other, first
        if is_before(checker, how, location, thread, other, epoch):
            other = first
            if is_before(checker, how, location, thread, other, epoch):
                return
    other_location = (word >> w.READ_LOCATION) & w.LOCATION_MASK
    access = segment, address, size, location, thread, kind, 0
    _clash(checker, access, epoch, how, other, other_location, w.READ_WRITE, False)
