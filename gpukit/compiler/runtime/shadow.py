"""Finding races and reads of what nobody wrote, in shadow memory (`compiler/watch.py`).

Every element has a cell of two words: who wrote it last, and who has read it since. An access
is compared with both. It is in order if the earlier one was the same thread's, or of the same
block before its last barrier, or before the launch; otherwise it is a finding.
"""

from __future__ import annotations

from numba import njit

from gpukit.compiler import watch as w
from gpukit.compiler.runtime.raw import invoke, peek, peek8, poke

_njit = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)

# How an earlier access stands to one of the running block.
_BEFORE, _ORDERED, _SAME_EPOCH, _OTHER_BLOCK = range(4)


@_njit
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


@_njit
def since(watch, space):  # type: ignore[no-untyped-def]
    """Return the stamp before which nothing counts: a block's shared memory begins with it."""
    if space == w.GLOBAL or peek(watch, w.WHOLE):
        return peek(watch, w.LAUNCH)
    return peek(watch, w.BLOCK)


@_njit
def now(watch):  # type: ignore[no-untyped-def]
    """Return the stamp of what the running block does now."""
    if peek(watch, w.WHOLE):
        return peek(watch, w.NOW) + peek(watch, w.BLOCK_NUMBER)
    return peek(watch, w.NOW)


@_njit
def find_region(watch, address):  # type: ignore[no-untyped-def]
    """Return the address of the row of the region that holds an address, or 0."""
    row = peek(watch, w.REGION_TABLE)
    for _ in range(peek(watch, w.REGIONS)):
        if peek(row, w.BEGIN) <= address < peek(row, w.END):
            return row
        row += 8 * w.REGION_WORDS
    return 0


@_njit
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


@_njit
def note(  # type: ignore[no-untyped-def]
    watch, what, site, other_site, region, thread, other_thread, other_block, address, size, hazard,
    a, b,
):  # fmt: skip
    """Report a finding (`put_note`); return its row or 0."""
    function = peek(watch, w.FUNCTIONS + w.NOTE)
    given = (watch, what, site, other_site, region, thread, other_thread, other_block, address,
             size | hazard << 32, a, b)  # fmt: skip
    return invoke(function, given)


@_njit
def tell(watch, site, thread, address, size, kind):  # type: ignore[no-untyped-def]
    """Let one access be looked at closely (`access`)."""
    invoke(peek(watch, w.FUNCTIONS + w.ACCESS), (watch, site, thread, address, size, kind, 0))


@_njit
def put_note(  # type: ignore[no-untyped-def]
    watch, what, site, other_site, region, thread, other_thread, other_block, address, size, hazard,
    a, b,
):  # fmt: skip
    """Put a finding into the table, or count it if its lines are there; return its row or 0."""
    table, count = peek(watch, w.FINDINGS), peek(watch, w.FOUND)
    number = peek(region, w.NUMBER) if region else -1
    row = table
    for _ in range(count):
        if (
            peek(row, w.F_WHAT) == what and peek(row, w.F_SITE) == site
            and peek(row, w.F_OTHER_SITE) == other_site and peek(row, w.F_REGION) == number
        ):  # fmt: skip
            poke(row, w.F_COUNT, peek(row, w.F_COUNT) + 1)
            return 0
        row += 8 * w.FINDING_WORDS
    if count >= w.MAX_FINDINGS:
        poke(watch, w.LOST, peek(watch, w.LOST) + 1)
        return 0
    poke(watch, w.FOUND, count + 1)
    poke(row, w.F_WHAT, what)
    poke(row, w.F_SITE, site)
    poke(row, w.F_OTHER_SITE, other_site)
    poke(row, w.F_REGION, number)
    poke(row, w.F_COUNT, 1)
    poke(row, w.F_BLOCK, peek(watch, w.BLOCK_NUMBER))
    poke(row, w.F_THREAD, thread)
    poke(row, w.F_OTHER_BLOCK, other_block)
    poke(row, w.F_OTHER_THREAD, other_thread)
    poke(row, w.F_ADDRESS, address)
    poke(row, w.F_SIZE, size)
    poke(row, w.F_HAZARD, hazard)
    poke(row, w.F_A, a)
    poke(row, w.F_B, b)
    poke(row, w.F_NDIM, 0)
    return row


