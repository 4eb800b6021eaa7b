"""Counting the distinct 32-byte sectors of global memory that a launch and its blocks touch.

Each sector has a word: which block touched it last, and whether any has loaded or stored it.
Blocks run one after the other, so that a sector is new for a block if another touched it last.
The blocks of a cooperative grid take turns: each has a bit for each sector instead.
"""

from __future__ import annotations

from gpukit.compiler import checker_state as w
from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.raw import peek, peek8, poke, poke8

_LOADED, _STORED, _FLAGS = 1, 2, 2  # flags of a word, and how many bits they take


@compiled
def running(checker):  # type: ignore[no-untyped-def]
    """Return a number of the running block: no other has it."""
    return peek(checker, w.BLOCK_NUMBER if peek(checker, w.WHOLE) else w.BLOCKS_SEEN)


@compiled
def touch(checker, row, sectors, kind):  # type: ignore[no-untyped-def]
    """Count the sectors in S_SCRATCH that are new for the launch, and for the request's block."""
    if peek(row, w.S_SEGMENT) < 0:
        return
    segment = peek(checker, w.SEGMENT_TABLE) + 8 * w.SEGMENT_WORDS * peek(row, w.S_SEGMENT)
    words, bits = peek(segment, w.SECTORS), peek(segment, w.SECTORS_OF_BLOCKS)
    if words == 0:
        return
    base, block = peek(row, w.S_BASE), peek(row, w.S_BLOCK)
    first = (peek(segment, w.BEGIN) - base) >> 5
    count = ((peek(segment, w.END) - 1 - base) >> 5) + 1 - first
    flag = _LOADED if kind == w.LOAD else _STORED
    new = fresh = 0
    for j in range(sectors):
        at = peek(row, w.S_SCRATCH + j) - first
        if 0 <= at < count:
            word = peek(words, at)
            new += word & flag == 0
            if bits:
                place = bits + block * ((count + 7) >> 3) + (at >> 3)
                before = peek8(place, 0)
                fresh += 1 - (before >> (at & 7) & 1)
                poke8(place, 0, before | 1 << (at & 7))
                poke(words, at, word | flag)
            else:
                fresh += word >> _FLAGS != block
                poke(words, at, block << _FLAGS | word & (_LOADED | _STORED) | flag)
    counter = w.S_LOADED if kind == w.LOAD else w.S_STORED
    poke(row, counter, peek(row, counter) + new)
    poke(row, w.S_OF_BLOCKS, peek(row, w.S_OF_BLOCKS) + fresh)
