"""Counting warp-level requests of the lanes of a warp (`compiler/checker_state.py`, profiles).

Threads run in lockstep, so the accesses of one location come warp by warp, lane by lane. They are
collected until another warp begins or a lane repeats; then the request is complete.
"""

from __future__ import annotations

from gpukit.checked.engine import footprint, trips
from gpukit.checked.engine.shadow import find_segment
from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.raw import ALL_SET, peek, peek8, poke


@compiled
def _add(row, counter, value):  # type: ignore[no-untyped-def]
    poke(row, counter, peek(row, counter) + value)


@compiled
def _location(checker, location):  # type: ignore[no-untyped-def]
    return peek(checker, w.LOCATIONS) + 8 * w.LOCATION_WORDS * location


@compiled
def lane(checker, location, thread, address, size, kind):  # type: ignore[no-untyped-def]
    """Add one lane's access to the open request of a location."""
    row = _location(checker, location)
    count, tick = peek(row, w.S_LANES_OPEN), peek(checker, w.TICK)
    last = peek(row, w.S_LAST)
    if count and (thread <= last or thread >> 5 != last >> 5 or peek(row, w.S_TICK) != tick):
        close(checker, location)
        count = 0
    if count == 0:
        segment = find_segment(checker, address)
        poke(row, w.S_SPACE, peek(segment, w.COUNTED) if segment else w.GLOBAL)
        poke(row, w.S_SEGMENT, peek(segment, w.NUMBER) if segment else -1)
        poke(row, w.S_BASE, peek(segment, w.BASE) if segment else 0)
        poke(row, w.S_SIZE, size)
        poke(row, w.S_KIND, kind)
        poke(row, w.S_TICK, tick)
        poke(row, w.S_BLOCK, footprint.running(checker))
        if kind == w.LOAD and peek(row, w.S_SPACE) == w.GLOBAL:
            trips.reach(checker, row, thread, 0)
    poke(row, w.S_LAST, thread)
    poke(row, w.S_ADDRESSES + count, address - peek(row, w.S_BASE))
    poke(row, w.S_PHASES + count, thread & 31)
    poke(row, w.S_LANES_OPEN, count + 1)
    if kind == w.UPDATE:
        _contend(checker, row, address)


@compiled
def _contend(checker, row, address):  # type: ignore[no-untyped-def]
    """Count the atomics on one element, in the shadow cell that a profile leaves unused."""
    if peek(row, w.S_SEGMENT) < 0:
        return
    segment = peek(checker, w.SEGMENT_TABLE) + 8 * w.SEGMENT_WORDS * peek(row, w.S_SEGMENT)
    if not peek(segment, w.BEGIN) <= address < peek(segment, w.END):
        segment = find_segment(checker, address)
        if segment == 0:
            return
    cell = peek(segment, w.CELLS) + 8 * (
        (address - peek(segment, w.BEGIN)) >> peek(segment, w.SHIFT)
    )
    block, last = peek(checker, w.BLOCK), cell + peek(segment, w.GAP)
    # Count and epoch lie where checks keep a location and its epoch: what a check left is older,
    # and what stays here is, for the next check, an old write without flags.
    epoch, before = peek(last, 0) >> w.EPOCH, peek(cell, 0) >> w.WRITE_LOCATION
    fresh = peek(segment, w.SPACE) != w.GLOBAL and epoch != block
    count = 1 if fresh or epoch < peek(checker, w.LAUNCH) else before + 1
    poke(cell, 0, count << w.WRITE_LOCATION)
    poke(last, 0, block << w.EPOCH)
    poke(row, w.S_CONTENTION, max(peek(row, w.S_CONTENTION), count))