@_njit
def _same(address, value, size):  # type: ignore[no-untyped-def]
    """Tell whether the bytes at two addresses are the same; 0 stands for an unknown value."""
    if value == 0:
        return False
    same = True
    for k in range(size):
        same &= peek8(address, k) == peek8(value, k)
    return same


@_njit
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


@_njit
def _clash(  # type: ignore[no-untyped-def]
    watch, region, address, size, site, thread, stamp, flags, other, other_site, hazard, atomic,
    value,
):  # fmt: skip
    """Report an access that clashes with an earlier one, unless something orders the two."""
    elsewhere = relation(watch, stamp, peek(region, w.SPACE)) == _OTHER_BLOCK
    if elsewhere and _fenced(watch, stamp):
        return
    what = w.ATOMIC_RACE if atomic else w.RACE
    other_block = peek(watch, w.BLOCK_NUMBER)
    if flags & w.ELSEWHERE and not elsewhere:
        other_block, other = w.NOBODY, w.NOBODY  # another block's access, since overwritten
    elif elsewhere:
        other_block = block_of(watch, stamp)
    elif other >> 5 == thread >> 5:
        if stamp < peek(watch, w.WARPS + (thread >> 5)):
            return
        what = w.WARP_RACE
    if hazard == w.WRITE_WRITE and not atomic and _same(address, value, size):
        what = w.SAME_VALUE
    note(watch, what, site, other_site, region, thread, other, other_block, address, size,
         hazard, 0, 0)  # fmt: skip


@_njit
def _against_write(watch, region, space, address, size, cell, site, thread, kind, value):  # type: ignore[no-untyped-def]
    """Compare an access with the last write of its element."""
    word = peek(cell, 0)
    stamp = word >> w.STAMP
    how = relation(watch, stamp, space)
    if how == _BEFORE:
        return
    is_atomic = word & w.ATOMIC != 0
    if kind == w.UPDATE and is_atomic:
        if not word & w.PLAIN or how != _OTHER_BLOCK:
            return
        is_atomic = False
    writer = (word >> w.WRITE_THREAD) & w.THREAD_MASK
    several = word & w.SEVERAL != 0
    elsewhere = word & w.ELSEWHERE != 0
    if how == _ORDERED and not elsewhere:
        return
    if how == _SAME_EPOCH and not elsewhere:
        if writer == thread:
            if not several:
                return
            writer = w.NOBODY << 5  # some other thread's atomic before; not in this warp
    other_site = (word >> w.WRITE_SITE) & w.SITE_MASK
    hazard = w.WRITE_READ if kind == w.LOAD else w.WRITE_WRITE
    _clash(watch, region, address, size, site, thread, stamp, word & w.ELSEWHERE, writer,
           other_site, hazard, is_atomic != (kind == w.UPDATE), value)  # fmt: skip


@_njit
def _against_reads(watch, region, space, address, size, cell, site, thread, kind):  # type: ignore[no-untyped-def]
    """Compare a write with the reads of its element since the last write."""
    word = peek(cell, 1)
    stamp = word >> w.STAMP
    how = relation(watch, stamp, space)
    if how == _BEFORE:
        return
    elsewhere = word & w.READ_ELSEWHERE
    if how == _ORDERED and not elsewhere:
        return
    other = (word >> w.READ_FIRST) & w.THREAD_MASK
    second = (word >> w.READ_OTHER) & w.THREAD_MASK
    if how == _SAME_EPOCH and not elsewhere:
        settled = other >> 5 == thread >> 5 and stamp < peek(watch, w.WARPS + (thread >> 5))
        if other == thread or (settled and second >> 5 != thread >> 5):
            other = second
        if other == thread:
            return
    other_site = (word >> w.READ_SITE) & w.SITE_MASK
    flags = w.ELSEWHERE if elsewhere else 0
    _clash(watch, region, address, size, site, thread, stamp, flags, other, other_site,
           w.READ_WRITE, kind == w.UPDATE, 0)  # fmt: skip


