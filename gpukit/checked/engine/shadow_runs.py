"""Runs of threads that access equally spaced elements: shadow memory, many cells at once.

Plain accesses (no recent access by another thread) are decided and recorded here, in loops without
branches over two arrays of words, which the compiler vectorizes. All others go
to `shadow.access`, thread by thread. The threads of a run are `apart` from each other.
"""

from __future__ import annotations

from gpukit.checked.engine import fences
from gpukit.checked.engine.epochs import since
from gpukit.checked.engine.shadow import record
from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled, inlined
from gpukit.compiler.runtime.raw import invoke, peek, poke

OTHER_BLOCKS = w.ELSEWHERE | w.LOCKED
SHARED_FLAGS = w.SEVERAL | w.LOCKED_HERE | OTHER_BLOCKS
NOT_PLAIN = w.UNINITIALISED | SHARED_FLAGS


@compiled
def run(checker, segment, at, step, size, cells, stride, location, thread, apart, n, kind):  # type: ignore[no-untyped-def]
    """Check accesses to equally spaced elements (`check_run`)."""
    function = peek(checker, w.FUNCTIONS + w.RUN)
    given = (checker, segment, at, step, size, cells, stride, location, thread, apart, n, kind)
    invoke(function, given)


@inlined
def check_run(  # type: ignore[no-untyped-def]
    checker, segment, address, step, size, cells, stride, location, thread, apart, count, kind
):
    """Check accesses to equally spaced elements, and record them."""
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
                cells, gap, stride, count, known, block, barrier, recent, thread, apart
            )
        if state == 1:
            fresh = epoch << w.EPOCH | location << w.READ_LOCATION
            state = _note_loads(
                cells, gap, stride, count, fresh, low, known, block, barrier, recent, thread, apart
            )
    elif kind == w.CLAIM and count > 1:
        poke(checker, w.WRITES, peek(checker, w.WRITES) + 1)
        fresh = epoch << w.EPOCH | location << w.WRITE_LOCATION
        state = _claim(cells, gap, stride, count, fresh, low, block, barrier, thread, apart)
    else:
        poke(checker, w.WRITES, peek(checker, w.WRITES) + 1)
        state = _store_state(cells, gap, stride, count, low, block, barrier, thread, apart)
        if state == 0:
            fresh = epoch << w.EPOCH | location << w.WRITE_LOCATION
            _put_writes(cells, stride, count, fresh, thread, apart)
    if state:
        record_all(checker, location, thread, apart, count, address, step, size, kind)


@compiled
def record_all(checker, location, thread, apart, count, address, step, size, kind):  # type: ignore[no-untyped-def]
    """Check accesses of threads that are `apart` thread by thread (`shadow.access`)."""
    kind = min(kind, w.STORE)
    for k in range(count):
        record(checker, location, thread + k * apart, address + k * step, size, kind)


@compiled
def _load_state(cells, gap, stride, count, known, block, barrier, recent, thread, apart):  # type: ignore[no-untyped-def]
    """Return 0 if reads of some elements add nothing, 1 if they add only readers, else more."""
    known, block = known << w.EPOCH, block << w.EPOCH
    barrier, recent = barrier << w.EPOCH, recent << w.EPOCH
    state = 0
    if stride == 8:
        for k in range(count):
            word, seen, me = peek(cells, k), peek(cells + gap, k), thread + k * apart
            state |= _one_load(word, seen, known, block, barrier, recent, me)
    else:
        for k in range(count):
            at, me = cells + k * stride, thread + k * apart
            state |= _one_load(peek(at, 0), peek(at + gap, 0), known, block, barrier, recent, me)
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


@compiled
def _note_loads(  # type: ignore[no-untyped-def]
    cells, gap, stride, count, fresh, low, known, block, barrier, recent, thread, apart
):
    """Record the readers of some elements; return 0 unless some need the full check."""
    low, known, block = low << w.EPOCH, known << w.EPOCH, block << w.EPOCH
    barrier, recent = barrier << w.EPOCH, recent << w.EPOCH
    state = 0
    if stride == 8:
        for k in range(count):
            word, seen, me = peek(cells, k), peek(cells + gap, k), thread + k * apart
            state |= _one_load(word, seen, known, block, barrier, recent, me)
            poke(cells + gap, k, _with_reader(seen, fresh, low, block, barrier, recent, me))
    else:
        for k in range(count):
            at, me = cells + k * stride, thread + k * apart
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
def _store_state(cells, gap, stride, count, low, block, barrier, thread, apart):  # type: ignore[no-untyped-def]
    """Return 0 if writes to some elements are in order as far as a quick test shows."""
    low, block, barrier = low << w.EPOCH, block << w.EPOCH, barrier << w.EPOCH
    bad = 0
    if stride == 8:
        for k in range(count):
            word, seen = peek(cells, k), peek(cells + gap, k)
            bad |= _one_store(word, seen, low, block, barrier, thread + k * apart)
    else:
        for k in range(count):
            at = cells + k * stride
            me = thread + k * apart
            bad |= _one_store(peek(at, 0), peek(at + gap, 0), low, block, barrier, me)
    return bad


@compiled
def _one_store(word, seen, low, block, barrier, thread):  # type: ignore[no-untyped-def]
    """Return 1 unless others last wrote and read an element before this interval."""
    mine = (word >> w.WRITE_THREAD) & w.THREAD_MASK == thread
    free = (word >= block) & ((word < barrier) | mine) & (word & SHARED_FLAGS == 0)
    return 1 - int(((word < low) | free) & _unread(seen, low, block, barrier, thread))


@compiled
def _claim(cells, gap, stride, count, fresh, low, block, barrier, thread, apart):  # type: ignore[no-untyped-def]
    """Record writers where `row_free` has seen that no write conflicts.

    Return 0 unless other threads have read some elements since: those need the full check.
    """
    low, block, barrier = low << w.EPOCH, block << w.EPOCH, barrier << w.EPOCH
    bad = 0
    if stride == 8:
        for k in range(count):
            me = thread + k * apart
            bad |= 1 - int(_unread(peek(cells + gap, k), low, block, barrier, me))
            poke(cells, k, fresh | me << w.WRITE_THREAD)
    else:
        for k in range(count):
            at, me = cells + k * stride, thread + k * apart
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
def _put_writes(cells, stride, count, fresh, thread, apart):  # type: ignore[no-untyped-def]
    if stride == 8:
        for k in range(count):
            poke(cells, k, fresh | (thread + k * apart) << w.WRITE_THREAD)
    else:
        for k in range(count):
            poke(cells + k * stride, 0, fresh | (thread + k * apart) << w.WRITE_THREAD)