@compiled
def close(checker, location):  # type: ignore[no-untyped-def]
    """Count the open request of a location."""
    row = _location(checker, location)
    count = peek(row, w.S_LANES_OPEN)
    if count == 0:
        return
    size, space, kind = peek(row, w.S_SIZE), peek(row, w.S_SPACE), peek(row, w.S_KIND)
    poke(row, w.S_LANES_OPEN, 0)
    _add(row, w.S_REQUESTS, 1)
    _add(row, w.S_ACCESSES, count)
    _add(row, w.S_ASKED, count * size)
    if space == w.SHARED:
        wavefronts, least = _wavefronts(row, count, size)
        _add(row, w.S_WAVEFRONTS, wavefronts)
        _add(row, w.S_LEAST, least)
        _keep_worst(row, count, (wavefronts + least - 1) // least)
    elif space == w.GLOBAL:
        sectors = _sectors(row, count, size)
        _add(row, w.S_SECTORS, sectors)
        _add(row, w.S_LINES, _lines(row, sectors))
        footprint.touch(checker, row, sectors, kind)
        _keep_worst(row, count, sectors)
    elif space == w.CONSTANT_MEMORY:
        passes = _addresses(row, count)
        _add(row, w.S_WAVEFRONTS, passes)
        _keep_worst(row, count, passes)
    if kind == w.UPDATE:
        same = _most_alike(row, count)
        _add(row, w.S_SERIAL, same)


@compiled
def _keep_worst(row, count, cost):  # type: ignore[no-untyped-def]
    """Keep the lanes of the most expensive request, for pictures."""
    if cost <= peek(row, w.S_WORST):
        return
    poke(row, w.S_WORST, cost)
    poke(row, w.S_WORST_COUNT, count)
    for k in range(count):
        poke(row, w.S_WORST_ADDRESSES + k, peek(row, w.S_ADDRESSES + k))
        poke(row, w.S_WORST_LANES + k, peek(row, w.S_PHASES + k))


@compiled
def _with(row, found, unit):  # type: ignore[no-untyped-def]
    """Add a sector or word to those `found` so far, without repeats; return how many there are."""
    for j in range(found - 1, -1, -1):
        if peek(row, w.S_SCRATCH + j) == unit:
            return found
    if found >= w.SCRATCH_WORDS:
        return found
    poke(row, w.S_SCRATCH + found, unit)
    return found + 1


@compiled
def _sectors(row, count, size):  # type: ignore[no-untyped-def]
    """Return how many distinct 32-byte sectors a request touches; they are in S_SCRATCH."""
    found, most = 0, -1
    seen, low = 0, (peek(row, w.S_ADDRESSES) >> 5) - 32  # bits of the sectors from `low` on
    for k in range(count):
        first = peek(row, w.S_ADDRESSES + k)
        last = (first + size - 1) >> 5
        first >>= 5
        if first == most and last == most:  # as for most lanes of most requests
            continue
        for sector in range(first, last + 1):
            near = 0 <= sector - low < 64
            if sector <= most and (sector == most or (near and seen >> (sector - low) & 1)):
                continue
            if (sector > most or near) and found < w.SCRATCH_WORDS:
                poke(row, w.S_SCRATCH + found, sector)
                found += 1
            else:
                found = _with(row, found, sector)
            most = max(most, sector)
            if near:
                seen |= 1 << (sector - low)
    return found


@compiled
def _lines(row, sectors):  # type: ignore[no-untyped-def]
    """Return in how many distinct 128-byte lines the sectors in S_SCRATCH lie."""
    found, most = 0, -1
    seen, low = 0, (peek(row, w.S_SCRATCH) >> 2) - 32  # bits of the lines from `low` on
    for j in range(sectors):
        line = peek(row, w.S_SCRATCH + j) >> 2
        near = 0 <= line - low < 64
        if line > most:
            found, most = found + 1, line
        elif line != most and near:
            found += 1 - (seen >> (line - low) & 1)
        elif line != most:
            k = j - 1
            while k >= 0 and peek(row, w.S_SCRATCH + k) >> 2 != line:
                k -= 1
            found += k < 0
        if near:
            seen |= 1 << (line - low)
    return found


@compiled
def _addresses(row, count):  # type: ignore[no-untyped-def]
    """Return how many distinct addresses a request has: constant memory serves one per pass."""
    found = 0
    for k in range(count):
        found = _with(row, found, peek(row, w.S_ADDRESSES + k))
    return found


@compiled
def _wavefronts(row, count, size):  # type: ignore[no-untyped-def]
    """Return how many passes through the 32 banks a shared request takes, and the minimum.

    Wide elements are accessed in phases: half a warp for 8 bytes, a quarter for 16. In a phase, a
    bank delivers one 4-byte word per pass; lanes that request the same word share it.
    """
    lanes = 32 if size <= 4 else 16 if size <= 8 else 8
    total = least = 0
    for phase in range(32 // lanes):
        passes = _phase(row, count, size, lanes, phase)
        total += passes
        least += passes > 0
    return total, least


@compiled
def _phase(row, count, size, lanes, phase):  # type: ignore[no-untyped-def]
    """Return the passes of one phase: the most distinct words that one bank must deliver."""
    found = 0
    for k in range(count):
        if peek(row, w.S_PHASES + k) // lanes == phase:
            at = peek(row, w.S_ADDRESSES + k)
            for word in range(at >> 2, ((at + size - 1) >> 2) + 1):
                found = _with(row, found, word)
    for bank in range(32):
        poke(row, w.S_BANKS + bank, 0)
    most = 0
    for j in range(found):
        bank = w.S_BANKS + (peek(row, w.S_SCRATCH + j) & 31)
        passes = peek(row, bank) + 1
        poke(row, bank, passes)
        most = max(most, passes)
    return most


@compiled
def _most_alike(row, count):  # type: ignore[no-untyped-def]
    """Return the largest number of lanes of a request that access the same address."""
    most = 0
    for k in range(count):
        same = 0
        for j in range(count):
            same += peek(row, w.S_ADDRESSES + k) == peek(row, w.S_ADDRESSES + j)
        most = max(most, same)
    return most


@compiled
def row(checker, location, thread, count, address, step, size, mask, kind):  # type: ignore[no-untyped-def]
    """Count the accesses of a row of threads to equally spaced elements."""
    row_, k = _location(checker, location), 0
    while k < count:
        at = thread + k
        if mask == 0 or peek8(mask, k) != 0:
            lane(checker, location, at, address + k * step, size, kind)
            if kind != w.UPDATE:  # whose lanes contend one by one
                k = _others(row_, at, k + 1, count, address, step, mask)
                continue
        k += 1


@compiled
def _others(row, thread, k, count, address, step, mask):  # type: ignore[no-untyped-def]
    """Add the other lanes of a thread's warp to its open request; return the first lane after."""
    open_, base = peek(row, w.S_LANES_OPEN), peek(row, w.S_BASE)
    last, end = thread, min(count, k + 31 - (thread & 31))
    first = thread - k + 1
    while k < end:
        if mask == 0 or peek8(mask, k) != 0:
            last = first + k
            poke(row, w.S_ADDRESSES + open_, address + k * step - base)
            poke(row, w.S_PHASES + open_, last & 31)
            open_ += 1
        k += 1
    poke(row, w.S_LANES_OPEN, open_)
    poke(row, w.S_LAST, last)
    return k


@compiled
def _flags(flags, count):  # type: ignore[no-untyped-def]
    """Return how many of the bytes at an address are set, eight at a time."""
    found = k = 0
    while k + 8 <= count:
        found += (peek(flags + k, 0) * ALL_SET >> 56) & 255
        k += 8
    while k < count:
        found += peek8(flags, k)
        k += 1
    return found


@compiled
def work(checker, location, thread, count, mask, recomputed):  # type: ignore[no-untyped-def]
    """Count the warps and threads that execute a statement.

    For one that is `recomputed` where it is needed count only the threads, for its operations.
    """
    row_ = _location(checker, location)
    last = peek(row_, w.S_WORK_LAST)
    if peek(row_, w.S_WORK_TICK) != peek(checker, w.TICK):
        poke(row_, w.S_WORK_TICK, peek(checker, w.TICK))
        last = -1
    if recomputed:
        _add(row_, w.S_RUNS, count if mask == 0 else _flags(mask, count))
        return
    # A statement executed once for a cooperative grid: each block has warps of its own.
    size = peek(checker, w.THREADS)
    warps = threads = 0
    for first in range(0, count, size):
        end = min(first + size, count)
        if mask == 0:
            warps += last < 0 or thread <= last or thread >> 5 != last >> 5
            last = thread + end - first - 1
            warps += (last >> 5) - (thread >> 5)
            threads += end - first
            continue
        for k in range(first, end):
            at = thread + k - first
            if peek8(mask, k) != 0:
                warps += last < 0 or at <= last or at >> 5 != last >> 5
                threads += 1
                last = at
    poke(row_, w.S_WORK_LAST, last)
    _add(row_, w.S_STEPS, warps)
    _add(row_, w.S_THREADS, threads)


@compiled
def branch(checker, location, count, taken, here):  # type: ignore[no-untyped-def]
    """Count a condition per warp: whether its lanes agree.

    `taken` and `here` are flags of the threads for which it is true and of those that evaluate it;
    0 stands for all. The mask of a loop serves as both, one after the other: `here` is saved
    BEFORE its condition is evaluated. In a cooperative grid it is saved for 32 warps only.
    """
    row_, size = _location(checker, location), peek(checker, w.THREADS)
    warps = 0
    for base in range(0, count, size):
        for first in range(base, base + size, 32):
            lanes = yes = 0
            for k in range(first, min(first + 32, base + size)):
                if here == 0 or here == w.BEFORE or peek8(here, k) != 0:
                    lanes |= 1 << (k - first)
                if taken == 0 or (taken != w.BEFORE and peek8(taken, k) != 0):
                    yes |= 1 << (k - first)
            word = w.SNAPSHOT + (warps & 31)
            if taken == w.BEFORE:
                poke(checker, word, lanes)
            else:
                _branch(row_, peek(checker, word) if here == w.BEFORE else lanes, yes)
            warps += 1


@compiled
def _branch(row, lanes, yes):  # type: ignore[no-untyped-def]
    """Count one warp's condition."""
    if lanes == 0:
        return
    yes &= lanes
    _add(row, w.S_BRANCHES, 1)
    _add(row, w.S_STEPS, 1)
    for k in range(32):
        _add(row, w.S_THREADS, lanes >> k & 1)
    if yes not in (0, lanes):
        _add(row, w.S_DIVERGENT, 1)


@compiled
def begin_block(checker):  # type: ignore[no-untyped-def]
    """Begin a block: no request and no statement of a warp goes on from an earlier one."""
    poke(checker, w.TICK, peek(checker, w.TICK) + 1)
    trips.begin_block(checker)


@compiled
def barrier(checker, location):  # type: ignore[no-untyped-def]
    """Count a barrier, once per warp of the block."""
    _add(_location(checker, location), w.S_BARRIERS, (peek(checker, w.THREADS) + 31) // 32)


@compiled
def trip(checker, what, location, thread, depth):  # type: ignore[no-untyped-def]
    """Follow a value that a load depends on (`compiler/lowering/trips.py`)."""
    if what == w.TRIP_LOAD:
        return trips.reach(checker, _location(checker, location), thread, depth)
    return trips.exchange(checker, what, thread, depth)


@compiled
def close_all(checker, locations):  # type: ignore[no-untyped-def]
    """Count the requests that are open at the end of a launch."""
    for location in range(locations):
        close(checker, location)
