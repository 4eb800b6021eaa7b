"""Rows of threads that access equally spaced elements: shadow memory, many cells at once.

Plain accesses (no recent access by another thread) are decided and recorded here, in loops without
branches over two arrays of words, which the compiler vectorizes. All others go
to `shadow.access`, thread by thread.
"""

from __future__ import annotations

from gpukit.checked.engine import fences
from gpukit.checked.engine.epochs import begun, since
from gpukit.checked.engine.shadow import find_segment, record
from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled, inlined
from gpukit.compiler.runtime.raw import ALL_SET, first_set, invoke, peek, peek8, poke


@compiled
def _run_begin(mask, k, count):  # type: ignore[no-untyped-def]
    """Return the first thread from k on that is in a mask, `count` if there is none."""
    return k if mask == 0 else first_set(mask, k, count)


@compiled
def _run_end(mask, k, count):  # type: ignore[no-untyped-def]
    """Return the first thread from k on that is not in a mask, `count` if there is none."""
    if mask == 0:
        return count
    while k < count and peek8(mask, k) != 0:
        while k + 8 <= count and peek(mask + k, 0) == ALL_SET:
            k += 8
        if k < count and peek8(mask, k) != 0:
            k += 1
    return k


_EVERY_SECOND = 0x0001000100010001
_EVERY_FOURTH = 0x0000000100000001


@compiled
def _apart(mask, k, count):  # type: ignore[no-untyped-def]
    """Return how far the next thread in a mask is from thread k, which is in it; 1 for the last."""
    following = _run_begin(mask, k + 1, count)
    return following - k if following < count else 1


@compiled
def _run_length(mask, k, count, apart):  # type: ignore[no-untyped-def]
    """Return how many threads of a mask follow thread k at equal distances, itself included."""
    if apart == 1:
        return _run_end(mask, k, count) - k
    n, last = 1, k
    if apart == 2 or apart == 4 or apart == 8:  # eight flags at a time
        pattern, each = 1, 1
        if apart < 8:
            pattern, each = (_EVERY_SECOND, 4) if apart == 2 else (_EVERY_FOURTH, 2)
        while last + 8 <= count and peek(mask + last, 0) == pattern:
            n, last = n + each, last + 8
        if n > 1:  # what was counted ends before `last`
            n, last = n - 1, last - apart
    while last + apart < count and _run_begin(mask, last + 1, count) == last + apart:
        n, last = n + 1, last + apart
    return n


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
    k = _run_begin(mask, 0, count)
    while k < count:
        apart = _apart(mask, k, count)
        n = _run_length(mask, k, count, apart)
        if not _all_free(
            cells + k * stride, stride * apart, n, low, block, barrier, thread + k, apart
        ):
            return 0
        k = _run_begin(mask, k + (n - 1) * apart + 1, count)
    return 1


@compiled
def _all_free(cells, stride, count, low, block, barrier, thread, next_thread):  # type: ignore[no-untyped-def]
    """Tell whether all elements were last written before this interval, or by their own thread.

    Words are compared as a whole: the epoch is in their upper half.
    """
    low, block, barrier = low << w.EPOCH, block << w.EPOCH, barrier << w.EPOCH
    bad = 0
    if stride == 8:
        for k in range(count):
            me = thread + k * next_thread
            bad |= _written_by_others(peek(cells, k), low, block, barrier, me)
    else:
        for k in range(count):
            word, me = peek(cells + k * stride, 0), thread + k * next_thread
            bad |= _written_by_others(word, low, block, barrier, me)
    return bad == 0


@compiled
def _written_by_others(word, low, block, barrier, thread):  # type: ignore[no-untyped-def]
    """Return 1 where a write is not in order with one of a thread, by its word alone."""
    mine = ((word >> w.WRITE_THREAD) & w.THREAD_MASK == thread) & (word & _SHARED_FLAGS == 0)
    within = (word >= block) & ((word < barrier) & (word & _OTHER_BLOCKS == 0) | mine)
    return 1 - int((word < low) | within)


_OTHER_BLOCKS = w.ELSEWHERE | w.LOCKED
_SHARED_FLAGS = w.SEVERAL | w.LOCKED_HERE | _OTHER_BLOCKS


