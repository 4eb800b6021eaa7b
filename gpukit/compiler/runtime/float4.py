"""16-byte accesses on a CPU: the element that `vectorized` and `async_copy` of `primitives` move.

A complex128 has this size, and every part of the compiler can load, store, check and count one.
Nothing is computed with it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

_SIXTEEN = 16
_WORD, _HALF, _FLOAT = ir.IntType(64), ir.IntType(32), ir.FloatType()


def _is_vector(array: Any) -> bool:
    return isinstance(array, types.Array) and (array.ndim, array.layout) == (1, "C")


@intrinsic
def as_float4(typingctx, array):  # type: ignore[no-untyped-def]
    """Return a float32 vector as one of complex128, without a remainder of up to three elements.

    This is `array.view(np.complex128)` without its checks and computations at each call.
    """
    if not _is_vector(array) or array.dtype != types.float32:
        raise TypingError(f"float4 access needs a contiguous float32 vector, not {array}")
    return _viewed(array)


@intrinsic
def as_16_bytes(typingctx, array, other):  # type: ignore[no-untyped-def]
    """Return a vector of numbers as one of complex128, without the remainder at its end.

    `other` is the vector at the other end of a copy.
    """
    if not _is_vector(array) or not isinstance(array.dtype, types.Number):
        raise TypingError(f"16 bytes are copied between contiguous vectors, not {array}")
    if getattr(other, "dtype", None) != array.dtype:
        raise TypingError(f"16 bytes are copied to a vector of one dtype, not {other}")
    signature, codegen = _viewed(array)
    return signature.return_type(array, other), codegen


def _viewed(array: Any) -> Any:
    """Return the signature and the code of an intrinsic that views a vector as complex128."""
    kind = types.Array(types.complex128, 1, "C", readonly=not array.mutable)
    each = _SIXTEEN * 8 // array.dtype.bitwidth

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        given = make_array(array)(context, builder, args[0])
        made = make_array(kind)(context, builder)
        (count,) = cgutils.unpack_tuple(builder, given.shape, 1)
        size = builder.sdiv(count, ir.Constant(_WORD, each))
        itemsize = ir.Constant(_WORD, _SIXTEEN)
        populate_array(
            made,
            data=builder.bitcast(given.data, context.get_data_type(types.complex128).as_pointer()),
            shape=cgutils.pack_array(builder, [size]),
            strides=cgutils.pack_array(builder, [itemsize]),
            itemsize=itemsize,
            meminfo=given.meminfo,
            parent=given.parent,
        )
        # Plain Numba loops count references, kernels do not; the view is another reference.
        return impl_ret_borrowed(context, builder, kind, made._getvalue())

    return kind(array), codegen


@intrinsic
def parted(typingctx, float4):  # type: ignore[no-untyped-def]
    """Return the four float32 values whose bits a complex128 holds."""

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
    """Return the complex128 that holds the bits of four float32 values."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        halves = [builder.zext(builder.bitcast(v, _HALF), _WORD) for v in args]
        made = context.make_complex(builder, types.complex128)
        for name, low, high in (("real", *halves[:2]), ("imag", *halves[2:])):
            word = builder.or_(low, builder.shl(high, ir.Constant(_WORD, 32)))
            setattr(made, name, builder.bitcast(word, ir.DoubleType()))
        return made._getvalue()

    return types.complex128(*[types.float32] * 4), codegen
