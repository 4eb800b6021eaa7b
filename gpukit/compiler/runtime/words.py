"""Code of intrinsics that writes words of a kernel's context and converts indices to words."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from gpukit.compiler import checker_state
from gpukit.compiler import context as layout

WORD = ir.IntType(64)
BYTE_PTR = ir.IntType(8).as_pointer()


class KernelAbort(Exception):
    """Unwinds a compiled kernel; the reason is in its context."""


def word_pointer(builder: Any, address: Any, word: int) -> Any:
    """Return a pointer to one word of the context."""
    base = builder.inttoptr(address, WORD.as_pointer())
    return builder.gep(base, [ir.Constant(ir.IntType(32), word)])


def put(builder: Any, address: Any, word: int, value: Any) -> None:
    """Write one word of the context."""
    builder.store(value, word_pointer(builder, address, word))


def abort(context: Any, builder: Any, address: Any, code: int, location: Any, thread: Any) -> None:
    """Store the reason in the context and leave the kernel with an error status."""
    note(builder, address, code, location, thread)
    leave(context, builder)


def note(builder: Any, address: Any, code: int, location: Any, thread: Any) -> None:
    """Store in the context why, where and by which thread a kernel is stopped."""
    put(builder, address, layout.CODE, ir.Constant(WORD, code))
    location = builder.and_(location, ir.Constant(WORD, checker_state.location_number(-1)))
    put(builder, address, layout.LOCATION, location)
    for k, value in enumerate(thread):
        put(builder, address, layout.THREAD + k, value)


def leave(context: Any, builder: Any) -> None:
    """Leave the kernel with an error status."""
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
