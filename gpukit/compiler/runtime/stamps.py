"""When an access of a watched launch happened: what its stamp tells (`compiler/watch.py`)."""

from __future__ import annotations

from gpukit.compiler import watch as w
from gpukit.compiler.runtime.notes import compiled
from gpukit.compiler.runtime.raw import peek

# How an earlier access stands to one of the running block.
BEFORE, ORDERED, SAME_EPOCH, OTHER_BLOCK = range(4)


@compiled
def relation(watch, stamp, space):  # type: ignore[no-untyped-def]
    """Tell how an access with this stamp stands to the running block."""
    if stamp < since(watch, space):
        return BEFORE
    whole = peek(watch, w.WHOLE)
    if whole:
        if (stamp - peek(watch, w.ORIGIN)) % whole != peek(watch, w.BLOCK_NUMBER):
            return OTHER_BLOCK
    elif stamp < peek(watch, w.BLOCK):
        return OTHER_BLOCK
    return SAME_EPOCH if stamp >= peek(watch, w.EPOCH) else ORDERED


@compiled
def since(watch, space):  # type: ignore[no-untyped-def]
    """Return the stamp before which nothing counts: a block's shared memory begins with it."""
    if space == w.GLOBAL or peek(watch, w.WHOLE):
        return peek(watch, w.LAUNCH)
    return peek(watch, w.BLOCK)


@compiled
def begun(watch):  # type: ignore[no-untyped-def]
    """Return the stamp since which the running block has had its shared and local arrays."""
    return peek(watch, w.ORIGIN) if peek(watch, w.WHOLE) else peek(watch, w.BLOCK)


@compiled
def now(watch):  # type: ignore[no-untyped-def]
    """Return the stamp of what the running block does now."""
    if peek(watch, w.WHOLE):
        return peek(watch, w.NOW) + peek(watch, w.BLOCK_NUMBER)
    return peek(watch, w.NOW)


@compiled
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