@inlined
def row(checker, location, thread, count, address, step, size, mask, kind):  # type: ignore[no-untyped-def]
    """Check the accesses of a row of threads to equally spaced elements."""
    if count <= 0:
        return
    poke(checker, w.LAST_LOCATION, location)
    segment = find_segment(checker, address)
    aligned = (address | step) & (min(size & -size, 16) - 1) == 0
    if kind == w.LOAD and segment and aligned and peek(segment, w.CONSTANT):
        begin = _run_begin(mask, 0, count)
        while begin < count:
            end = _run_end(mask, begin, count)
            touch(checker, thread + begin, end - begin)
            begin = _run_begin(mask, end, count)
        return
    shift = peek(segment, w.SHIFT) if segment else 0
    odd = segment == 0 or size != 1 << shift or (address | step) & (min(size, 16) - 1)
    slow = odd or peek(checker, w.WHOLE)
    k = _run_begin(mask, 0, count)
    while k < count:
        apart = _apart(mask, k, count)
        n = _run_length(mask, k, count, apart)
        far = thread + k + (n - 1) * apart
        touch(checker, thread + k, (n - 1) * apart + 1)
        at = address + k * step
        if slow:
            for j in range(n):
                me = thread + k + j * apart
                record(checker, location, me, at + j * apart * step, size, min(kind, w.STORE))
        else:
            cells = peek(segment, w.CELLS) + 8 * ((at - peek(segment, w.BEGIN)) >> shift)
            if peek(segment, w.SPACE) == w.LOCAL:
                _own(
                    checker,
                    location,
                    thread + k,
                    apart,
                    n,
                    at,
                    step * apart,
                    size,
                    cells,
                    8 * (step >> shift) * apart,
                    kind,
                )
            elif step == 0 and kind == w.LOAD:
                # Of threads that all read one element, the first and the last represent the others.
                run(checker, segment, at, 0, size, cells, 0, location, thread + k, 0, 1, kind)
                if n > 1:
                    run(checker, segment, at, 0, size, cells, 0, location, far, 0, 1, kind)
            else:
                run(
                    checker,
                    segment,
                    at,
                    step * apart,
                    size,
                    cells,
                    8 * (step >> shift) * apart,
                    location,
                    thread + k,
                    apart,
                    n,
                    kind,
                )
        k = _run_begin(mask, far + 1 - thread, count)


@compiled
def _own(checker, location, thread, next_thread, count, address, step, size, cells, stride, kind):  # type: ignore[no-untyped-def]
    """Check accesses of threads to arrays of their own, which no other thread can reach.

    Only whether an element was written in this block matters, and that does not change back.
    """
    first = begun(checker) << w.EPOCH
    unset = 0
    for k in range(count):
        unset += int(peek(cells + k * stride, 0) < first)
    if unset == 0:
        return
    for k in range(count):
        record(
            checker,
            location,
            thread + k * next_thread,
            address + k * step,
            size,
            min(kind, w.STORE),
        )


@compiled
def run(  # type: ignore[no-untyped-def]
    checker, segment, address, step, size, cells, stride, location, thread, next_thread, count, kind
):
    """Check accesses to equally spaced elements (`check_run`)."""
    function = peek(checker, w.FUNCTIONS + w.RUN)
    given = (
        checker,
        segment,
        address,
        step,
        size,
        cells,
        stride,
        location,
        thread,
        next_thread,
        count,
        kind,
    )
    invoke(function, given)


