"""Loads, stores, arguments and scratch arrays of compiled kernels.

`load` and `store` do no checks: the code around them has proved that the index is in range.
`load_checked` and `store_checked` wrap a negative index as Numba does on a GPU, and stop the
kernel before an access outside the array.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import load_item, make_array, populate_array, store_item

from gpukit.compiler import context as layout
from gpukit.compiler import watch

WORD = ir.IntType(64)
BYTE_PTR = ir.IntType(8).as_pointer()


class KernelAbort(Exception):
    """Unwinds a compiled kernel; the reason stands in its context."""


def word_pointer(builder: Any, address: Any, word: int) -> Any:
    """Return a pointer to one word of the context."""
    base = builder.inttoptr(address, WORD.as_pointer())
    return builder.gep(base, [ir.Constant(ir.IntType(32), word)])


def _put(builder: Any, address: Any, word: int, value: Any) -> None:
    builder.store(value, word_pointer(builder, address, word))


def abort(context: Any, builder: Any, address: Any, code: int, site: Any, thread: Any) -> None:
    """Note the reason in the context and leave the kernel with an error status."""
    _put(builder, address, layout.CODE, ir.Constant(WORD, code))
    site = builder.and_(site, ir.Constant(WORD, watch.site_number(-1)))
    _put(builder, address, layout.SITE, site)
    for k, value in enumerate(thread):
        _put(builder, address, layout.THREAD + k, value)
    context.call_conv.return_user_exc(builder, KernelAbort, ())


def index_types(idx: types.Type) -> tuple[types.Type, ...] | None:
    """Return the types of an index's parts if all are integers, else None."""
    parts = tuple(idx) if isinstance(idx, types.BaseTuple) else (idx,)
    fine = all(isinstance(p, (types.Integer, types.Boolean)) for p in parts)
    return parts if fine else None


def index_values(context: Any, builder: Any, idx_type: Any, idx: Any) -> list[Any]:
    """Return the parts of an index as 64-bit integers."""
    is_tuple = isinstance(idx_type, types.BaseTuple)
    values = cgutils.unpack_tuple(builder, idx, len(idx_type)) if is_tuple else [idx]
    kinds = index_types(idx_type) or ()
    return [context.cast(builder, v, k, types.intp) for v, k in zip(values, kinds, strict=True)]


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, values: list[Any]) -> Any:
    return cgutils.get_item_pointer(
        context, builder, array_type, array, values, wraparound=False, boundscheck=False
    )


def _require(array: types.Type, idx: types.Type) -> None:
    if not isinstance(array, types.Array):
        raise TypingError(f"an element of {array} cannot be read or written by index")
    parts = index_types(idx)
    if parts is None:
        raise TypingError(f"an array index must be integers, not {idx}")
    if len(parts) != array.ndim:
        raise TypingError(
            f"an array with {array.ndim} axes needs {array.ndim} indices to reach one element, "
            f"got {len(parts)}"
        )


@intrinsic
def load(typingctx, array, idx):  # type: ignore[no-untyped-def]
    """Read `array[idx]` without a check."""
    _require(array, idx)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        ary = make_array(array)(context, builder, args[0])
        values = index_values(context, builder, idx, args[1])
        return load_item(context, builder, array, _pointer(context, builder, array, ary, values))

    return array.dtype(array, idx), codegen


@intrinsic
def store(typingctx, array, idx, value):  # type: ignore[no-untyped-def]
    """Write `array[idx] = value` without a check."""
    _require(array, idx)
    _require_writable(typingctx, array, value)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        ary = make_array(array)(context, builder, args[0])
        values = index_values(context, builder, idx, args[1])
        pointer = _pointer(context, builder, array, ary, values)
        cast = context.cast(builder, args[2], value, array.dtype)
        store_item(context, builder, array, cast, pointer)
        return context.get_dummy_value()

    return types.void(array, idx, value), codegen


def _require_writable(typingctx: Any, array: Any, value: Any) -> None:
    if not array.mutable:
        raise TypingError("this array is read-only: it cannot be written to")
    if typingctx.can_convert(value, array.dtype) is None:
        raise TypingError(f"a value of type {value} cannot be stored in an array of {array.dtype}")


class Place(list[Any]):
    """Context address, site, thread x, y, z; `watched` if accesses are told to the watch."""

    watched = False