@_njit
def _read(watch, space, cell, site, thread):  # type: ignore[no-untyped-def]
    """Note in a cell that a thread has read it."""
    word = peek(cell, 1)
    stamp = word >> w.STAMP
    how = relation(watch, stamp, space)
    if how == _SAME_EPOCH and stamp >= peek(watch, w.WARPS + (thread >> 5)):
        first = (word >> w.READ_FIRST) & w.THREAD_MASK
        if first != thread:
            word &= ~(w.THREAD_MASK << w.READ_OTHER)
            poke(cell, 1, word | thread << w.READ_OTHER)
        return
    flag = word & w.READ_ELSEWHERE if how != _BEFORE else 0
    if how == _OTHER_BLOCK:
        flag = w.READ_ELSEWHERE
    fresh = now(watch) << w.STAMP | thread << w.READ_FIRST | thread << w.READ_OTHER
    poke(cell, 1, fresh | site << w.READ_SITE | flag)


@_njit
def _write(watch, space, cell, site, thread, atomic):  # type: ignore[no-untyped-def]
    """Note in a cell that a thread has written it."""
    flags = 0
    if atomic:
        word = peek(cell, 0)
        how = relation(watch, word >> w.STAMP, space)
        flags = w.ATOMIC
        writer = (word >> w.WRITE_THREAD) & w.THREAD_MASK
        if how == _SAME_EPOCH and not word & w.ATOMIC:
            return  # the plain write is what other threads' atomics clash with
        if how != _BEFORE and (word & w.PLAIN or not word & w.ATOMIC):
            flags |= w.PLAIN
        if how == _SAME_EPOCH and (word & w.SEVERAL or writer != thread):
            flags |= w.SEVERAL
        if how == _OTHER_BLOCK or (how != _BEFORE and word & w.ELSEWHERE):
            flags |= w.ELSEWHERE
    fresh = now(watch) << w.STAMP | thread << w.WRITE_THREAD | site << w.WRITE_SITE
    poke(cell, 0, fresh | flags)


@_njit
def _unset(watch, region, space, word):  # type: ignore[no-untyped-def]
    """Tell whether a read element was never written."""
    if space == w.GLOBAL:
        return word & w.UNINITIALISED != 0
    return relation(watch, word >> w.STAMP, space) in (_BEFORE, _OTHER_BLOCK)


@_njit
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
            _read(watch, space, cell, site, thread)
    else:
        _write(watch, space, cell, site, thread, kind == w.UPDATE)


@_njit
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
    for k in range(first, last + 1):
        see_cell(watch, region, space, address, size, cells + 16 * k, site, thread, kind, value)
    if kind == w.UPDATE:
        _synchronise(watch, address)


@_njit
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


@_njit
def _mask_at(mask, k):  # type: ignore[no-untyped-def]
    return mask == 0 or peek8(mask, k) != 0


@_njit
def _run_begin(mask, k, count):  # type: ignore[no-untyped-def]
    """Return the first thread from k on that is in a mask, `count` if there is none."""
    if mask == 0:
        return k
    while k < count and peek8(mask, k) == 0:
        while k + 8 <= count and peek(mask + k, 0) == 0:
            k += 8
        if k < count and peek8(mask, k) == 0:
            k += 1
    return k


@_njit
def _run_end(mask, k, count):  # type: ignore[no-untyped-def]
    """Return the first thread from k on that is not in a mask, `count` if there is none."""
    if mask == 0:
        return count
    while k < count and peek8(mask, k) != 0:
        while k + 8 <= count and peek(mask + k, 0) == _ALL_SET:
            k += 8
        if k < count and peek8(mask, k) != 0:
            k += 1
    return k


_ALL_SET = 0x0101010101010101