@inlined
def check_run(  # type: ignore[no-untyped-def]
    checker, segment, address, step, size, cells, stride, location, thread, next_thread, count, kind
):
    """Check accesses to equally spaced elements, by threads that are `next_thread` apart."""
    space = peek(segment, w.SPACE)
    low, block, barrier = since(checker, space), peek(checker, w.BLOCK), peek(checker, w.BARRIER)
    recent = max(barrier, peek(checker, w.LAST_SYNCWARP))
    epoch, gap = peek(checker, w.NOW), peek(segment, w.GAP)
    if kind == w.LOAD:
        if space == w.GLOBAL:
            fences.note_read(checker)
        # Memory of the host had values before the launch; shared memory had none.
        known = low if space == w.GLOBAL else 0
        state = 1
        if peek(cells + gap, 0) >= recent << w.EPOCH:  # the first was read in this interval
            state = _load_state(
                cells, gap, stride, count, known, block, barrier, recent, thread, next_thread
            )
        if state == 1:
            state = _note_loads(
                cells,
                gap,
                stride,
                count,
                epoch,
                low,
                known,
                block,
                barrier,
                recent,
                location,
                thread,
                next_thread,
            )
    elif kind == w.CLAIM and count > 1:
        poke(checker, w.WRITES, peek(checker, w.WRITES) + 1)
        state = _claim(
            cells, gap, stride, count, epoch, low, block, barrier, location, thread, next_thread
        )
    else:
        poke(checker, w.WRITES, peek(checker, w.WRITES) + 1)
        state = _store_state(cells, gap, stride, count, low, block, barrier, thread, next_thread)
        if state == 0:
            _put_writes(cells, stride, count, epoch, location, thread, next_thread)
    if state:
        kind = min(kind, w.STORE)
        for k in range(count):
            record(checker, location, thread + k * next_thread, address + k * step, size, kind)


@compiled
def _load_state(  # type: ignore[no-untyped-def]
    cells, gap, stride, count, known, block, barrier, recent, thread, next_thread
):
    """Return 0 if reads of some elements add nothing, 1 if they add only readers, else more."""
    known, block = known << w.EPOCH, block << w.EPOCH
    barrier, recent = barrier << w.EPOCH, recent << w.EPOCH
    state = 0
    if stride == 8:
        for k in range(count):
            state |= _one_load(
                peek(cells, k),
                peek(cells + gap, k),
                known,
                block,
                barrier,
                recent,
                thread + k * next_thread,
            )
    else:
        for k in range(count):
            at = cells + k * stride
            state |= _one_load(
                peek(at, 0),
                peek(at + gap, 0),
                known,
                block,
                barrier,
                recent,
                thread + k * next_thread,
            )
    return state


@compiled
def _one_load(word, seen, known, block, barrier, recent, thread):  # type: ignore[no-untyped-def]
    """Return what `_load_state` says of one element, without a branch."""
    mine = (word >> w.WRITE_THREAD) & w.THREAD_MASK == thread
    # Of a word from before the launch only whether the element was ever written matters.
    old = (word < known) & (word & w.UNINITIALISED == 0)
    fine = old | ((word >= block) & ((word < barrier) | mine) & (word & NOT_PLAIN == 0))
    first = (seen >> w.READ_FIRST) & w.THREAD_MASK
    other = (seen >> w.READ_OTHER) & w.THREAD_MASK
    many = first >> 5 != other >> 5
    noted = (seen >= recent) & (many | _speaks_for(first, other, thread))
    # Reads in this interval, but before a syncwarp, need the full check.
    unclear = (seen >= barrier) & (seen < recent)
    return (1 - int(noted)) | 2 * (1 - int(fine & (not unclear)))


@compiled
def _speaks_for(first, other, thread):  # type: ignore[no-untyped-def]
    """Tell whether a reader need not be recorded beside two of one warp, or twice one."""
    return (first >> 5 == thread >> 5) & ((first == thread) | (first != other))


NOT_PLAIN = w.UNINITIALISED | w.SEVERAL | w.ELSEWHERE | w.LOCKED | w.LOCKED_HERE


@compiled
def _note_loads(  # type: ignore[no-untyped-def]
    cells,
    gap,
    stride,
    count,
    epoch,
    low,
    known,
    block,
    barrier,
    recent,
    location,
    thread,
    next_thread,
):
    """Record the readers of some elements; return 0 unless some need the full check."""
    fresh = epoch << w.EPOCH | location << w.READ_LOCATION
    low, known, block = low << w.EPOCH, known << w.EPOCH, block << w.EPOCH
    barrier, recent = barrier << w.EPOCH, recent << w.EPOCH
    state = 0
    if stride == 8:
        for k in range(count):
            word, seen, me = peek(cells, k), peek(cells + gap, k), thread + k * next_thread
            state |= _one_load(word, seen, known, block, barrier, recent, me)
            poke(cells + gap, k, _with_reader(seen, fresh, low, block, barrier, recent, me))
    else:
        for k in range(count):
            at, me = cells + k * stride, thread + k * next_thread
            word, seen = peek(at, 0), peek(at + gap, 0)
            state |= _one_load(word, seen, known, block, barrier, recent, me)
            poke(at + gap, 0, _with_reader(seen, fresh, low, block, barrier, recent, me))
    return state & 2


