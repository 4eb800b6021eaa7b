"""Storage of a kernel's values: arguments, scratch memory, variables that its threads keep.

A kernel is passed the addresses of its arguments and of scratch memory (`emit.layout` lays it out).
The intrinsics here create arrays and thread arrays from them. A thread array holds one value for
each thread.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from gpukit.compiler.runtime.words import BYTE_PTR, WORD, index_values, word_pointer


def _distinct(builder: Any, pointer: Any) -> Any:
    """Return a pointer that LLVM may assume not to alias others (`noalias`).

    The empty assembly hides from LLVM that it equals the original pointer.
    """
    module = builder.module
    name = "gpukit_distinct"
    function = module.globals.get(name)
    if function is None:
        kind = ir.FunctionType(BYTE_PTR, [BYTE_PTR])
        function = ir.Function(module, kind, name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        function.return_value.add_attribute("noalias")
        inner = ir.IRBuilder(function.append_basic_block())
        inner.ret(inner.asm(kind, "", "=r,0", [function.args[0]], side_effect=False))
    return builder.call(function, [pointer])


def array_at(
    context: Any, builder: Any, array_type: Any, data: Any, shape: list[Any], strides: Any = None
) -> Any:
    """Return an array value on memory that it does not own."""
    element = context.get_data_type(array_type.dtype)
    size = context.get_abi_sizeof(element)
    itemsize = ir.Constant(WORD, size)
    if strides is None:
        strides, step = [], itemsize
        for n in reversed(shape):
            strides.insert(0, step)
            step = builder.mul(step, n)
    array = make_array(array_type)(context, builder)
    populate_array(
        array,
        data=builder.bitcast(data, array.data.type),
        shape=cgutils.pack_array(builder, shape, WORD),
        strides=cgutils.pack_array(builder, strides, WORD),
        itemsize=itemsize,
        meminfo=None,
    )
    return array._getvalue()


def _read_word(builder: Any, address: Any, offset: int) -> Any:
    base = builder.inttoptr(address, BYTE_PTR)
    at = builder.gep(base, [ir.Constant(WORD, offset)])
    return builder.load(builder.bitcast(at, WORD.as_pointer()))


@intrinsic
def header(typingctx, args):  # type: ignore[no-untyped-def]
    """Read the first words of the argument buffer: grid, block, bytes of dynamic shared memory."""
    kind = types.UniTuple(types.int64, 7)

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        words = [builder.load(word_pointer(builder, arguments[0], k)) for k in range(7)]
        return context.make_tuple(builder, kind, words)

    return kind(args), codegen


@functools.cache  # Numba never frees what an intrinsic registers
def argument(kind: types.Type, offset: int, *, distinct: bool) -> Any:
    """Return an intrinsic that reads one kernel argument from the argument buffer.

    `distinct` promises that no two array arguments overlap.
    """

    @intrinsic
    def read(typingctx, args):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return _argument(context, builder, kind, arguments[0], offset, distinct)[0]

        return kind(args), codegen

    return read


def _argument(
    context: Any, builder: Any, kind: Any, args: Any, offset: int, distinct: bool
) -> tuple[Any, int]:
    """Return the value of type `kind` at `offset`, and the offset after it."""
    if isinstance(kind, types.Array):
        words = [_read_word(builder, args, offset + 8 * k) for k in range(1 + 2 * kind.ndim)]
        data = builder.inttoptr(words[0], BYTE_PTR)
        if distinct:
            data = _distinct(builder, data)
            # Let it escape, or LLVM drops stores as never read after the return.
            seen = ir.FunctionType(ir.VoidType(), [BYTE_PTR])
            builder.asm(seen, "", "r", [data], side_effect=True)
        shape, strides = words[1 : 1 + kind.ndim], words[1 + kind.ndim :]
        value = array_at(context, builder, kind, data, shape, strides)
        return value, offset + 8 * len(words)
    if isinstance(kind, types.BaseTuple):
        values = []
        for part in kind:
            value, offset = _argument(context, builder, part, args, offset, distinct)
            values.append(value)
        return context.make_tuple(builder, kind, values), offset
    if isinstance(kind, types.EnumMember):
        return _argument(context, builder, kind.dtype, args, offset, distinct)
    if isinstance(kind, types.Record):
        word = _read_word(builder, args, offset)
        return builder.inttoptr(word, context.get_value_type(kind)), offset + 8
    if isinstance(kind, (types.NoneType, types.Dispatcher, types.Function)):
        return context.get_dummy_value(), offset
    base = builder.gep(builder.inttoptr(args, BYTE_PTR), [ir.Constant(WORD, offset)])
    pointer = builder.bitcast(base, context.get_data_type(kind).as_pointer())
    return context.unpack_value(builder, kind, pointer), offset + value_size(kind)


def value_size(kind: types.Type) -> int:
    """Return how many bytes an argument of this type takes in the argument buffer."""
    if isinstance(kind, types.Array):
        return 8 * (1 + 2 * int(kind.ndim))
    if isinstance(kind, types.BaseTuple):
        return sum(value_size(part) for part in kind)
    if isinstance(kind, types.EnumMember):
        return value_size(kind.dtype)
    if isinstance(kind, types.NoneType):
        return 0
    return 16 if kind == types.complex128 else 8


@functools.cache  # Numba never frees what an intrinsic registers
def scratch_array(kind: types.Array, *, distinct: bool) -> Any:
    """Return an intrinsic (scratch, offset, shape) -> array of type `kind` in scratch memory.

    `distinct` promises that no other array shares its memory.
    """

    @intrinsic
    def make(typingctx, scratch, offset, shape):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            base = builder.inttoptr(builder.add(args[0], args[1]), BYTE_PTR)
            values = index_values(context, builder, shape, args[2])
            data = _distinct(builder, base) if distinct else base
            return array_at(context, builder, kind, data, values)

        return kind(scratch, types.int64, shape), codegen

    return make


def thread_bytes(kind: types.Type) -> int:
    """Return how many bytes per thread a thread array has."""
    return value_bytes(stored_type(kind))


def stored_type(kind: types.Type) -> types.Type:
    """Return the type in which a thread array stores a value: a record by address, not a copy."""
    if isinstance(kind, types.Record):
        return types.CPointer(kind)
    if isinstance(kind, types.BaseTuple):
        parts = [stored_type(part) for part in kind]
        if parts != list(kind):
            return types.BaseTuple.from_types(parts, getattr(kind, "instance_class", None))
    return kind


@functools.cache  # Numba never frees what an intrinsic registers
def thread_array(kind: types.Type) -> Any:
    """Return an intrinsic (scratch, offset) -> pointer to one value of `kind` per thread."""

    @intrinsic
    def make(typingctx, scratch, offset):  # type: ignore[no-untyped-def]
        pointer_type = types.CPointer(kind)

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            base = builder.inttoptr(builder.add(args[0], args[1]), BYTE_PTR)
            data = _distinct(builder, base)
            return builder.bitcast(data, context.get_value_type(pointer_type))

        return pointer_type(scratch, types.int64), codegen

    return make


@functools.cache  # Numba never frees what an intrinsic registers
def array_of_thread(kind: types.Array, shape: tuple[int, ...]) -> Any:
    """Return an intrinsic (memory of all threads, offset) -> one thread's array of type `kind`.

    The pointer to the memory of all threads comes from `thread_array`, once per kernel: so LLVM
    knows that a store to an element does not alias other arrays, and can keep elements in
    registers.
    """

    @intrinsic
    def make(typingctx, base, offset):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            data = builder.gep(builder.bitcast(args[0], BYTE_PTR), [args[1]])
            sizes = [ir.Constant(WORD, n) for n in shape]
            return array_at(context, builder, kind, data, sizes)

        return kind(base, types.int64), codegen

    return make


def _of_thread(context: Any, builder: Any, thread_array: Any, args: Any, thread: Any) -> Any:
    """Return the pointer to a thread's value in a thread array."""
    pointer = context.get_value_type(types.CPointer(stored_type(thread_array.dtype)))
    index = context.cast(builder, args[1], thread, types.intp)
    return builder.gep(builder.bitcast(args[0], pointer), [index])