def checked_pointer(
    context: Any,
    builder: Any,
    array_type: Any,
    array: Any,
    values: list[Any],
    place: Place | None,
    kind: int | None = None,
    value: Any = None,
) -> Any:
    """Return a pointer to an element after a bounds check; without a place it only wraps.

    A watched access, of a `kind` of `watch`, is told to the watch; a store with its `value`.
    """
    zero = ir.Constant(WORD, 0)
    shape = cgutils.unpack_tuple(builder, array.shape, array_type.ndim)
    wrapped = [
        builder.select(builder.icmp_signed("<", v, zero), builder.add(v, n), v)
        for v, n in zip(values, shape, strict=True)
    ]
    bad = cgutils.false_bit
    for v, n in zip(wrapped, shape, strict=True):
        bad = builder.or_(bad, builder.icmp_unsigned(">=", v, n))
    if place is not None and place.watched and kind is not None:
        parts = (array_type, array, values, wrapped, shape, bad)
        return _watched_pointer(context, builder, parts, place, kind, value)
    if place is not None:
        with builder.if_then(bad, likely=False):
            address, site, *thread = place
            _put(builder, address, layout.NDIM, ir.Constant(WORD, array_type.ndim))
            for k, (v, n) in enumerate(zip(values, shape, strict=True)):
                if k < layout.MAX_NDIM:
                    _put(builder, address, layout.INDEX + k, v)
                    _put(builder, address, layout.SHAPE + k, n)
            abort(context, builder, address, layout.OUT_OF_BOUNDS, site, thread)
    return _pointer(context, builder, array_type, array, wrapped)


def _watched_pointer(
    context: Any, builder: Any, parts: Any, place: Place, kind: int, value: Any
) -> Any:
    """Return a pointer to an element, or to the sink where the index is outside."""
    from gpukit.compiler.runtime import hooks

    array_type, array, values, wrapped, shape, bad = parts
    slot = cgutils.alloca_once(builder, context.get_data_type(array_type.dtype).as_pointer())
    with builder.if_else(bad, likely=False) as (outside, inside):
        with outside:
            hooks.see_outside(builder, array_type, values, shape, place, hooks.word(watch.OUTSIDE))
            builder.store(hooks.sink(context, builder, array_type, place[0]), slot)
        with inside:
            odd = cgutils.false_bit
            for v in values:
                odd = builder.or_(odd, builder.icmp_unsigned(">", v, hooks.word(2**31 - 1)))
            with builder.if_then(odd, likely=False):
                negative = cgutils.false_bit
                for v in values:
                    negative = builder.or_(negative, builder.icmp_signed("<", v, hooks.word(0)))
                what = builder.select(negative, hooks.word(watch.NEGATIVE), hooks.word(watch.WIDE))
                hooks.see_outside(builder, array_type, values, shape, place, what)
            pointer = _pointer(context, builder, array_type, array, wrapped)
            hooks.see(context, builder, array_type, pointer, place, kind, value)
            builder.store(pointer, slot)
    return builder.load(slot)


def place_of(context: Any, builder: Any, place_type: Any, place: Any) -> Any:
    """Return the parts of a place as 64-bit words; None for `None` (no check).

    A place is (context, site, (thread x, y, z)); a fourth part marks watched accesses.
    """
    if isinstance(place_type, types.NoneType):
        return None
    address, site, thread = cgutils.unpack_tuple(builder, place, len(place_type))[:3]
    values = [address, site, *cgutils.unpack_tuple(builder, thread, 3)]
    kinds = [*place_type[:2], *place_type[2]]
    pairs = zip(values, kinds, strict=True)
    found = Place(context.cast(builder, v, t, types.int64) for v, t in pairs)
    found.watched = len(place_type) == 4
    return found


@intrinsic
def load_checked(typingctx, place, array, idx):  # type: ignore[no-untyped-def]
    """Read `array[idx]`; `place` is (context, site, thread), or None for no check."""
    _require(array, idx)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        ary = make_array(array)(context, builder, args[1])
        values = index_values(context, builder, idx, args[2])
        where = place_of(context, builder, place, args[0])
        pointer = checked_pointer(context, builder, array, ary, values, where, watch.LOAD)
        return load_item(context, builder, array, pointer)

    return array.dtype(place, array, idx), codegen


@intrinsic
def store_checked(typingctx, place, array, idx, value):  # type: ignore[no-untyped-def]
    """Write `array[idx] = value`; `place` as in `load_checked`."""
    _require(array, idx)
    _require_writable(typingctx, array, value)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        ary = make_array(array)(context, builder, args[1])
        values = index_values(context, builder, idx, args[2])
        where = place_of(context, builder, place, args[0])
        cast = context.cast(builder, args[3], value, array.dtype)
        pointer = checked_pointer(context, builder, array, ary, values, where, watch.STORE, cast)
        store_item(context, builder, array, cast, pointer)
        return context.get_dummy_value()

    return types.void(place, array, idx, value), codegen


