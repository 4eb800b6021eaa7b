"""Loads and stores of compiled kernels.

`load` and `store` do no checks: the surrounding code has proved that the index is in bounds.
`load_checked` and `store_checked` wrap a negative index as Numba does on a GPU, and stop the
kernel before an access outside the array.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import load_item, store_item

from gpukit.compiler import checker_state
from gpukit.compiler import context as layout
from gpukit.compiler.runtime import hooks
from gpukit.compiler.runtime.words import WORD, index_types, index_values, leave, note, put


def element_pointer(
    context: Any, builder: Any, array_type: Any, array: Any, values: list[Any]
) -> Any:
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
        ary = Given(context, builder, array, args[0])
        values = index_values(context, builder, idx, args[1])
        return load_item(
            context, builder, array, element_pointer(context, builder, array, ary, values)
        )

    return array.dtype(array, idx), codegen


@intrinsic
def store(typingctx, array, idx, value):  # type: ignore[no-untyped-def]
    """Write `array[idx] = value` without a check."""
    _require(array, idx)
    _require_writable(typingctx, array, value)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        ary = Given(context, builder, array, args[0])
        values = index_values(context, builder, idx, args[1])
        pointer = element_pointer(context, builder, array, ary, values)
        cast = context.cast(builder, args[2], value, array.dtype)
        store_item(context, builder, array, cast, pointer)
        return context.get_dummy_value()

    return types.void(array, idx, value), codegen


def _require_writable(typingctx: Any, array: Any, value: Any) -> None:
    if not array.mutable:
        raise TypingError("this array is read-only: it cannot be written to")
    if typingctx.can_convert(value, array.dtype) is None:
        raise TypingError(f"a value of type {value} cannot be stored in an array of {array.dtype}")


REFERRED_TO = object()  # the kind of access to a record that is only referred to


class Given:
    """The fields of an array value, extracted without a copy in memory.

    Numba's `make_array` would store the value to memory first, seven words for each access.
    """

    def __init__(self, context: Any, builder: Any, kind: types.Array, value: Any) -> None:
        model = context.data_model_manager[kind]
        self.data, self.shape, self.strides = (
            model.get(builder, value, field) for field in ("data", "shape", "strides")
        )


class Origin(list[Any]):
    """The origin of an access: context address, source location, thread x, y, z.

    With `instrumented` the access is recorded by the checker.
    """

    instrumented = False


def checked_pointer(
    context: Any,
    builder: Any,
    array_type: Any,
    array: Any,
    values: list[Any],
    origin: Origin | None,
    kind: int | None = None,
    value: Any = None,
) -> Any:
    """Return a pointer to an element after a bounds check; without an origin it only wraps.

    An instrumented access, of a `kind` of `checker_state`, is recorded; a store with its `value`.
    For an element that is only `REFERRED_TO`, only an out-of-bounds index is recorded.
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
    if origin is not None and origin.instrumented and kind is not None:
        parts = (array_type, array, values, wrapped, shape, bad)
        return _instrumented_pointer(context, builder, parts, origin, kind, value)
    if origin is not None:
        with builder.if_then(bad, likely=False):
            ends = list(zip(values, shape, strict=True))[: layout.MAX_NDIM]
            sizes = [ir.Constant(WORD, array_type.ndim), *(word for end in ends for word in end)]
            builder.call(_noting_outside(builder.module, len(ends)), [*origin, *sizes])
            leave(context, builder)
    return element_pointer(context, builder, array_type, array, wrapped)


def _noting_outside(module: ir.Module, axes: int) -> ir.Function:
    """Return the function that reports an out-of-bounds index, created once per module.

    It takes an origin, the number of axes, and index and size along each of the first ones. Inlined
    in every access, its stores would be most of the code that LLVM must optimise.
    """
    name = f"gpukit_note_outside_{axes}"
    if name in module.globals:
        return module.globals[name]
    kind = ir.FunctionType(ir.VoidType(), [WORD] * (6 + 2 * axes))
    function = ir.Function(module, kind, name)
    function.linkage = "internal"
    for attribute in ("noinline", "cold", "nounwind"):
        function.attributes.add(attribute)
    builder = ir.IRBuilder(function.append_basic_block())
    address, location, x, y, z, count, *ends = function.args
    put(builder, address, layout.NDIM, count)
    for k in range(axes):
        put(builder, address, layout.INDEX + k, ends[2 * k])
        put(builder, address, layout.SHAPE + k, ends[2 * k + 1])
    note(builder, address, layout.OUT_OF_BOUNDS, location, (x, y, z))
    builder.ret_void()
    return function


