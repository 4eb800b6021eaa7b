"""16-byte vectorized access on a GPU: intrinsics for Numba's CUDA target.

Numba loads one element at a time. LLVM merges neighbouring loads only where it can prove that the
address is a multiple of 16, which it cannot for an argument; here the access itself states the
alignment. Kernels import `primitives.vectorized`; this file imports nothing of gpukit, so that the
compilers' own process (`gpukit.gpu_code`) can load it too.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.cuda import types
from numba.cuda.core.errors import TypingError
from numba.cuda.extending import intrinsic

_FLOAT4 = ir.VectorType(ir.FloatType(), 4)
_LANES = [ir.Constant(ir.IntType(32), lane) for lane in range(4)]


def _require(array: Any, k: Any) -> None:
    if not isinstance(array, types.Array) or (array.ndim, array.dtype, array.layout) != (
        1,
        types.float32,
        "C",
    ):
        raise TypingError(f"float4 access needs a contiguous float32 vector, not {array}")
    if not isinstance(k, types.Integer):
        raise TypingError(f"the index of four elements must be an integer, not {k}")


def _pointer(context: Any, builder: Any, kinds: Any, array: Any, k: Any) -> Any:
    data = context.make_array(kinds[0])(context, builder, array).data
    float4s = builder.bitcast(data, _FLOAT4.as_pointer(data.type.addrspace))
    return builder.gep(float4s, [context.cast(builder, k, kinds[1], types.int64)])


@intrinsic
def load4(typingctx, array, k):  # type: ignore[no-untyped-def]
    """Return array[4 k] to array[4 k + 3], loaded at once."""
    _require(array, k)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        loaded = builder.load(_pointer(context, builder, signature.args, *args))
        loaded.align = 16
        values = [builder.extract_element(loaded, lane) for lane in _LANES]
        return context.make_tuple(builder, signature.return_type, values)

    return types.UniTuple(types.float32, 4)(array, k), codegen


@intrinsic
def store4(typingctx, array, k, a, b, c, d):  # type: ignore[no-untyped-def]
    """Store a, b, c, d to array[4 k] to array[4 k + 3] at once."""
    _require(array, k)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        made = ir.Constant(_FLOAT4, ir.Undefined)
        for value, lane in zip(args[2:], _LANES, strict=True):
            made = builder.insert_element(made, value, lane)
        stored = builder.store(made, _pointer(context, builder, signature.args, *args[:2]))
        stored.align = 16
        return context.get_dummy_value()

    return types.void(array, k, *[types.float32] * 4), codegen
