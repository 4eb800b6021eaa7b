"""Intrinsics of instrumented kernels that call native functions of the checker, by address.

The kernel finds the checker's state through its error context. The function addresses there
determine whether a launch is checked, counted or recorded; the kernel's code is the same.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from gpukit.compiler import checker_state as w
from gpukit.compiler import context as layout
from gpukit.compiler.runtime.words import BYTE_PTR, WORD, index_values, word_pointer

_CALLS = {name: (k, count) for k, (name, count) in enumerate(w.CALLS.items())}


def call(builder: Any, address: Any, name: str, *arguments: Any) -> Any:
    """Call a native function of the checker; `address` is that of the error context."""
    number, count = _CALLS[name]
    if len(arguments) != count:
        raise AssertionError(f"{name} takes {count} arguments, got {len(arguments)}")
    checker = builder.load(word_pointer(builder, address, layout.CHECKER))
    function = builder.load(word_pointer(builder, checker, w.FUNCTIONS + number))
    kind = ir.FunctionType(WORD, [WORD] * (1 + count))
    return builder.call(builder.inttoptr(function, kind.as_pointer()), [checker, *arguments])


def word(value: int) -> Any:
    """Return a 64-bit constant."""
    return ir.Constant(WORD, value)


def linear(builder: Any, address: Any, thread: list[Any]) -> Any:
    """Return the linear index of a thread in its block."""
    checker = builder.load(word_pointer(builder, address, layout.CHECKER))
    sizes = [builder.load(word_pointer(builder, checker, k)) for k in (w.BLOCK_X, w.BLOCK_Y)]
    x, y, z = thread
    rows = builder.add(y, builder.mul(sizes[1], z))
    return builder.add(x, builder.mul(sizes[0], rows))


def see(
    context: Any, builder: Any, array_type: Any, pointer: Any, origin: Any, kind: int, value: Any
) -> None:
    """Record an access to one element; `value` is what a store is about to write, or None."""
    element = context.get_data_type(array_type.dtype)
    new = word(0)
    if value is not None:
        slot = cgutils.alloca_once(builder, element)
        context.pack_value(builder, array_type.dtype, value, slot)
        new = builder.ptrtoint(slot, WORD)
    at = builder.ptrtoint(pointer, WORD)
    see_bytes(builder, at, context.get_abi_sizeof(element), origin, kind, new)


def see_bytes(builder: Any, at: Any, size: int, origin: Any, kind: int, new: Any = None) -> None:
    """Record an access to some bytes; `new` points to what a store is about to write."""
    address, location, *thread = origin
    number = linear(builder, address, thread)
    call(
        builder,
        address,
        "access",
        kernel_location(builder, location),
        number,
        at,
        word(size),
        word(kind),
        new or word(0),
    )


def see_value(
    context: Any, builder: Any, kind: Any, at: Any, origin: Any, how: int, alignment: int = 16
) -> None:
    """Record an access to all of a value in memory: a number, a record or a nested array.

    It is one access; each field or element is recorded separately only if a read would include
    padding, which is never written, or if the whole would seem misaligned.
    """
    size = value_bytes(context, kind)
    misaligned = size in (2, 4, 8, 16) and alignment % size
    if not isinstance(kind, _COMPOSITE) or not (
        misaligned or (how == w.LOAD and _has_gaps(context, kind))
    ):
        see_bytes(builder, at, size, origin, how)
    elif isinstance(kind, types.NestedArray):
        step = value_bytes(context, kind.dtype)
        with cgutils.for_range(builder, word(kind.nitems)) as loop:
            element = builder.add(at, builder.mul(loop.index, word(step)))
            inner = math.gcd(alignment, step)
            see_value(context, builder, kind.dtype, element, origin, how, inner)
    else:
        for name in kind.fields:
            see_field(context, builder, kind, name, at, origin, how, alignment)


def see_field(
    context: Any,
    builder: Any,
    record: Any,
    name: str,
    at: Any,
    origin: Any,
    how: int,
    alignment: int = 16,
) -> None:
    """Record an access to a field of a record at an address."""
    field, offset = builder.add(at, word(record.offset(name))), record.offset(name)
    inner = math.gcd(alignment, offset, record.size)
    see_value(context, builder, record.typeof(name), field, origin, how, inner)


_COMPOSITE = (types.Record, types.NestedArray)


def _has_gaps(context: Any, kind: Any) -> bool:
    if isinstance(kind, types.NestedArray):
        return _has_gaps(context, kind.dtype)
    if not isinstance(kind, types.Record):
        return False
    fields = [kind.typeof(name) for name in kind.fields]
    covered = sum(value_bytes(context, f) for f in fields)
    return covered < kind.size or any(_has_gaps(context, f) for f in fields)


def value_bytes(context: Any, kind: Any) -> int:
    """Return the size of a value in memory."""
    if isinstance(kind, types.NestedArray):
        return int(kind.nitems) * value_bytes(context, kind.dtype)
    if isinstance(kind, types.Record):
        return int(kind.size)
    return int(context.get_abi_sizeof(context.get_data_type(kind)))


def kernel_location(builder: Any, location: Any) -> Any:
    """Return the kernel's own number of a location."""
    return builder.lshr(location, word(w.LOCATION_SHIFT))