@compiled
def _with_reader(seen, fresh, low, block, barrier, recent, me):  # type: ignore[no-untyped-def]
    """Return the word of an element's reads with one more reader, without a branch."""
    flag = (seen & w.READ_ELSEWHERE | int(seen < block)) if seen >= low else 0
    alone = fresh | me << w.READ_FIRST | me << w.READ_OTHER | flag
    second = seen & ~(w.THREAD_MASK << w.READ_OTHER) | me << w.READ_OTHER
    first, other = (seen >> w.READ_FIRST) & w.THREAD_MASK, (seen >> w.READ_OTHER) & w.THREAD_MASK
    full = (first >> 5 != other >> 5) | _speaks_for(first, other, me)
    # Reads in this interval, but before a syncwarp, are left to the full check.
    kept = seen if full or seen < recent else second
    return kept if seen >= barrier else alone


@compiled
def _store_state(  # type: ignore[no-untyped-def]
    cells, gap, stride, count, low, block, barrier, thread, next_thread
):
    """Return 0 if writes to some elements are in order as far as a quick test shows."""
    low, block, barrier = low << w.EPOCH, block << w.EPOCH, barrier << w.EPOCH
    bad = 0
    if stride == 8:
        for k in range(count):
            word, seen = peek(cells, k), peek(cells + gap, k)
            bad |= _one_store(word, seen, low, block, barrier, thread + k * next_thread)
    else:
        for k in range(count):
            at = cells + k * stride
            me = thread + k * next_thread
            bad |= _one_store(peek(at, 0), peek(at + gap, 0), low, block, barrier, me)
    return bad


@compiled
def _one_store(word, seen, low, block, barrier, thread):  # type: ignore[no-untyped-def]
    """Return 1 unless others last wrote and read an element before this interval."""
    mine = (word >> w.WRITE_THREAD) & w.THREAD_MASK == thread
    free = (word >= block) & ((word < barrier) | mine) & (word & _SHARED_FLAGS == 0)
    return 1 - int(((word < low) | free) & _unread(seen, low, block, barrier, thread))


@compiled
def _claim(  # type: ignore[no-untyped-def]
    cells, gap, stride, count, epoch, low, block, barrier, location, thread, next_thread
):
    """Record writers where `row_free` has seen that no write conflicts.

    Return 0 unless other threads have read some elements since: those need the full check.
    """
    low, block, barrier = low << w.EPOCH, block << w.EPOCH, barrier << w.EPOCH
    fresh = epoch << w.EPOCH | location << w.WRITE_LOCATION
    bad = 0
    if stride == 8:
        for k in range(count):
            me = thread + k * next_thread
            bad |= 1 - int(_unread(peek(cells + gap, k), low, block, barrier, me))
            poke(cells, k, fresh | me << w.WRITE_THREAD)
    else:
        for k in range(count):
            at, me = cells + k * stride, thread + k * next_thread
            bad |= 1 - int(_unread(peek(at + gap, 0), low, block, barrier, me))
            poke(at, 0, fresh | me << w.WRITE_THREAD)
    return bad


@compiled
def _unread(seen, low, block, barrier, thread):  # type: ignore[no-untyped-def]
    """Tell whether only a thread itself has read an element in this interval, by its word."""
    both = thread << w.READ_FIRST | thread << w.READ_OTHER
    own = (seen & (w.THREAD_MASK << w.READ_FIRST | w.THREAD_MASK << w.READ_OTHER)) == both
    here = (seen >= block) & ((seen < barrier) | own) & (seen & w.READ_ELSEWHERE == 0)
    return (seen < low) | here


@compiled
def _put_writes(cells, stride, count, epoch, location, thread, next_thread):  # type: ignore[no-untyped-def]
    word = epoch << w.EPOCH | location << w.WRITE_LOCATION
    if stride == 8:
        for k in range(count):
            poke(cells, k, word | (thread + k * next_thread) << w.WRITE_THREAD)
    else:
        for k in range(count):
            poke(cells + k * stride, 0, word | (thread + k * next_thread) << w.WRITE_THREAD)
