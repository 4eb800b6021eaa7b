"""Four float32 as one element of 16 bytes, and back: what `gpukit.wide` moves without a GPU.

A complex128 has the size, and every part of the compiler knows how to load, store, check and count
one. Nothing is computed with it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

_WORD, _HALF, _FLOAT = ir.IntType(64), ir.IntType(32), ir.FloatType()


def _require(array: Any) -> None:
    if not isinstance(array, types.Array) or (array.ndim, array.dtype, array.layout) != (
        1,
        types.float32,
        "C",
    ):
        raise TypingError(f"four elements at once need a contiguous float32 vector, not {array}")


@intrinsic
def quads(typingctx, array):  # type: ignore[no-untyped-def]
    """Return a float32 vector as one of complex128; up to three elements at its end are left out.

    `array.view(np.complex128)` without what that checks and computes at each call.
    """
    _require(array)
    kind = types.Array(types.complex128, 1, "C", readonly=not array.mutable)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        given = make_array(array)(context, builder, args[0])
        made = make_array(kind)(context, builder)
        (count,) = cgutils.unpack_tuple(builder, given.shape, 1)
        size, itemsize = builder.sdiv(count, ir.Constant(_WORD, 4)), ir.Constant(_WORD, 16)
        populate_array(
            made,
            data=builder.bitcast(given.data, context.get_data_type(types.complex128).as_pointer()),
            shape=cgutils.pack_array(builder, [size]),
            strides=cgutils.pack_array(builder, [itemsize]),
            itemsize=itemsize,
            meminfo=given.meminfo,
            parent=given.parent,
        )
        return made._getvalue()

    return kind(array), codegen


@intrinsic
def parted(typingctx, quad):  # type: ignore[no-untyped-def]
    """Return the four float32 whose bits a complex128 holds."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        both = context.make_complex(builder, types.complex128, value=args[0])
        values = []
        for double in (both.real, both.imag):
            word = builder.bitcast(double, _WORD)
            for bits in (word, builder.lshr(word, ir.Constant(_WORD, 32))):
                values.append(builder.bitcast(builder.trunc(bits, _HALF), _FLOAT))
        return context.make_tuple(builder, signature.return_type, values)

    return types.UniTuple(types.float32, 4)(types.complex128), codegen


@intrinsic
def joined(typingctx, a, b, c, d):  # type: ignore[no-untyped-def]
    """Return the complex128 that holds the bits of four float32."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        halves = [builder.zext(builder.bitcast(v, _HALF), _WORD) for v in args]
        made = context.make_complex(builder, types.complex128)
        for name, low, high in (("real", *halves[:2]), ("imag", *halves[2:])):
            word = builder.or_(low, builder.shl(high, ir.Constant(_WORD, 32)))
            setattr(made, name, builder.bitcast(word, ir.DoubleType()))
        return made._getvalue()

    return types.complex128(*[types.float32] * 4), codegen
