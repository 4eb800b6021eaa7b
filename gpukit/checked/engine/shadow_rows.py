"""Rows of threads that access equally spaced elements: split by their mask into runs of threads.

`shadow_runs` checks a run at once; what cannot be checked so goes to `shadow.access`, thread by
thread.
"""

from __future__ import annotations

from gpukit.checked.engine import masks
from gpukit.checked.engine.epochs import begun, since
from gpukit.checked.engine.shadow import find_segment
from gpukit.checked.engine.shadow_runs import OTHER_BLOCKS, SHARED_FLAGS, record_all, run
from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled, inlined
from gpukit.compiler.runtime.raw import peek, poke


@compiled
def touch(checker, thread, count):  # type: ignore[no-untyped-def]
    """Record that a run of threads has touched memory."""
    warps = ((thread + count - 1) >> 5) - (thread >> 5) + 1
    poke(checker, w.TOUCHED, peek(checker, w.TOUCHED) | ((1 << warps) - 1) << (thread >> 5))


@inlined
def row_free(checker, location, thread, count, address, step, size, mask):  # type: ignore[no-untyped-def]
    """Tell whether the threads of a row may write without a check of the values they write.

    They may not where two of them write one element, or where other threads have written an element
    since the last barrier: then the values decide how severe it is.
    """
    if count <= 0:
        return 1
    segment = find_segment(checker, address)
    if segment == 0:
        return 0
    shift, space = peek(segment, w.SHIFT), peek(segment, w.SPACE)
    if size > abs(step) or size != 1 << shift or peek(checker, w.WHOLE):
        return 1 if count == 1 and size == 1 << shift else 0
    if (address | step) & (min(size, 16) - 1):
        return 0
    cells = peek(segment, w.CELLS) + 8 * ((address - peek(segment, w.BEGIN)) >> shift)
    stride = 8 * (step >> shift)
    low, block, barrier = since(checker, space), peek(checker, w.BLOCK), peek(checker, w.BARRIER)
    k = masks.begin(mask, 0, count)
    while k < count:
        apart = masks.distance(mask, k, count)
        n = masks.length(mask, k, count, apart)
        at, me = cells + k * stride, thread + k
        if not _all_free(at, stride * apart, n, low, block, barrier, me, apart):
            return 0
        k = masks.begin(mask, k + (n - 1) * apart + 1, count)
    return 1


@compiled
def _all_free(cells, stride, count, low, block, barrier, thread, apart):  # type: ignore[no-untyped-def]
    """Tell whether all elements were last written before this interval, or by their own thread.

    Words are compared as a whole: the epoch is in their upper half.
    """
    low, block, barrier = low << w.EPOCH, block << w.EPOCH, barrier << w.EPOCH
    bad = 0
    if stride == 8:
        for k in range(count):
            me = thread + k * apart
            bad |= _written_by_others(peek(cells, k), low, block, barrier, me)
    else:
        for k in range(count):
            word, me = peek(cells + k * stride, 0), thread + k * apart
            bad |= _written_by_others(word, low, block, barrier, me)
    return bad == 0


@compiled
def _written_by_others(word, low, block, barrier, thread):  # type: ignore[no-untyped-def]
    """Return 1 where a write is not in order with one of a thread, by its word alone."""
    mine = ((word >> w.WRITE_THREAD) & w.THREAD_MASK == thread) & (word & SHARED_FLAGS == 0)
    within = (word >= block) & ((word < barrier) & (word & OTHER_BLOCKS == 0) | mine)
    return 1 - int((word < low) | within)


@inlined
def row(checker, location, thread, count, address, step, size, mask, kind):  # type: ignore[no-untyped-def]
    """Check the accesses of a row of threads to equally spaced elements."""
    if count <= 0:
        return
    poke(checker, w.LAST_LOCATION, location)
    segment = find_segment(checker, address)
    aligned = (address | step) & (min(size & -size, 16) - 1) == 0
    if kind == w.LOAD and segment and aligned and peek(segment, w.CONSTANT):
        begin = masks.begin(mask, 0, count)
        while begin < count:
            end = masks.end(mask, begin, count)
            touch(checker, thread + begin, end - begin)
            begin = masks.begin(mask, end, count)
        return
    shift = peek(segment, w.SHIFT) if segment else 0
    odd = segment == 0 or size != 1 << shift or (address | step) & (min(size, 16) - 1)
    slow = odd or peek(checker, w.WHOLE)
    k = masks.begin(mask, 0, count)
    while k < count:
        apart = masks.distance(mask, k, count)
        n = masks.length(mask, k, count, apart)
        me, far = thread + k, thread + k + (n - 1) * apart
        touch(checker, me, (n - 1) * apart + 1)
        at, leap = address + k * step, step * apart
        if slow:
            record_all(checker, location, me, apart, n, at, leap, size, kind)
        else:
            cells = peek(segment, w.CELLS) + 8 * ((at - peek(segment, w.BEGIN)) >> shift)
            stride = 8 * (step >> shift) * apart
            if peek(segment, w.SPACE) == w.LOCAL:
                if _are_unset(checker, cells, stride, n):
                    record_all(checker, location, me, apart, n, at, leap, size, kind)
            elif step == 0 and kind == w.LOAD:
                # Of threads that all read one element, the first and the last represent the others.
                run(checker, segment, at, 0, size, cells, 0, location, me, 0, 1, kind)
                if n > 1:
                    run(checker, segment, at, 0, size, cells, 0, location, far, 0, 1, kind)
            else:
                run(checker, segment, at, leap, size, cells, stride, location, me, apart, n, kind)
        k = masks.begin(mask, far + 1 - thread, count)


@compiled
def _are_unset(checker, cells, stride, count):  # type: ignore[no-untyped-def]
    """Tell whether an element of threads' own arrays was not written in this block.

    No other thread can reach them, and once they are written they stay so.
    """
    first = begun(checker) << w.EPOCH
    unset = 0
    for k in range(count):
        unset += int(peek(cells + k * stride, 0) < first)
    return unset != 0
