"""What instrumented kernels call: native functions of the checker, by address.

The kernel finds the checker's state through its error context. Which functions stand there decides
whether a launch is checked, counted or recorded; the kernel's code is the same.
"""

from __future__ import annotations

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
    """Return the number of a thread in its block."""
    checker = builder.load(word_pointer(builder, address, layout.CHECKER))
    sizes = [builder.load(word_pointer(builder, checker, k)) for k in (w.BLOCK_X, w.BLOCK_Y)]
    x, y, z = thread
    rows = builder.add(y, builder.mul(sizes[1], z))
    return builder.add(x, builder.mul(sizes[0], rows))


def see(
    context: Any, builder: Any, array_type: Any, pointer: Any, origin: Any, kind: int, value: Any
) -> None:
    """Tell an access to one element.

    `value` is what a store is about to write, offset and size of a record's field, or None. A
    field of size 0 is not accessed yet.
    """
    if isinstance(value, tuple) and value[1] == 0:
        return
    address, location, *thread = origin
    element = context.get_data_type(array_type.dtype)
    offset, size = 0, context.get_abi_sizeof(element)
    new = word(0)
    if isinstance(value, tuple):
        offset, size = value
    elif value is not None:
        slot = cgutils.alloca_once(builder, element)
        context.pack_value(builder, array_type.dtype, value, slot)
        new = builder.ptrtoint(slot, WORD)
    at = builder.add(builder.ptrtoint(pointer, WORD), word(offset))
    number = linear(builder, address, thread)
    call(builder, address, "access", kernel_location(builder, location), number, at, word(size),
         word(kind), new)  # fmt: skip


def kernel_location(builder: Any, location: Any) -> Any:
    """Return the kernel's own number of a location."""
    return builder.lshr(location, word(w.LOCATION_SHIFT))


def see_outside(
    builder: Any, array_type: Any, values: list[Any], shape: Any, origin: Any, what: Any
) -> None:
    """Tell an index that is outside, negative or wider than 32 bits."""
    address, location, *thread = origin
    for k, (v, n) in enumerate(zip(values, shape, strict=True)):
        if k < layout.MAX_NDIM:
            builder.store(v, word_pointer(builder, address, layout.INDEX + k))
            builder.store(n, word_pointer(builder, address, layout.SHAPE + k))
    number = linear(builder, address, thread)
    call(builder, address, "outside", address, kernel_location(builder, location), number,
         word(array_type.ndim), word(layout.INDEX), word(layout.SHAPE), what)  # fmt: skip


def sink(context: Any, builder: Any, array_type: Any, address: Any) -> Any:
    """Return where an access outside its array goes: memory that nobody reads."""
    checker = builder.load(word_pointer(builder, address, layout.CHECKER))
    at = builder.load(word_pointer(builder, checker, w.SINK))
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


@intrinsic
def region(typingctx, address, number, scratch, offset, size):  # type: ignore[no-untyped-def]
    """Say where a region in scratch memory lies."""
    kinds = (number, scratch, offset, size)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        words = [_as_word(context, builder, v, k) for v, k in zip(args[1:], kinds, strict=True)]
        at = builder.add(words[1], words[2])
        call(builder, args[0], "region", words[0], at, words[3])
        return context.get_dummy_value()

    return types.void(address, *kinds), codegen


def _row(name: str) -> Any:
    @intrinsic
    def hook(  # type: ignore[no-untyped-def]
        typingctx, address, location, array, next_array, first, second, thread, count, mask, kind
    ):
        """Tell the accesses of a row of threads.

        `array` and `first` are where the first of them does its access, `next_array` and `second`
        the one behind it. `mask` is a pointer to a flag for each thread of the row, or None.
        """
        kinds = (address, location, array, next_array, first, second, thread, count, mask, kind)

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            ends = [
                _element(context, builder, array, make_array(array)(context, builder, args[k]),
                         index, args[at])
                for k, index, at in ((2, first, 4), (3, second, 5))
            ]  # fmt: skip
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
    """Tell the reads of a row of threads in all rounds of a loop.

    `first` and `second` index those of two threads in the first round, `third` that of the first
    thread in the second round.
    """
    kinds = (address, location, array, first, second, third, thread, count, mask, rounds)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        ary = make_array(array)(context, builder, args[2])
        at = [_element(context, builder, array, ary, kinds[k], args[k]) for k in (3, 4, 5)]
        size = word(context.get_abi_sizeof(context.get_data_type(array.dtype)))
        words = [_as_word(context, builder, args[k], kinds[k]) for k in (1, 6, 7, 8, 9)]
        location_, thread_, count_, mask_, rounds_ = words
        step, leap = builder.sub(at[1], at[0]), builder.sub(at[2], at[0])
        return call(builder, args[0], "area", kernel_location(builder, location_), thread_, count_,
                    at[0], step, size, mask_, rounds_, leap)  # fmt: skip

    return types.int64(*kinds), codegen


row = _row("row")
row_free = _row("row_free")


@intrinsic
def value(typingctx, address, thread, variable, value):  # type: ignore[no-untyped-def]
    """Tell what a variable of a thread is now."""

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
