"""The order that fences and atomics create: a graph of what each thread knows to have happened.

A thread's fence is a node. It stands for what the thread, its warp before their last syncwarp and
its block before its last barrier have done, and for all that the thread knew then. The thread's
next atomic attaches it to the element (release); a later atomic there takes it over (acquire).
Barriers and syncwarps join what their threads know. A node is older than those that know it.
"""

from __future__ import annotations

from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.raw import peek, peek8, poke


@compiled
def _node(checker, number):  # type: ignore[no-untyped-def]
    return peek(checker, w.NODES) + 8 * w.NODE_WORDS * number


@compiled
def _new_node(checker, left, right):  # type: ignore[no-untyped-def]
    """Return the number of a new node that knows two others, 0 if the table is full."""
    number = peek(checker, w.NODES_USED) + 1
    if number >= w.MAX_NODES:
        poke(checker, w.NODES_LOST, 1)
        return 0
    poke(checker, w.NODES_USED, number)
    row = _node(checker, number)
    poke(row, w.N_TIME, peek(checker, w.NOW))
    poke(row, w.N_THREAD, w.NOBODY)
    poke(row, w.N_LEFT, left)
    poke(row, w.N_RIGHT, right)
    return number


@compiled
def _join(checker, one, other):  # type: ignore[no-untyped-def]
    """Return the number of a node that knows what two others know; 0 knows nothing."""
    if one == other or other == 0:
        return one
    if one == 0 or peek(_node(checker, other), w.N_LEFT) == one:
        return other
    row = _node(checker, one)
    if peek(row, w.N_LEFT) == other or peek(row, w.N_RIGHT) == other:
        return one
    return _new_node(checker, one, other)


@compiled
def _thread_row(checker, thread):  # type: ignore[no-untyped-def]
    """Return the address of what a thread knows and what its next atomic releases."""
    if peek(checker, w.WHOLE):
        thread += peek(checker, w.BLOCK_NUMBER) * peek(checker, w.THREADS)
    return peek(checker, w.KNOWN) + 16 * thread


@compiled
def begin(checker):  # type: ignore[no-untyped-def]
    """Start the threads of a new block with no knowledge."""
    table = peek(checker, w.KNOWN)
    for k in range(2 * peek(checker, w.THREADS) if table else 0):
        poke(table, k, 0)


@compiled
def fence(checker, thread, wide):  # type: ignore[no-untyped-def]
    """Execute a fence of a thread; `wide`: for other blocks too.

    The epoch advances, to distinguish what follows the fence from what precedes it.
    """
    if peek(checker, w.KNOWN) == 0:
        return
    epoch = peek(checker, w.NOW) + max(peek(checker, w.WHOLE), 1)
    poke(checker, w.NOW, epoch)
    poke(checker, w.LAST_SYNCWARP, epoch)
    known = _thread_row(checker, thread)
    number = _new_node(checker, peek(known, 0), 0)
    if number:
        row = _node(checker, number)
        poke(row, w.N_THREAD, thread)
        poke(row, w.N_BLOCK, peek(checker, w.BLOCK_NUMBER))
        poke(row, w.N_BARRIER, peek(checker, w.BARRIER))
        poke(row, w.N_WARP, peek(checker, w.WARPS + (thread >> 5)))
        poke(row, w.N_WIDE, wide)
        poke(known, 1, _join(checker, peek(known, 1), number))


@compiled
def synchronise(checker, begin, end, active):  # type: ignore[no-untyped-def]
    """Join the knowledge of some of the threads that run in lockstep."""
    table = peek(checker, w.KNOWN)
    if table == 0:
        return
    for word in range(2):
        all_ = 0
        for thread in range(begin, end):
            if active == 0 or peek8(active, thread) != 0:
                all_ = _join(checker, all_, peek(table, 2 * thread + word))
        for thread in range(begin, end):
            if active == 0 or peek8(active, thread) != 0:
                poke(table, 2 * thread + word, all_)


@compiled
def atomic(checker, head, since, thread):  # type: ignore[no-untyped-def]
    """Execute an atomic of a thread: acquire what others released to the element, and release.

    `head` is the address of the element's word; releases before `since` belong to another array.
    """
    known, given = _thread_row(checker, thread), peek(head, 0)
    if given and peek(_node(checker, given), w.N_TIME) < since:
        given = 0
    poke(head, 0, _join(checker, given, peek(known, 1)))
    poke(known, 0, _join(checker, peek(known, 0), given))


@compiled
def knows(checker, thread, block, other, epoch):  # type: ignore[no-untyped-def]
    """Tell whether a thread knows of what a thread of a block did at an epoch."""
    if peek(checker, w.KNOWN) == 0:
        return False
    if peek(checker, w.NODES_LOST):
        return True  # the report says that fences are no longer tracked
    first = peek(_thread_row(checker, thread), 0)
    query, here = peek(checker, w.QUERIES) + 1, peek(checker, w.BLOCK_NUMBER)
    poke(checker, w.QUERIES, query)
    poke(_node(checker, first), w.N_MARK, query)
    for number in range(first, 0, -1):
        row = _node(checker, number)
        if peek(row, w.N_TIME) + peek(checker, w.WHOLE) < epoch:
            return False  # older than the access, as are all that follow
        if peek(row, w.N_MARK) != query:
            continue
        reaches = peek(row, w.N_WIDE) != 0 or block == here
        if peek(row, w.N_THREAD) != w.NOBODY and peek(row, w.N_BLOCK) == block and reaches:
            if _covers(row, other, epoch):
                return True
        poke(_node(checker, peek(row, w.N_LEFT)), w.N_MARK, query)
        poke(_node(checker, peek(row, w.N_RIGHT)), w.N_MARK, query)
    return False


@compiled
def _covers(row, thread, epoch):  # type: ignore[no-untyped-def]
    """Tell whether what a thread of the fence's block did at an epoch came before the fence.

    For NOBODY: only what the whole block did before its last barrier.
    """
    if epoch < peek(row, w.N_BARRIER):
        return True
    fenced = peek(row, w.N_THREAD)
    if thread == fenced:
        return epoch < peek(row, w.N_TIME)
    return thread >> 5 == fenced >> 5 and epoch < peek(row, w.N_WARP)


@compiled
def note_read(checker):  # type: ignore[no-untyped-def]
    """Record when the running block last read memory that others may write."""
    table = peek(checker, w.LAST_READS)
    if table:
        poke(table, peek(checker, w.BLOCK_NUMBER), peek(checker, w.NOW))


@compiled
def knows_all_reads(checker, thread):  # type: ignore[no-untyped-def]
    """Tell whether a thread knows of every read by another block, by any of its threads."""
    table, here = peek(checker, w.LAST_READS), peek(checker, w.BLOCK_NUMBER)
    if table == 0 or peek(checker, w.WHOLE):
        return False
    epochs = peek(checker, w.BLOCK_EPOCHS)
    for k in range(peek(checker, w.BLOCKS_SEEN)):
        block = peek(epochs, 2 * k + 1)
        epoch = peek(table, block)
        if block != here and epoch and not knows(checker, thread, block, w.NOBODY, epoch):
            return False
    return True