def see_outside(
    builder: Any, array_type: Any, values: list[Any], shape: Any, origin: Any, what: Any
) -> None:
    """Record an index that is out of bounds, negative or wider than 32 bits."""
    address, location, *thread = origin
    for k, (v, n) in enumerate(zip(values, shape, strict=True)):
        if k < layout.MAX_NDIM:
            builder.store(v, word_pointer(builder, address, layout.INDEX + k))
            builder.store(n, word_pointer(builder, address, layout.SHAPE + k))
    number = linear(builder, address, thread)
    call(
        builder,
        address,
        "outside",
        address,
        kernel_location(builder, location),
        number,
        word(array_type.ndim),
        word(layout.INDEX),
        word(layout.SHAPE),
        what,
    )


def scratch(context: Any, builder: Any, array_type: Any, address: Any) -> Any:
    """Return the address to which an out-of-bounds access is redirected: unused memory."""
    checker = builder.load(word_pointer(builder, address, layout.CHECKER))
    at = builder.load(word_pointer(builder, checker, w.SCRATCH))
    return builder.inttoptr(at, context.get_data_type(array_type.dtype).as_pointer())


# ---- calls that the emitter writes ------------------------------------------------------------


def _plain(name: str) -> Any:
    """Return an intrinsic (context address, tuple of words) -> int64 that calls one function."""
    count = _CALLS[name][1]

    @intrinsic
    def hook(typingctx, address, arguments):  # type: ignore[no-untyped-def]
        kinds = tuple(arguments)
        if len(kinds) != count:
            raise TypingError(f"{name} takes {count} arguments, got {len(kinds)}")

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            values = cgutils.unpack_tuple(builder, args[1], count) if count else []
            words = [_as_word(context, builder, v, k) for v, k in zip(values, kinds, strict=True)]
            return call(builder, args[0], name, *words)

        return types.int64(address, arguments), codegen

    return hook


def _as_word(context: Any, builder: Any, value: Any, kind: Any) -> Any:
    """Return an integer as a word; a pointer as its address; None as 0."""
    if isinstance(kind, types.NoneType):
        return word(0)
    if isinstance(kind, types.CPointer):
        return builder.ptrtoint(value, WORD)
    return context.cast(builder, value, kind, types.int64)


begin_block = _plain("begin_block")
barrier = _plain("barrier")
grid_barrier = _plain("grid_barrier")
fence = _plain("fence")
sync_warps = _plain("sync_warps")
check_mask = _plain("check_mask")
check_source = _plain("check_source")
branch = _plain("branch")
work = _plain("work")
after_return = _plain("after_return")
grid_return = _plain("grid_return")
tick = _plain("tick")
trip = _plain("trip")


@intrinsic
def segment(typingctx, address, number, scratch, offset, size):  # type: ignore[no-untyped-def]
    """Record the address of a segment in scratch memory."""
    kinds = (number, scratch, offset, size)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        words = [_as_word(context, builder, v, k) for v, k in zip(args[1:], kinds, strict=True)]
        at = builder.add(words[1], words[2])
        call(builder, args[0], "segment", words[0], at, words[3])
        return context.get_dummy_value()

    return types.void(address, *kinds), codegen