@_njit
def _touch(watch, thread, count):  # type: ignore[no-untyped-def]
    """Note that a run of threads has touched memory."""
    warps = ((thread + count - 1) >> 5) - (thread >> 5) + 1
    poke(watch, w.TOUCHED, peek(watch, w.TOUCHED) | ((1 << warps) - 1) << (thread >> 5))


@_njit
def row_free(watch, site, thread, count, address, step, size, mask):  # type: ignore[no-untyped-def]
    """Tell whether the threads of a row may write without a look at what they write.

    They may not where two of them write one element, or where an element was written since the
    last barrier by others: then the values decide how bad it is.
    """
    if count <= 0:
        return 1
    region = find_region(watch, address)
    if region == 0:
        return 0
    shift, space = peek(region, w.SHIFT), peek(region, w.SPACE)
    if size > abs(step) or size != 1 << shift or space == w.LOCAL or peek(watch, w.WHOLE):
        return 1 if count == 1 and size == 1 << shift else 0
    if (address | step) & (min(size, 16) - 1):
        return 0
    cells = peek(region, w.CELLS) + 16 * ((address - peek(region, w.BEGIN)) >> shift)
    stride = 16 * (step >> shift)
    low, block, epoch = since(watch, space), peek(watch, w.BLOCK), peek(watch, w.EPOCH)
    k = _run_begin(mask, 0, count)
    while k < count:
        end = _run_end(mask, k, count)
        if not _all_free(cells + k * stride, stride, end - k, low, block, epoch, thread + k):
            return 0
        k = _run_begin(mask, end, count)
    return 1


@_njit
def _all_free(cells, stride, count, low, block, epoch, thread):  # type: ignore[no-untyped-def]
    """Tell whether all elements were last written before this interval, or by their own thread."""
    bad = 0
    if stride == 16:
        for k in range(count):
            bad |= _written_by_others(peek(cells, 2 * k), low, block, epoch, thread + k)
    else:
        for k in range(count):
            bad |= _written_by_others(peek(cells + k * stride, 0), low, block, epoch, thread + k)
    return bad == 0


@_njit
def _written_by_others(word, low, block, epoch, thread):  # type: ignore[no-untyped-def]
    """Return 1 where a write is not in order with one of a thread, by its word alone."""
    stamp = word >> w.STAMP
    mine = ((word >> w.WRITE_THREAD) & w.THREAD_MASK == thread) & (word & _SHARED_FLAGS == 0)
    within = (stamp >= block) & ((stamp < epoch) & (word & w.ELSEWHERE == 0) | mine)
    return 1 - int((stamp < low) | within)


_SHARED_FLAGS = w.SEVERAL | w.ELSEWHERE


@_njit
def row(watch, site, thread, count, address, step, size, mask, kind):  # type: ignore[no-untyped-def]
    """Check the accesses of a row of threads to elements at equal distances."""
    if count <= 0:
        return
    region = find_region(watch, address)
    aligned = (address | step) & (min(size & -size, 16) - 1) == 0
    if kind == w.LOAD and region and aligned and peek(region, w.CONSTANT):
        _touch(watch, thread, count)  # some of them may be masked out; a warp is what counts
        return
    shift = peek(region, w.SHIFT) if region else 0
    odd = region == 0 or size != 1 << shift or (address | step) & (min(size, 16) - 1)
    slow = odd or peek(watch, w.WHOLE) or peek(region, w.SPACE) == w.LOCAL
    k = _run_begin(mask, 0, count)
    while k < count:
        end = _run_end(mask, k, count)
        _touch(watch, thread + k, end - k)
        at = address + k * step
        if slow:
            for j in range(end - k):
                tell(watch, site, thread + k + j, at + j * step, size, kind)
        else:
            cells = peek(region, w.CELLS) + 16 * ((at - peek(region, w.BEGIN)) >> shift)
            far, n = thread + end - 1, end - k
            if step == 0 and kind == w.LOAD:
                # Of threads that all read one element the first and the last speak for the others.
                _run(watch, region, at, 0, size, cells, 0, site, thread + k, 0, 1, kind)
                if n > 1:
                    _run(watch, region, at, 0, size, cells, 0, site, far, 0, 1, kind)
            else:
                _run(watch, region, at, step, size, cells, 16 * (step >> shift), site, thread + k,
                     1, n, kind)  # fmt: skip
        k = _run_begin(mask, end, count)


