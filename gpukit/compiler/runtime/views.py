"""Accesses of compiled kernels to views, records and fields: their checks, and their recording."""

from __future__ import annotations

import functools
import math
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from gpukit.compiler import checker_state
from gpukit.compiler import context as layout
from gpukit.compiler.runtime import hooks
from gpukit.compiler.runtime.memory import Origin, checked_pointer, element_pointer, origin_of
from gpukit.compiler.runtime.words import WORD, abort, index_types, index_values, put


def axis_checked(axis: int) -> Any:
    """Return an intrinsic (origin, array, index) -> index, which checks one index beside slices.

    A negative `axis` counts from the last. Indices that are no integers are returned unchanged.
    """

    @intrinsic
    def check(typingctx, origin, array, idx):  # type: ignore[no-untyped-def]
        whole = isinstance(idx, (types.Integer, types.Boolean))
        if not whole or not isinstance(array, types.Array) or not _has_axis(array, axis):
            return idx(origin, array, idx), lambda context, builder, signature, args: args[2]

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            ary = make_array(array)(context, builder, args[1])
            size = cgutils.unpack_tuple(builder, ary.shape, array.ndim)[axis]
            value = context.cast(builder, args[2], idx, types.intp)
            where = origin_of(context, builder, origin, args[0])
            if where is not None:
                _require_inside(context, builder, value, size, where)
            return value

        return types.intp(origin, array, idx), codegen

    return check


@intrinsic
def flat_checked(typingctx, origin, idx, size):  # type: ignore[no-untyped-def]
    """Check an index of `a.flat` with `size` elements; return it counted from 0."""
    if not isinstance(idx, (types.Integer, types.Boolean)):
        raise TypingError("a.flat takes an integer as its index")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        value = context.cast(builder, args[1], idx, types.intp)
        count = context.cast(builder, args[2], size, types.intp)
        where = origin_of(context, builder, origin, args[0])
        if where is None:
            return value
        return _require_inside(context, builder, value, count, where)

    return types.intp(origin, idx, size), codegen


def _has_axis(array: types.Array, axis: int) -> bool:
    return -int(array.ndim) <= axis < int(array.ndim)


def _require_inside(context: Any, builder: Any, value: Any, size: Any, origin: Origin) -> Any:
    """Stop the kernel unless an index is in bounds for one axis; return it counted from 0."""
    zero = ir.Constant(WORD, 0)
    wrapped = builder.select(builder.icmp_signed("<", value, zero), builder.add(value, size), value)
    with builder.if_then(builder.icmp_unsigned(">=", wrapped, size), likely=False):
        address, location, *thread = origin
        put(builder, address, layout.NDIM, ir.Constant(WORD, 1))
        put(builder, address, layout.INDEX, value)
        put(builder, address, layout.SHAPE, size)
        abort(context, builder, address, layout.OUT_OF_BOUNDS, location, thread)
    return wrapped


AXIS_CHECKED = {k: axis_checked(k) for k in range(-layout.MAX_NDIM, layout.MAX_NDIM)}


@functools.cache  # Numba never frees what an intrinsic registers
def record_field(name: str, kind: int) -> Any:
    """Return an intrinsic (origin, record) -> record, which records an access to one field."""

    @intrinsic
    def reach(typingctx, origin, record):  # type: ignore[no-untyped-def]
        if not isinstance(record, types.Record):
            raise TypingError(f"{record} has no field {name}")

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            where = origin_of(context, builder, origin, args[0])
            at = builder.ptrtoint(args[1], WORD)
            hooks.see_field(context, builder, record, name, at, where, kind)
            return args[1]

        return record(origin, record), codegen

    return reach


@intrinsic
def whole_read(typingctx, origin, value):  # type: ignore[no-untyped-def]
    """Record a read of a record, or of all elements of an array; return the value."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        where = origin_of(context, builder, origin, args[0])
        if isinstance(value, types.Record):
            at = builder.ptrtoint(args[1], WORD)
            hooks.see_value(context, builder, value, at, where, checker_state.LOAD)
        elif isinstance(value, types.Array):
            _see_all(context, builder, value, args[1], where, checker_state.LOAD)
        return impl_ret_borrowed(context, builder, value, args[1])

    return value(origin, value), codegen


def _see_all(
    context: Any, builder: Any, view: types.Array, value: Any, where: Any, kind: int
) -> None:
    """Record an access to all elements of a view; a contiguous view of known size is one access."""
    array = make_array(view)(context, builder, value)
    if isinstance(view, types.NestedArray):
        at = builder.ptrtoint(array.data, WORD)
        alignment = math.gcd(16, hooks.value_bytes(context, view.dtype))
        hooks.see_value(context, builder, view, at, where, kind, alignment)
        return
    shape = cgutils.unpack_tuple(builder, array.shape, view.ndim)
    with cgutils.loop_nest(builder, shape, WORD) as at:
        pointer = builder.ptrtoint(element_pointer(context, builder, view, array, list(at)), WORD)
        hooks.see_value(context, builder, view.dtype, pointer, where, kind)


@intrinsic
def part_checked(typingctx, origin, array, idx):  # type: ignore[no-untyped-def]
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
            view,
            data=whole.data,
            shape=cgutils.pack_array(builder, shape),
            strides=cgutils.pack_array(builder, strides),
            itemsize=whole.itemsize,
            meminfo=whole.meminfo,
            parent=whole.parent,
        )
        values = index_values(context, builder, idx, args[2])
        where = origin_of(context, builder, origin, args[0])
        checked_pointer(context, builder, first, view, values, where)
        return args[2]

    return idx(origin, array, idx), codegen


@intrinsic
def record_part(typingctx, origin, view):  # type: ignore[no-untyped-def]
    """Record a store to all elements of a view, before it is done."""
    if not isinstance(view, types.Array):
        raise TypingError("a part of an array is needed")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        where = origin_of(context, builder, origin, args[0])
        _see_all(context, builder, view, args[1], where, checker_state.STORE)
        return context.get_dummy_value()

    return types.void(origin, view), codegen
