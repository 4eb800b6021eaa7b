"""When an access of an instrumented launch happened, derived from its epoch."""

from __future__ import annotations

from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.raw import peek

# How an earlier access is ordered relative to the running block.
BEFORE, ORDERED, SAME_INTERVAL, OTHER_BLOCK = range(4)


@compiled
def relation(checker, epoch, space):  # type: ignore[no-untyped-def]
    """Return how an access with this epoch is ordered relative to the running block."""
    if epoch < since(checker, space):
        return BEFORE
    whole = peek(checker, w.WHOLE)
    if whole:
        if (epoch - peek(checker, w.ORIGIN)) % whole != peek(checker, w.BLOCK_NUMBER):
            return OTHER_BLOCK
    elif epoch < peek(checker, w.BLOCK):
        return OTHER_BLOCK
    return SAME_INTERVAL if epoch >= peek(checker, w.BARRIER) else ORDERED


@compiled
def since(checker, space):  # type: ignore[no-untyped-def]
    """Return the epoch before which accesses do not count: where a block's shared memory begins."""
    if space == w.GLOBAL or peek(checker, w.WHOLE):
        return peek(checker, w.LAUNCH)
    return peek(checker, w.BLOCK)


@compiled
def begun(checker):  # type: ignore[no-untyped-def]
    """Return the epoch since which the running block has had its shared and local arrays."""
    return peek(checker, w.ORIGIN) if peek(checker, w.WHOLE) else peek(checker, w.BLOCK)


@compiled
def now(checker):  # type: ignore[no-untyped-def]
    """Return the epoch of what the running block does now."""
    if peek(checker, w.WHOLE):
        return peek(checker, w.NOW) + peek(checker, w.BLOCK_NUMBER)
    return peek(checker, w.NOW)


@compiled
def block_of(checker, epoch):  # type: ignore[no-untyped-def]
    """Return the number of the block that ran at an epoch."""
    whole = peek(checker, w.WHOLE)
    if whole:
        return (epoch - peek(checker, w.ORIGIN)) % whole
    table, low, high = peek(checker, w.BLOCK_EPOCHS), 0, peek(checker, w.BLOCKS_SEEN)
    while high - low > 1:
        middle = (low + high) // 2
        if peek(table, 2 * middle) <= epoch:
            low = middle
        else:
            high = middle
    return peek(table, 2 * low + 1)