def axis_checked(axis: int) -> Any:
    """Return an intrinsic (place, array, index) -> index, which checks one index beside slices.

    A negative `axis` counts from the last. Whatever is no integer is passed on as it is.
    """

    @intrinsic
    def check(typingctx, place, array, idx):  # type: ignore[no-untyped-def]
        whole = isinstance(idx, (types.Integer, types.Boolean))
        if not whole or not isinstance(array, types.Array) or not _has_axis(array, axis):
            return idx(place, array, idx), lambda context, builder, signature, args: args[2]

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            ary = make_array(array)(context, builder, args[1])
            size = cgutils.unpack_tuple(builder, ary.shape, array.ndim)[axis]
            value = context.cast(builder, args[2], idx, types.intp)
            where = place_of(context, builder, place, args[0])
            if where is not None:
                _require_inside(context, builder, value, size, where)
            return value

        return types.intp(place, array, idx), codegen

    return check


def _has_axis(array: types.Array, axis: int) -> bool:
    return -int(array.ndim) <= axis < int(array.ndim)


def _require_inside(context: Any, builder: Any, value: Any, size: Any, place: Place) -> None:
    """Stop the kernel unless an index lies inside one axis, counted from either end."""
    zero = ir.Constant(WORD, 0)
    wrapped = builder.select(builder.icmp_signed("<", value, zero), builder.add(value, size), value)
    with builder.if_then(builder.icmp_unsigned(">=", wrapped, size), likely=False):
        address, site, *thread = place
        _put(builder, address, layout.NDIM, ir.Constant(WORD, 1))
        _put(builder, address, layout.INDEX, value)
        _put(builder, address, layout.SHAPE, size)
        abort(context, builder, address, layout.OUT_OF_BOUNDS, site, thread)


AXIS_CHECKED = {k: axis_checked(k) for k in range(-layout.MAX_NDIM, layout.MAX_NDIM)}


def record_field(offset: int, size: int, kind: int) -> Any:
    """Return an intrinsic (place, array, idx) -> record, whose access touches one field only."""

    @intrinsic
    def reach(typingctx, place, array, idx):  # type: ignore[no-untyped-def]
        _require(array, idx)

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            ary = make_array(array)(context, builder, args[1])
            values = index_values(context, builder, idx, args[2])
            where = place_of(context, builder, place, args[0])
            field = (offset, size)
            pointer = checked_pointer(context, builder, array, ary, values, where, kind, field)
            return load_item(context, builder, array, pointer)

        return array.dtype(place, array, idx), codegen

    return reach


@intrinsic
def part_checked(typingctx, place, array, idx):  # type: ignore[no-untyped-def]
    """Check the indices of a view `array[idx]` with fewer indices than axes; return them."""
    parts = index_types(idx)
    if parts is None or not isinstance(array, types.Array) or len(parts) >= array.ndim:
        raise TypingError(f"an array index must be integers, not {idx}")
    axes = len(parts)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        first = array.copy(ndim=axes, layout="A")
        whole = make_array(array)(context, builder, args[1])
        view = make_array(first)(context, builder)
        shape = cgutils.unpack_tuple(builder, whole.shape, array.ndim)[:axes]
        strides = cgutils.unpack_tuple(builder, whole.strides, array.ndim)[:axes]
        populate_array(
            view, data=whole.data, shape=cgutils.pack_array(builder, shape),
            strides=cgutils.pack_array(builder, strides), itemsize=whole.itemsize,
            meminfo=whole.meminfo, parent=whole.parent,
        )  # fmt: skip
        values = index_values(context, builder, idx, args[2])
        where = place_of(context, builder, place, args[0])
        checked_pointer(context, builder, first, view, values, where)
        return args[2]

    return idx(place, array, idx), codegen


@intrinsic
def tell_part(typingctx, place, view):  # type: ignore[no-untyped-def]
    """Tell the watch that all elements of a view are about to be written."""
    if not isinstance(view, types.Array):
        raise TypingError("a part of an array is needed")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        from gpukit.compiler.runtime import hooks

        array = make_array(view)(context, builder, args[1])
        shape = cgutils.unpack_tuple(builder, array.shape, view.ndim)
        where = place_of(context, builder, place, args[0])
        with cgutils.loop_nest(builder, shape, WORD) as at:
            pointer = _pointer(context, builder, view, array, list(at))
            hooks.see(context, builder, view, pointer, where, watch.STORE, None)
        return context.get_dummy_value()

    return types.void(place, view), codegen


