"""All iterations of a loop at once: the reads of a row of threads in a rectangle of cells.

Every row of a block may read the same tile. As soon as two readers of each of its cells are known,
of different warps if there are several, further readers add nothing, until a write or a new
epoch: such areas are remembered.
"""

from __future__ import annotations

from gpukit.checked.engine.epochs import since
from gpukit.checked.engine.shadow import find_segment
from gpukit.checked.engine.shadow_rows import touch
from gpukit.checked.engine.shadow_runs import NOT_PLAIN, run
from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.raw import peek, poke


@compiled
def area(checker, location, thread, count, address, step, size, mask, rounds, leap):  # type: ignore[no-untyped-def]
    """Check a row of threads' reads in all iterations of a loop; return 0 to record them singly.

    Consecutive threads are `step` bytes apart, consecutive iterations `leap`.
    """
    if count <= 0 or rounds <= 0:
        return 1
    segment = find_segment(checker, address)
    if segment == 0 or mask != 0 or peek(checker, w.WHOLE) or peek(segment, w.SPACE) == w.LOCAL:
        return 0
    shift = peek(segment, w.SHIFT)
    across, along = (count - 1) * step, (rounds - 1) * leap
    low = address + min(across, 0) + min(along, 0)
    high = address + max(across, 0) + max(along, 0) + size
    inside = peek(segment, w.BEGIN) <= low and high <= peek(segment, w.END)
    if not inside or size != 1 << shift or (address | step | leap) & (min(size, 16) - 1):
        return 0
    touch(checker, thread, count)
    if peek(segment, w.CONSTANT):
        return 1
    cells = peek(segment, w.CELLS) + 8 * ((address - peek(segment, w.BEGIN)) >> shift)
    stride, jump = 8 * (step >> shift), 8 * (leap >> shift)
    if step == 0:
        far = thread + count - 1
        run(checker, segment, address, leap, size, cells, jump, location, thread, 0, rounds, w.LOAD)
        if count > 1:
            run(
                checker, segment, address, leap, size, cells, jump, location, far, 0, rounds, w.LOAD
            )
        return 1
    lines = rounds if leap else 1
    if _is_settled(checker, cells, stride, count, jump, lines):
        return 1
    for j in range(lines):
        at, to = address + j * leap, cells + j * jump
        run(checker, segment, at, step, size, to, stride, location, thread, 1, count, w.LOAD)
    _settle(checker, segment, cells, stride, count, jump, lines)
    return 1


@compiled
def _row_of(checker, cells):  # type: ignore[no-untyped-def]
    """Return the address of the row in which an area that begins at these cells is remembered."""
    return checker + 8 * (w.SETTLED + w.SETTLED_WORDS * ((cells >> 8) % w.SETTLED_ROWS))


@compiled
def _is_settled(checker, cells, stride, count, jump, lines):  # type: ignore[no-untyped-def]
    """Tell whether further readers of these elements add nothing, since there was no write."""
    row = _row_of(checker, cells)
    return (
        (peek(row, 0) == peek(checker, w.NOW))
        & (peek(row, 1) == peek(checker, w.WRITES))
        & (peek(row, 2) == cells)
        & (peek(row, 3) == stride)
        & (peek(row, 4) == count)
        & (peek(row, 5) == jump)
        & (peek(row, 6) == lines)
    )


@compiled
def _are_enough(seen, threads):  # type: ignore[no-untyped-def]
    """Tell whether the readers in the word of an element's reads are enough."""
    differ = (seen >> w.READ_FIRST ^ seen >> w.READ_OTHER) & w.THREAD_MASK
    return (differ >> 5 != 0) | (differ != 0) & (threads <= 32)


@compiled
def _settle(checker, segment, cells, stride, count, jump, lines):  # type: ignore[no-untyped-def]
    """Remember elements whose readers are known and which were not written recently."""
    space, gap = peek(segment, w.SPACE), peek(segment, w.GAP)
    threads = peek(checker, w.THREADS)
    if not _are_enough(peek(cells + gap, 0), threads):
        return
    low, block, barrier = since(checker, space), peek(checker, w.BLOCK), peek(checker, w.BARRIER)
    recent = max(barrier, peek(checker, w.LAST_SYNCWARP)) << w.EPOCH
    known = (low if space == w.GLOBAL else 0) << w.EPOCH
    block, barrier = block << w.EPOCH, barrier << w.EPOCH
    open_ = 0
    for j in range(lines):
        for k in range(count):
            at = cells + j * jump + k * stride
            word, seen = peek(at, 0), peek(at + gap, 0)
            old = (word < known) & (word & w.UNINITIALISED == 0)
            fine = old | ((word >= block) & (word < barrier) & (word & NOT_PLAIN == 0))
            open_ |= 1 - int(fine & _are_enough(seen, threads) & (seen >= recent))
    if open_:
        return
    row = _row_of(checker, cells)
    poke(row, 0, peek(checker, w.NOW))
    poke(row, 1, peek(checker, w.WRITES))
    poke(row, 2, cells)
    poke(row, 3, stride)
    poke(row, 4, count)
    poke(row, 5, jump)
    poke(row, 6, lines)
