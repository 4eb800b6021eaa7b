"""Shuffles, votes and matches of one thread, computed from the published values of its warp.

Every active thread has published its value before. Each function then returns the result of one
thread. `active` holds one flag per thread, False if the thread is inactive; the functions named
`..._all` are for when all are active. `first` is the first thread of the block, `threads` their
number.
"""

from __future__ import annotations

from numba.core import types

from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.storage import get

_int32 = types.int32


@compiled
def source_lane(thread, first, threads, mode, offset, clamp):  # type: ignore[no-untyped-def]
    """Return the thread that a shuffle reads from, or -1 for none."""
    source = wanted(thread, first, mode, offset, clamp)
    return -1 if source >= first + threads else source


@compiled
def wanted(thread, first, mode, offset, clamp):  # type: ignore[no-untyped-def]
    """Return the source thread of a shuffle, existing or not; -1 outside the segment.

    `mode` 0 reads a given lane, 1 up, 2 down, 3 the lane whose index is xor `offset`.
    `clamp` holds the segment mask in bits 8 to 12 and the clamp in bits 0 to 4, as in PTX.
    """
    lane = (thread - first) % 32
    segment = (clamp >> 8) & 31
    high = (lane & segment) | (clamp & 31 & ~segment)
    offset = offset & 31
    if mode == 0:
        source = (lane & segment) | (offset & ~segment & 31)
        inside = source <= high
    elif mode == 1:
        source = lane - offset
        inside = source >= high
    elif mode == 2:
        source = lane + offset
        inside = source <= high
    else:
        source = lane ^ offset
        inside = source <= high
    return thread - lane + source if inside else -1


@compiled
def taken(published, thread, source):  # type: ignore[no-untyped-def]
    """Return the value published by `source`; the thread's own value if there is no source."""
    return get(published, source if source >= 0 else thread)


@compiled
def taken_and_valid(published, thread, source):  # type: ignore[no-untyped-def]
    """Return the value published by `source`, and whether there was a source."""
    return get(published, source if source >= 0 else thread), source >= 0


@compiled
def members(thread, first, threads, active, mask):  # type: ignore[no-untyped-def]
    """Return the mask of the lanes that take part in a thread's warp operation."""
    base = thread - (thread - first) % 32
    bits = 0
    for lane in range(min(32, first + threads - base)):
        if get(active, base + lane) and (mask >> lane) & 1:
            bits |= 1 << lane
    return bits


@compiled
def members_all(thread, first, threads, mask):  # type: ignore[no-untyped-def]
    """As `members`, where all threads are active."""
    base = thread - (thread - first) % 32
    lanes = min(32, first + threads - base)
    return ((1 << lanes) - 1) & mask


@compiled
def ballot(thread, first, threads, published, active, mask):  # type: ignore[no-untyped-def]
    """Return the mask of the participating lanes that published True."""
    base = thread - (thread - first) % 32
    bits = 0
    for lane in range(min(32, first + threads - base)):
        if get(active, base + lane) and (mask >> lane) & 1 and get(published, base + lane):
            bits |= 1 << lane
    return bits


@compiled
def ballot_all(thread, first, threads, published, mask):  # type: ignore[no-untyped-def]
    """As `ballot`, where all threads are active."""
    base = thread - (thread - first) % 32
    bits = 0
    for lane in range(min(32, first + threads - base)):
        if (mask >> lane) & 1 and get(published, base + lane):
            bits |= 1 << lane
    return bits


@compiled
def same(thread, first, threads, published, active, mask):  # type: ignore[no-untyped-def]
    """Return the mask of the participating lanes with the same value as this thread."""
    base = thread - (thread - first) % 32
    own = get(published, thread)
    bits = 0
    for lane in range(min(32, first + threads - base)):
        if get(active, base + lane) and (mask >> lane) & 1 and get(published, base + lane) == own:
            bits |= 1 << lane
    return bits


@compiled
def same_all(thread, first, threads, published, mask):  # type: ignore[no-untyped-def]
    """As `same`, where all threads are active."""
    base = thread - (thread - first) % 32
    own = get(published, thread)
    bits = 0
    for lane in range(min(32, first + threads - base)):
        if (mask >> lane) & 1 and get(published, base + lane) == own:
            bits |= 1 << lane
    return bits


@compiled
def match_all(same_lanes, every):  # type: ignore[no-untyped-def]
    """Return (mask, True) if all participating lanes have the same value, else (0, False)."""
    agree = same_lanes == every
    return _int32(every if agree else 0), agree


@compiled
def vote(mode, lanes, every):  # type: ignore[no-untyped-def]
    """Return the result of the PTX vote instruction: mode 0 all, 1 any, 2 equal, 3 ballot."""
    if mode == 0:
        return _int32(0), lanes == every
    if mode == 1:
        return _int32(0), lanes != 0
    if mode == 2:
        return _int32(0), lanes == 0 or lanes == every
    return _int32(lanes), False
