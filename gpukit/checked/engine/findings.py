"""The table of findings of an instrumented launch: a row per pair of lines."""

from __future__ import annotations

from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.raw import invoke, peek, poke


@compiled
def note(  # type: ignore[no-untyped-def]
    checker, what, location, other, segment, thread, who, block, address, size, hazard, a, b
):
    """Report a finding (`put_note`) in as many words as a call takes; return its row or 0."""
    function = peek(checker, w.FUNCTIONS + w.NOTE)
    kind = size | hazard << 32
    given = (checker, what, location, other, segment, thread, who, block, address, kind, a, b)
    return invoke(function, given)


@compiled
def put_note(  # type: ignore[no-untyped-def]
    checker, what, location, other, segment, thread, who, block, address, size, hazard, a, b
):
    """Put a finding into the table, or count it if its lines are there; return its row or 0.

    `other` is the line, and `who` of `block` the thread, of the access that it conflicts with.
    """
    table, count = peek(checker, w.FINDINGS), peek(checker, w.FOUND)
    number = peek(segment, w.NUMBER) if segment else -1
    row = table
    for _ in range(count):
        if (
            peek(row, w.F_WHAT) == what
            and peek(row, w.F_LOCATION) == location
            and peek(row, w.F_OTHER_LOCATION) == other
            and peek(row, w.F_SEGMENT) == number
        ):
            poke(row, w.F_COUNT, peek(row, w.F_COUNT) + 1)
            return 0
        row += 8 * w.FINDING_WORDS
    if count >= w.MAX_FINDINGS:
        poke(checker, w.LOST, peek(checker, w.LOST) + 1)
        return 0
    poke(checker, w.FOUND, count + 1)
    poke(row, w.F_WHAT, what)
    poke(row, w.F_LOCATION, location)
    poke(row, w.F_OTHER_LOCATION, other)
    poke(row, w.F_SEGMENT, number)
    poke(row, w.F_COUNT, 1)
    poke(row, w.F_BLOCK, peek(checker, w.BLOCK_NUMBER))
    poke(row, w.F_THREAD, thread)
    poke(row, w.F_OTHER_BLOCK, block)
    poke(row, w.F_OTHER_THREAD, who)
    poke(row, w.F_ADDRESS, address)
    poke(row, w.F_SIZE, size)
    poke(row, w.F_HAZARD, hazard)
    poke(row, w.F_A, a)
    poke(row, w.F_B, b)
    poke(row, w.F_NDIM, 0)
    return row


@compiled
def outside(checker, context, location, thread, ndim, index, shape, what):  # type: ignore[no-untyped-def]
    """Report an access outside an array, or by an index that is negative or wider than 32 bits."""
    row_ = note(checker, what, location, -1, 0, thread, -1, -1, 0, 0, 0, 0, 0)
    if row_ == 0:
        return
    poke(row_, w.F_NDIM, ndim)
    for k in range(min(ndim, 8)):
        poke(row_, w.F_INDEX + k, peek(context, index + k))
        poke(row_, w.F_SHAPE + k, peek(context, shape + k))
