"""Dot products of four int8 on a GPU: an intrinsic for Numba's CUDA target.

Kernels import `primitives.dot4`; this file imports nothing of gpukit, so that the
compilers' own process (`gpukit.gpu_code`) can load it too.
"""

from __future__ import annotations

from llvmlite import ir
from numba.cuda import types
from numba.cuda.core.errors import TypingError
from numba.cuda.extending import intrinsic

_INT = ir.IntType(32)


@intrinsic
def dot4(typingctx, a, b, c):  # type: ignore[no-untyped-def]
    """Return c plus the dot product of the four int8 in a and the four in b."""
    given = (a, b, c)
    if not all(isinstance(kind, types.Integer) and kind.bitwidth <= 32 for kind in given):
        raise TypingError(f"dot4 takes two int32 words and an int32, not {given}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        words = [
            context.cast(builder, value, kind, types.int32)
            for value, kind in zip(args, signature.args, strict=True)
        ]
        kind = ir.FunctionType(_INT, [_INT] * 3)
        text = "dp4a.s32.s32 $0, $1, $2, $3;"
        return builder.asm(kind, text, "=r,r,r,r", words, side_effect=False)

    return types.int32(a, b, c), codegen