@intrinsic
def get(typingctx, thread_array, thread):  # type: ignore[no-untyped-def]
    """Load a thread's value from a thread array."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        at = _of_thread(context, builder, thread_array, args, thread)
        return context.unpack_value(builder, stored_type(thread_array.dtype), at)

    return thread_array.dtype(thread_array, thread), codegen


@intrinsic
def put(typingctx, thread_array, thread, value):  # type: ignore[no-untyped-def]
    """Store a thread's value in a thread array."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        at = _of_thread(context, builder, thread_array, args, thread)
        cast = context.cast(builder, args[2], value, thread_array.dtype)
        context.pack_value(builder, stored_type(thread_array.dtype), cast, at)
        return context.get_dummy_value()

    return types.void(thread_array, thread, value), codegen


@functools.cache  # Numba never frees what an intrinsic registers
def local_array(kind: types.Array, shape: tuple[int, ...]) -> Any:
    """Return an intrinsic () -> an array on the stack, for one thread at a time."""

    @intrinsic
    def make(typingctx):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            count = math.prod(shape)
            element = context.get_data_type(kind.dtype)
            data = cgutils.alloca_once(builder, element, size=ir.Constant(WORD, max(count, 1)))
            sizes = [ir.Constant(WORD, n) for n in shape]
            return array_at(context, builder, kind, builder.bitcast(data, BYTE_PTR), sizes)

        return kind(), codegen

    return make


def array_bytes(dtype: types.Type, shape: tuple[int, ...]) -> int:
    """Return the size of an array's elements."""
    return int(value_bytes(dtype)) * math.prod(shape)


def value_bytes(kind: types.Type) -> int:
    """Return the size of one value of `kind` in an array."""
    from gpukit.compiler.kernel_target import kernel_target

    context = kernel_target.target_context
    return int(context.get_abi_sizeof(context.get_data_type(kind)))


@intrinsic
def clear(typingctx, scratch, offset, size):  # type: ignore[no-untyped-def]
    """Fill some bytes of scratch memory with zeros."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        base = builder.inttoptr(builder.add(args[0], args[1]), BYTE_PTR)
        cgutils.memset(builder, base, args[2], 0)
        return context.get_dummy_value()

    return types.void(scratch, types.int64, types.int64), codegen


@intrinsic
def poison(typingctx, array):  # type: ignore[no-untyped-def]
    """Fill an array's bytes with 0xFF, NaN or the integer -1, to expose missing stores."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        ary = make_array(array)(context, builder, args[0])
        size = ary.itemsize
        for n in cgutils.unpack_tuple(builder, ary.shape, array.ndim):
            size = builder.mul(size, n)
        data = builder.bitcast(ary.data, BYTE_PTR)
        cgutils.memset(builder, data, size, 0xFF)
        return context.get_dummy_value()

    return types.void(array), codegen
