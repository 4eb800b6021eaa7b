"""Tensor cores on a GPU: intrinsics for Numba's CUDA target.

`gpukit.tensor` is what kernels import; this file imports nothing of gpukit, so that the compilers'
own process (`gpukit.gpu_code`) can read it too.
"""

from __future__ import annotations

from llvmlite import ir
from numba.cuda import types
from numba.cuda.core.errors import TypingError
from numba.cuda.extending import intrinsic

_FLOAT, _INT = ir.FloatType(), ir.IntType(32)
_MMA = (
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
    "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};"
)


@intrinsic
def to_tf32(typingctx, x):  # type: ignore[no-untyped-def]
    """Return a float32 rounded to TF32, to the nearest, halves away from zero."""
    if x != types.float32:
        raise TypingError(f"TF32 is rounded from float32, not from {x}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(_INT, [_FLOAT])
        bits = builder.asm(kind, "cvt.rna.tf32.f32 $0, $1;", "=r,f", args, side_effect=False)
        return builder.bitcast(bits, _FLOAT)

    return types.float32(x), codegen


@intrinsic
def mma_tf32(typingctx, a0, a1, a2, a3, b0, b1, c0, c1, c2, c3):  # type: ignore[no-untyped-def]
    """Return a thread's four elements of c + a b."""
    given = (a0, a1, a2, a3, b0, b1, c0, c1, c2, c3)
    if any(kind != types.float32 for kind in given):
        raise TypingError(f"tensor cores take TF32 as float32, not {', '.join(map(str, given))}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        fragments = [builder.bitcast(value, _INT) for value in args[:6]]
        kind = ir.FunctionType(ir.LiteralStructType([_FLOAT] * 4), [_INT] * 6 + [_FLOAT] * 4)
        constraints = ",".join(["=f"] * 4 + ["r"] * 6 + ["f"] * 4)
        made = builder.asm(kind, _MMA, constraints, [*fragments, *args[6:]], side_effect=True)
        values = [builder.extract_value(made, k) for k in range(4)]
        return context.make_tuple(builder, signature.return_type, values)

    return types.UniTuple(types.float32, 4)(*given), codegen