@_njit
def area(watch, site, thread, count, address, step, size, mask, rounds, leap):  # type: ignore[no-untyped-def]
    """Check the reads of a row of threads in all rounds of a loop; return 0 if they must be told.

    From thread to thread lie `step` bytes, from round to round `leap`.
    """
    if count <= 0 or rounds <= 0:
        return 1
    region = find_region(watch, address)
    if region == 0 or mask != 0 or peek(watch, w.WHOLE) or peek(region, w.SPACE) == w.LOCAL:
        return 0
    shift = peek(region, w.SHIFT)
    across, along = (count - 1) * step, (rounds - 1) * leap
    low = address + min(across, 0) + min(along, 0)
    high = address + max(across, 0) + max(along, 0) + size
    inside = peek(region, w.BEGIN) <= low and high <= peek(region, w.END)
    if not inside or size != 1 << shift or (address | step | leap) & (min(size, 16) - 1):
        return 0
    _touch(watch, thread, count)
    if peek(region, w.CONSTANT):
        return 1
    cells = peek(region, w.CELLS) + 16 * ((address - peek(region, w.BEGIN)) >> shift)
    stride, jump = 16 * (step >> shift), 16 * (leap >> shift)
    if step == 0:
        last = thread + count - 1
        _run(watch, region, address, leap, size, cells, jump, site, thread, 0, rounds, w.LOAD)
        if count > 1:
            _run(watch, region, address, leap, size, cells, jump, site, last, 0, rounds, w.LOAD)
        return 1
    for j in range(rounds if leap else 1):
        _run(watch, region, address + j * leap, step, size, cells + j * jump, stride, site, thread,
             1, count, w.LOAD)  # fmt: skip
    return 1


@_njit
def _run(  # type: ignore[no-untyped-def]
    watch, region, address, step, size, cells, stride, site, thread, next_thread, count, kind
):
    """Check accesses to elements at equal distances, by threads that are `next_thread` apart."""
    space = peek(region, w.SPACE)
    low, block, epoch = since(watch, space), peek(watch, w.BLOCK), peek(watch, w.EPOCH)
    recent = max(epoch, peek(watch, w.LAST_SYNCWARP))
    stamp = peek(watch, w.NOW)
    if kind == w.LOAD:
        # Memory of the host had values before the launch; shared memory had none.
        known = low if space == w.GLOBAL else 0
        state = _load_state(cells, stride, count, known, block, epoch, recent, thread, next_thread)
        if state == 0:
            return
        if state == 1:
            _put_reads(cells, stride, count, stamp, low, recent, site, thread, next_thread)
            return
    else:
        if _store_state(cells, stride, count, low, block, epoch, thread) == 0:
            _put_writes(cells, stride, count, stamp, site, thread)
            return
    for k in range(count):
        tell(watch, site, thread + k * next_thread, address + k * step, size, kind)


@_njit
def _load_state(  # type: ignore[no-untyped-def]
    cells, stride, count, known, block, epoch, recent, thread, next_thread
):
    """Return 0 if nothing is new about reads of some elements, 1 if only readers are, else 2.

    Words are compared as a whole: the stamp stands in their upper half.
    """
    known, block = known << w.STAMP, block << w.STAMP
    epoch, recent = epoch << w.STAMP, recent << w.STAMP
    state = 0
    if stride == 16:
        for k in range(count):
            state |= _one_load(peek(cells, 2 * k), peek(cells, 2 * k + 1), known, block, epoch,
                               recent, thread + k * next_thread)  # fmt: skip
    else:
        for k in range(count):
            at = cells + k * stride
            state |= _one_load(
                peek(at, 0), peek(at, 1), known, block, epoch, recent, thread + k * next_thread
            )
    return min(state, 2)


