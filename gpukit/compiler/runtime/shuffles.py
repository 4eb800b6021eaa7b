"""Shuffle whole warps at once, as vectors, if all lanes pass the same offset.

`warps.taken` computes the result for one thread from its source lane. If the offset is uniform in a
row, the results of the 32 lanes of a warp are adjacent published values: two vector loads and a
select per warp. All other cases (partial warps, inactive lanes) run thread by thread.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.raw import ALL_SET, peek, peek8
from gpukit.compiler.runtime.storage import get, put
from gpukit.compiler.runtime.warps import source_lane, taken

# Element types of vectors: those that LLVM has in vector registers.
KINDS = (types.float32, types.float64, types.int32, types.uint32, types.int64, types.uint64)
WARP = 32
MARGIN = 8 * WARP  # bytes before and after the values that the threads of a block publish
IDX, UP, DOWN, XOR = range(4)


@intrinsic
def _shift(typingctx, published, out, thread, offset):  # type: ignore[no-untyped-def]
    """Store for each lane of a warp the value published by the lane `offset` above, or its own.

    `thread` is the first of the warp, `offset` from -31 to 31. Memory beyond the warp is read and
    not used: there is a `MARGIN` on both sides of the published values.
    """
    kind = published.dtype

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        element = context.get_data_type(kind)
        vector, size = ir.VectorType(element, WARP), context.get_abi_sizeof(element)
        first, second, thread, offset = args
        begin = builder.gep(first, [thread])
        own = _load(builder, begin, vector, size)
        other = _load(builder, builder.gep(begin, [offset]), vector, size)
        small = ir.VectorType(ir.IntType(32), WARP)
        lanes = ir.Constant(small, [ir.Constant(ir.IntType(32), k) for k in range(WARP)])
        narrow = builder.trunc(offset, ir.IntType(32))
        spread = ir.Constant(small, ir.Undefined)
        spread = builder.insert_element(spread, narrow, ir.Constant(ir.IntType(32), 0))
        spread = builder.shuffle_vector(
            spread, ir.Constant(small, ir.Undefined), ir.Constant(small, None)
        )
        source = builder.add(lanes, spread)
        limit = ir.Constant(small, [ir.Constant(ir.IntType(32), WARP)] * WARP)
        inside = builder.icmp_unsigned("<", source, limit)
        chosen = builder.select(inside, other, own)
        to = builder.bitcast(builder.gep(second, [thread]), vector.as_pointer())
        builder.store(chosen, to).align = size
        return context.get_dummy_value()

    return types.void(published, out, types.int64, types.int64), codegen


def _load(builder: Any, pointer: Any, vector: Any, size: int) -> Any:
    loaded = builder.load(builder.bitcast(pointer, vector.as_pointer()))
    loaded.align = size
    return loaded


@compiled
def _alone(published, out, mask, thread, stop, first, threads, mode, offset):  # type: ignore[no-untyped-def]
    """Shuffle thread by thread, for those in a mask; a mask address of 0 means all."""
    clamp = 0 if mode == UP else 31
    for t in range(thread, stop):
        if mask == 0 or peek8(mask, t) != 0:
            source = source_lane(t, first, threads, mode, offset, clamp)
            put(out, t, taken(published, t, source))


@compiled
def row(published, out, mask, start, stop, first, threads, mode, offset):  # type: ignore[no-untyped-def]
    """Shuffle by a uniform offset for threads `start` to `stop`.

    `mask` is the address of the flag of thread 0, or 0 if all take part; `first` is the first
    thread of the block, `threads` their number.
    """
    within = offset & 31
    thread = start
    while thread < stop:
        following = min(first + ((thread - first) // WARP + 1) * WARP, stop)
        whole = following - thread == WARP
        if whole and mask != 0:
            for k in range(4):
                whole = whole and peek(mask + thread, k) == ALL_SET
        if not whole:
            _alone(published, out, mask, thread, following, first, threads, mode, within)
        elif mode == DOWN:
            _shift(published, out, thread, within)
        elif mode == UP:
            _shift(published, out, thread, -within)
        elif mode == IDX:
            value = get(published, thread + within)
            for k in range(WARP):
                put(out, thread + k, value)
        else:
            for k in range(WARP):
                put(out, thread + k, get(published, thread + (k ^ within)))
        thread = following