def _distinct(builder: Any, pointer: Any) -> Any:
    """Return a pointer of which LLVM knows that nothing else points there.

    The empty assembly hides from LLVM that it is the pointer it already had.
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
    """Return an array value over memory that somebody else owns."""
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
        array, data=builder.bitcast(data, array.data.type),
        shape=cgutils.pack_array(builder, shape, WORD),
        strides=cgutils.pack_array(builder, strides, WORD), itemsize=itemsize, meminfo=None,
    )  # fmt: skip
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
    """Return the value of type `kind` at `offset`, and the offset behind it."""
    if isinstance(kind, types.Array):
        words = [_read_word(builder, args, offset + 8 * k) for k in range(1 + 2 * kind.ndim)]
        data = builder.inttoptr(words[0], BYTE_PTR)
        if distinct:
            data = _distinct(builder, data)
            # Let it out again, or LLVM takes it for memory that nobody reads after the return.
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
    return context.unpack_value(builder, kind, pointer), offset + slot_size(kind)


def slot_size(kind: types.Type) -> int:
    """Return how many bytes an argument of this type takes in the argument buffer."""
    if isinstance(kind, types.Array):
        return 8 * (1 + 2 * int(kind.ndim))
    if isinstance(kind, types.BaseTuple):
        return sum(slot_size(part) for part in kind)
    if isinstance(kind, types.EnumMember):
        return slot_size(kind.dtype)
    if isinstance(kind, types.NoneType):
        return 0
    return 16 if kind == types.complex128 else 8


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


def slots(kind: types.Type) -> Any:
    """Return an intrinsic (scratch, offset) -> pointer to one value of `kind` a thread."""

    @intrinsic
    def make(typingctx, scratch, offset):  # type: ignore[no-untyped-def]
        pointer_type = types.CPointer(kind)

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            base = builder.inttoptr(builder.add(args[0], args[1]), BYTE_PTR)
            data = _distinct(builder, base)
            return builder.bitcast(data, context.get_value_type(pointer_type))

        return pointer_type(scratch, types.int64), codegen

    return make


def array_of_thread(kind: types.Array, shape: tuple[int, ...]) -> Any:
    """Return an intrinsic (memory of all threads, offset) -> one thread's array of type `kind`.

    The pointer to the memory of all threads comes from `slots`, once in a kernel: so LLVM knows
    that a store to an element leaves other arrays as they are, and may keep elements in registers.
    """

    @intrinsic
    def make(typingctx, base, offset):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            data = builder.gep(builder.bitcast(args[0], BYTE_PTR), [args[1]])
            sizes = [ir.Constant(WORD, n) for n in shape]
            return array_at(context, builder, kind, data, sizes)

        return kind(base, types.int64), codegen

    return make


@intrinsic
def get(typingctx, slot, thread):  # type: ignore[no-untyped-def]
    """Read the value that a thread keeps in a slot array."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        at = builder.gep(args[0], [context.cast(builder, args[1], thread, types.intp)])
        return context.unpack_value(builder, slot.dtype, at)

    return slot.dtype(slot, thread), codegen


@intrinsic
def put(typingctx, slot, thread, value):  # type: ignore[no-untyped-def]
    """Write the value that a thread keeps in a slot array."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        at = builder.gep(args[0], [context.cast(builder, args[1], thread, types.intp)])
        cast = context.cast(builder, args[2], value, slot.dtype)
        context.pack_value(builder, slot.dtype, cast, at)
        return context.get_dummy_value()

    return types.void(slot, thread, value), codegen


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
    return int(slot_bytes(dtype)) * math.prod(shape)


def slot_bytes(kind: types.Type) -> int:
    """Return the size of one value of `kind` in a slot array."""
    from numba.core.registry import cpu_target

    context = cpu_target.target_context
    return int(context.get_abi_sizeof(context.get_data_type(kind)))


@intrinsic
def poison(typingctx, array):  # type: ignore[no-untyped-def]
    """Fill an array's bytes with 0xFF: NaN for floats, -1 for integers, so luck hides no bug."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        ary = make_array(array)(context, builder, args[0])
        size = ary.itemsize
        for n in cgutils.unpack_tuple(builder, ary.shape, array.ndim):
            size = builder.mul(size, n)
        data = builder.bitcast(ary.data, BYTE_PTR)
        cgutils.memset(builder, data, size, 0xFF)
        return context.get_dummy_value()

    return types.void(array), codegen