@_njit
def _one_load(word, seen, known, block, epoch, recent, thread):  # type: ignore[no-untyped-def]
    """Return what `_load_state` says of one element, without a branch."""
    mine = (word >> w.WRITE_THREAD) & w.THREAD_MASK == thread
    fine = ((word < known) | ((word >= block) & ((word < epoch) | mine))) & (word & _NOT_PLAIN == 0)
    first = (seen >> w.READ_FIRST) & w.THREAD_MASK
    other = (seen >> w.READ_OTHER) & w.THREAD_MASK
    noted = (seen >= recent) & ((first != other) | (first == thread))
    # Reads in this interval, but before a syncwarp, need a closer look.
    unclear = (seen >= epoch) & (seen < recent)
    return (1 - int(noted)) | 2 * (1 - int(fine & (not unclear)))


_NOT_PLAIN = w.UNINITIALISED | w.SEVERAL | w.ELSEWHERE


@_njit
def _put_reads(  # type: ignore[no-untyped-def]
    cells, stride, count, stamp, low, recent, site, thread, next_thread
):
    """Note readers where that is plain: nobody has read yet in this interval, or one thread."""
    block = stamp << w.STAMP | site << w.READ_SITE
    low, recent = low << w.STAMP, recent << w.STAMP
    for k in range(count):
        at = cells + k * stride
        seen = peek(at, 1)
        me = thread + k * next_thread
        flag = seen & w.READ_ELSEWHERE if seen >= low else 0
        fresh = block | me << w.READ_FIRST | me << w.READ_OTHER | flag
        second = seen & ~(w.THREAD_MASK << w.READ_OTHER) | me << w.READ_OTHER
        first = (seen >> w.READ_FIRST) & w.THREAD_MASK
        kept = seen if first == me or first != (seen >> w.READ_OTHER) & w.THREAD_MASK else second
        poke(at, 1, kept if seen >= recent else fresh)


@_njit
def _store_state(cells, stride, count, low, block, epoch, thread):  # type: ignore[no-untyped-def]
    """Return 0 if writing some elements is in order as far as is easy to tell."""
    low, block, epoch = low << w.STAMP, block << w.STAMP, epoch << w.STAMP
    bad = 0
    if stride == 16:
        for k in range(count):
            word, seen = peek(cells, 2 * k), peek(cells, 2 * k + 1)
            bad |= _one_store(word, seen, low, block, epoch, thread + k)
    else:
        for k in range(count):
            at = cells + k * stride
            bad |= _one_store(peek(at, 0), peek(at, 1), low, block, epoch, thread + k)
    return bad


@_njit
def _one_store(word, seen, low, block, epoch, thread):  # type: ignore[no-untyped-def]
    """Return 1 unless others last wrote and read an element before this interval."""
    mine = (word >> w.WRITE_THREAD) & w.THREAD_MASK == thread
    free = (word >= block) & ((word < epoch) | mine) & (word & _SHARED_FLAGS == 0)
    both = thread << w.READ_FIRST | thread << w.READ_OTHER
    own = (seen & (w.THREAD_MASK << w.READ_FIRST | w.THREAD_MASK << w.READ_OTHER)) == both
    unread = (seen >= block) & ((seen < epoch) | own) & (seen & w.READ_ELSEWHERE == 0)
    return 1 - int(((word < low) | free) & ((seen < low) | unread))


@_njit
def _put_writes(cells, stride, count, stamp, site, thread):  # type: ignore[no-untyped-def]
    word = stamp << w.STAMP | site << w.WRITE_SITE
    if stride == 16:
        for k in range(count):
            poke(cells, 2 * k, word | (thread + k) << w.WRITE_THREAD)
    else:
        for k in range(count):
            poke(cells + k * stride, 0, word | (thread + k) << w.WRITE_THREAD)


# ---- time -------------------------------------------------------------------------------------