def _row(name: str) -> Any:
    @intrinsic
    def hook(  # type: ignore[no-untyped-def]
        typingctx, address, location, array, next_array, first, second, thread, count, mask, kind
    ):
        """Record the accesses of a row of threads.

        `array` and `first` are the array and index of the first thread, `next_array` and `second`
        those of the second. `mask` is a pointer to a flag for each thread of the row, or None.
        """
        kinds = (address, location, array, next_array, first, second, thread, count, mask, kind)

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            ends = [
                _element(
                    context,
                    builder,
                    array,
                    make_array(array)(context, builder, args[k]),
                    index,
                    args[at],
                )
                for k, index, at in ((2, first, 4), (3, second, 5))
            ]
            size = word(context.get_abi_sizeof(context.get_data_type(array.dtype)))
            words = [_as_word(context, builder, args[k], kinds[k]) for k in (1, 6, 7, 8, 9)]
            location_, thread_, count_, mask_, kind_ = words
            step = builder.sub(ends[1], ends[0])
            given = [
                kernel_location(builder, location_),
                thread_,
                count_,
                ends[0],
                step,
                size,
                mask_,
            ]
            return call(builder, args[0], name, *given, *([kind_] if name == "row" else []))

        return types.int64(*kinds), codegen

    return hook


def _element(context: Any, builder: Any, array: Any, value: Any, kind: Any, index: Any) -> Any:
    """Return the address of an element; no check."""
    values = index_values(context, builder, kind, index)
    strides = cgutils.unpack_tuple(builder, value.strides, array.ndim)
    at = builder.ptrtoint(value.data, WORD)
    for v, s in zip(values, strides, strict=True):
        at = builder.add(at, builder.mul(v, s))
    return at


@intrinsic
def area(typingctx, address, location, array, first, second, third, thread, count, mask, rounds):  # type: ignore[no-untyped-def]
    """Record the reads of a row of threads in all iterations of a loop.

    `first` and `second` are the indices of the first two threads in the first iteration, `third`
    that of the first thread in the second iteration.
    """
    kinds = (address, location, array, first, second, third, thread, count, mask, rounds)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        ary = make_array(array)(context, builder, args[2])
        at = [_element(context, builder, array, ary, kinds[k], args[k]) for k in (3, 4, 5)]
        size = word(context.get_abi_sizeof(context.get_data_type(array.dtype)))
        words = [_as_word(context, builder, args[k], kinds[k]) for k in (1, 6, 7, 8, 9)]
        location_, thread_, count_, mask_, rounds_ = words
        step, leap = builder.sub(at[1], at[0]), builder.sub(at[2], at[0])
        return call(
            builder,
            args[0],
            "area",
            kernel_location(builder, location_),
            thread_,
            count_,
            at[0],
            step,
            size,
            mask_,
            rounds_,
            leap,
        )

    return types.int64(*kinds), codegen


row = _row("row")
row_free = _row("row_free")


@intrinsic
def value(typingctx, address, thread, variable, value):  # type: ignore[no-untyped-def]
    """Record the value of a thread's variable."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        real = isinstance(value, types.Float)
        wide = types.float64 if real else types.int64
        bits = context.cast(builder, args[3], value, wide)
        bits = builder.bitcast(bits, WORD) if real else bits
        numbers = [_as_word(context, builder, args[k], signature.args[k]) for k in (1, 2)]
        call(builder, args[0], "value", word(0), *numbers, bits, word(int(real)))
        return context.get_dummy_value()

    return types.void(address, thread, variable, value), codegen


@intrinsic
def mask_at(typingctx, mask, thread):  # type: ignore[no-untyped-def]
    """Return the address of one thread's flag."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        at = builder.gep(args[0], [context.cast(builder, args[1], thread, types.intp)])
        return builder.ptrtoint(builder.bitcast(at, BYTE_PTR), WORD)

    return types.int64(mask, thread), codegen