def _instrumented_pointer(
    context: Any, builder: Any, parts: Any, origin: Origin, kind: int, value: Any
) -> Any:
    """Return a pointer to an element, or to scratch memory if the index is out of bounds."""
    array_type, array, values, wrapped, shape, bad = parts
    slot = cgutils.alloca_once(builder, context.get_data_type(array_type.dtype).as_pointer())
    with builder.if_else(bad, likely=False) as (outside, inside):
        with outside:
            hooks.see_outside(
                builder, array_type, values, shape, origin, hooks.word(checker_state.OUTSIDE)
            )
            builder.store(hooks.scratch(context, builder, array_type, origin[0]), slot)
        with inside:
            odd = cgutils.false_bit
            for v in values:
                odd = builder.or_(odd, builder.icmp_unsigned(">", v, hooks.word(2**31 - 1)))
            with builder.if_then(odd, likely=False):
                negative = cgutils.false_bit
                for v in values:
                    negative = builder.or_(negative, builder.icmp_signed("<", v, hooks.word(0)))
                what = builder.select(
                    negative, hooks.word(checker_state.NEGATIVE), hooks.word(checker_state.WIDE)
                )
                hooks.see_outside(builder, array_type, values, shape, origin, what)
            pointer = element_pointer(context, builder, array_type, array, wrapped)
            if value is not REFERRED_TO:
                hooks.see(context, builder, array_type, pointer, origin, kind, value)
            builder.store(pointer, slot)
    return builder.load(slot)


def origin_of(context: Any, builder: Any, origin_type: Any, origin: Any) -> Any:
    """Return the parts of an origin as 64-bit words; None for `None` (no check).

    An origin is (context, location, (thread x, y, z)); a fourth part marks instrumented accesses.
    """
    if isinstance(origin_type, types.NoneType):
        return None
    address, location, thread = cgutils.unpack_tuple(builder, origin, len(origin_type))[:3]
    values = [address, location, *cgutils.unpack_tuple(builder, thread, 3)]
    kinds = [*origin_type[:2], *origin_type[2]]
    pairs = zip(values, kinds, strict=True)
    found = Origin(context.cast(builder, v, t, types.int64) for v, t in pairs)
    found.instrumented = len(origin_type) == 4
    return found


@intrinsic
def load_checked(typingctx, origin, array, idx):  # type: ignore[no-untyped-def]
    """Read `array[idx]`; `origin` is (context, location, thread), or None for no check."""
    _require(array, idx)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        ary = Given(context, builder, array, args[1])
        values = index_values(context, builder, idx, args[2])
        where = origin_of(context, builder, origin, args[0])
        # A record is only referred to: later uses of it are the reads.
        how = REFERRED_TO if isinstance(array.dtype, types.Record) else None
        pointer = checked_pointer(
            context, builder, array, ary, values, where, checker_state.LOAD, how
        )
        return load_item(context, builder, array, pointer)

    return array.dtype(origin, array, idx), codegen


@intrinsic
def store_checked(typingctx, origin, array, idx, value):  # type: ignore[no-untyped-def]
    """Write `array[idx] = value`; `origin` as in `load_checked`."""
    _require(array, idx)
    _require_writable(typingctx, array, value)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        ary = Given(context, builder, array, args[1])
        values = index_values(context, builder, idx, args[2])
        where = origin_of(context, builder, origin, args[0])
        cast = context.cast(builder, args[3], value, array.dtype)
        pointer = checked_pointer(
            context, builder, array, ary, values, where, checker_state.STORE, cast
        )
        store_item(context, builder, array, cast, pointer)
        return context.get_dummy_value()

    return types.void(origin, array, idx, value), codegen