@_njit
def _close_block(watch):  # type: ignore[no-untyped-def]
    """Count the block that ends here if none of its threads touched memory."""
    if peek(watch, w.BLOCKS_SEEN) and peek(watch, w.TOUCHED) == 0:
        if peek(watch, w.IDLE_BLOCKS) == 0:
            poke(watch, w.FIRST_IDLE, peek(watch, w.BLOCK_NUMBER))
        poke(watch, w.IDLE_BLOCKS, peek(watch, w.IDLE_BLOCKS) + 1)
    poke(watch, w.TOUCHED, 0)


@_njit
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
    poke(watch, w.FENCE_STAMP, 0)
    poke(watch, w.ACQUIRED, 0)
    table, seen = peek(watch, w.BLOCK_STAMPS), peek(watch, w.BLOCKS_SEEN)
    poke(table, 2 * seen, stamp)
    poke(table, 2 * seen + 1, block)
    poke(watch, w.BLOCKS_SEEN, seen + 1)


@_njit
def _advance(watch):  # type: ignore[no-untyped-def]
    stamp = peek(watch, w.NOW) + max(peek(watch, w.WHOLE), 1)
    poke(watch, w.NOW, stamp)
    return stamp


@_njit
def barrier(watch):  # type: ignore[no-untyped-def]
    """Pass a barrier of the block: what came before is in order with what follows."""
    poke(watch, w.EPOCH, _advance(watch))


@_njit
def grid_barrier(watch):  # type: ignore[no-untyped-def]
    """Pass a barrier of the whole grid."""
    stamp = _advance(watch)
    for word in (w.EPOCH, w.LAUNCH, w.ORIGIN, w.BLOCK):
        poke(watch, word, stamp)


@_njit
def fence(watch):  # type: ignore[no-untyped-def]
    """Execute a threadfence: what the block wrote before may be published by an atomic."""
    poke(watch, w.FENCE_STAMP, now(watch))


@_njit
def meet_warps(watch, threads, active):  # type: ignore[no-untyped-def]
    """Pass a syncwarp; `active` holds a flag for each thread, or is 0 for all of them."""
    stamp = _advance(watch)
    for warp in range((threads + 31) // 32):
        present = active == 0
        for k in range(32 * warp, min(32 * warp + 32, threads)):
            present = present or peek8(active, k) != 0
        if present:
            poke(watch, w.WARPS + warp, stamp)
    poke(watch, w.LAST_SYNCWARP, stamp)


# ---- warp operations --------------------------------------------------------------------------


@_njit
def _lanes(flags, base, count):  # type: ignore[no-untyped-def]
    """Return the lanes of a warp as bits; address 0 stands for all."""
    bits = 0
    for lane in range(count):
        if flags == 0 or peek8(flags, base + lane):
            bits |= 1 << lane
    return bits


@_njit
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


@_njit
def check_source(watch, site, thread, threads, active, source, mask):  # type: ignore[no-untyped-def]
    """Check that the lane from which a shuffle reads takes part in it."""
    if source < 0 or source == thread:
        return
    here = active == 0 or peek8(active, source) != 0
    if source >= threads or not here or not (mask >> (source & 31)) & 1:
        note(watch, w.SOURCE, site, -1, 0, thread, -1, -1, 0, 0, 0, mask, source & 31)


@_njit
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


@_njit
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


@_njit
def outside(watch, context, site, thread, ndim, index, shape, what):  # type: ignore[no-untyped-def]
    """Note an access outside an array, or by an index that is negative or wider than 32 bits."""
    row_ = note(watch, what, site, -1, 0, thread, -1, -1, 0, 0, 0, 0, 0)
    if row_ == 0:
        return
    poke(row_, w.F_NDIM, ndim)
    for k in range(min(ndim, 8)):
        poke(row_, w.F_INDEX + k, peek(context, index + k))
        poke(row_, w.F_SHAPE + k, peek(context, shape + k))


@_njit
def set_region(watch, number, address, size):  # type: ignore[no-untyped-def]
    """Say where a region lies: scratch memory is only known when the kernel runs."""
    row_ = peek(watch, w.REGION_TABLE) + 8 * w.REGION_WORDS * number
    poke(row_, w.BEGIN, address)
    poke(row_, w.END, address + size)
    poke(row_, w.BASE, address)
