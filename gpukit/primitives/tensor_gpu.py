"""Tensor cores on a GPU: intrinsics for Numba's CUDA target.

Kernels import `primitives.tensor`; this file imports nothing of gpukit, so that the
compilers' own process (`gpukit.gpu_code`) can load it too.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.cuda import types
from numba.cuda.core.errors import TypingError
from numba.cuda.extending import intrinsic

_FLOAT, _INT, _SHORT, _LONG = ir.FloatType(), ir.IntType(32), ir.IntType(16), ir.IntType(64)
_SHARED = 3  # address space
_UPPER = 16  # bits of a float32: those of the bfloat16 that it is rounded to
_NAN = 0x7FFF  # the bfloat16 to which any NaN is converted
_SHAPES = {
    types.float32: "m16n8k8.row.col.f32.tf32.tf32",
    types.uint32: "m16n8k16.row.col.f32.bf16.bf16",
}
_MMA = "mma.sync.aligned.%s.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};"


@intrinsic
def to_tf32(typingctx, x):  # type: ignore[no-untyped-def]
    """Return a float32 rounded to TF32, to nearest, ties away from zero."""
    if x != types.float32:
        raise TypingError(f"TF32 is rounded from float32, not from {x}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(_INT, [_FLOAT])
        bits = builder.asm(kind, "cvt.rna.tf32.f32 $0, $1;", "=r,f", args, side_effect=False)
        return builder.bitcast(bits, _FLOAT)

    return types.float32(x), codegen


@intrinsic
def to_bf16(typingctx, x):  # type: ignore[no-untyped-def]
    """Return the bits of the bfloat16 nearest to a float32, ties to even.

    The instruction for it, cvt.rn.bf16.f32, needs compute capability 8.0; this does not.
    """
    if x != types.float32:
        raise TypingError(f"bfloat16 is rounded from float32, not from {x}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bits = builder.bitcast(args[0], _INT)
        upper = ir.Constant(_INT, _UPPER)
        odd = builder.and_(builder.lshr(bits, upper), ir.Constant(_INT, 1))
        almost_half = ir.Constant(_INT, (1 << (_UPPER - 1)) - 1)
        rounded = builder.lshr(builder.add(bits, builder.add(almost_half, odd)), upper)
        is_nan: Any = builder.fcmp_unordered("uno", args[0], args[0])
        return builder.select(is_nan, ir.Constant(_SHORT, _NAN), builder.trunc(rounded, _SHORT))

    return types.uint16(x), codegen


@intrinsic
def float_of(typingctx, bits):  # type: ignore[no-untyped-def]
    """Return the float32 of a float16, or of a bfloat16, the lower 16 bits of an integer."""
    if not isinstance(bits, types.Integer) and bits != types.float16:
        raise TypingError(f"16 bits are a float16, or the bits of a bfloat16, not {bits}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        if bits == types.float16:
            return context.cast(builder, args[0], bits, types.float32)
        lower = context.cast(builder, args[0], bits, types.uint16)
        upper = builder.shl(builder.zext(lower, _INT), ir.Constant(_INT, _UPPER))
        return builder.bitcast(upper, _FLOAT)

    return types.float32(bits), codegen


@intrinsic
def mma_tf32(typingctx, a0, a1, a2, a3, b0, b1, c0, c1, c2, c3):  # type: ignore[no-untyped-def]
    """Return a thread's four elements of c + a b."""
    return _product(types.float32, "TF32 as float32", a0, a1, a2, a3, b0, b1, c0, c1, c2, c3)


@intrinsic
def mma_bf16(typingctx, a0, a1, a2, a3, b0, b1, c0, c1, c2, c3):  # type: ignore[no-untyped-def]
    """Return a thread's four elements of c + a b, where a and b are pairs of bfloat16."""
    return _product(types.uint32, "bfloat16 as uint32", a0, a1, a2, a3, b0, b1, c0, c1, c2, c3)


def _product(element: Any, words: str, *given: Any) -> Any:
    """Return the signature and the code of an intrinsic that multiplies small matrices."""
    if any(kind != element for kind in given[:6]) or any(k != types.float32 for k in given[6:]):
        raise TypingError(f"tensor cores take {words}, not {', '.join(map(str, given))}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        fragments = [builder.bitcast(value, _INT) for value in args[:6]]
        kind = ir.FunctionType(ir.LiteralStructType([_FLOAT] * 4), [_INT] * 6 + [_FLOAT] * 4)
        constraints = ",".join(["=f"] * 4 + ["r"] * 6 + ["f"] * 4)
        text = _MMA % _SHAPES[element]
        made = builder.asm(kind, text, constraints, [*fragments, *args[6:]], side_effect=True)
        values = [builder.extract_value(made, k) for k in range(4)]
        return context.make_tuple(builder, signature.return_type, values)

    return types.UniTuple(types.float32, 4)(*given), codegen


@intrinsic
def load_square(typingctx, tile, i, j):  # type: ignore[no-untyped-def]
    """Return a thread's four pairs of the square of which tile[i, j] is the first matrix."""
    return _loaded("ldmatrix.sync.aligned.m8n8.x4.shared.b16", tile, i, j)


@intrinsic
def load_square_transposed(typingctx, tile, i, j):  # type: ignore[no-untyped-def]
    """Return a thread's four pairs of the same square, each of one column."""
    return _loaded("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", tile, i, j)


def _loaded(instruction: str, tile: Any, i: Any, j: Any) -> Any:
    """Return the signature and the code of an intrinsic that loads four matrices of 8 x 8.

    Each lane passes the address of one row: lane l that of row l % 8 of matrix l // 8. The matrices
    are the first, the one below it, the one to its right, and the one below that.
    """
    if not isinstance(tile, types.Array) or (tile.ndim, tile.dtype) != (4, types.uint16):
        raise TypingError(f"squares are loaded from a tile of uint16 with four axes, not {tile}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        lane = builder.asm(
            ir.FunctionType(_INT, []), "mov.u32 $0, %laneid;", "=r", [], side_effect=False
        )
        lane = builder.zext(lane, _LONG)
        matrix = builder.lshr(lane, ir.Constant(_LONG, 3))
        first, second = (
            context.cast(builder, value, kind, types.int64)
            for value, kind in zip(args[1:], signature.args[1:], strict=True)
        )
        at = [
            builder.add(first, builder.and_(matrix, ir.Constant(_LONG, 1))),
            builder.add(second, builder.lshr(matrix, ir.Constant(_LONG, 1))),
            builder.and_(lane, ir.Constant(_LONG, 7)),
        ]
        given = context.make_array(tile)(context, builder, args[0])
        offset = ir.Constant(_LONG, 0)
        for axis, index in enumerate(at):
            stride = builder.extract_value(given.strides, axis)
            offset = builder.add(offset, builder.mul(index, stride))
        byte = ir.IntType(8)
        begin = builder.bitcast(given.data, byte.as_pointer(given.data.type.addrspace))
        row = builder.addrspacecast(builder.gep(begin, [offset]), byte.as_pointer(_SHARED))
        made = builder.asm(
            ir.FunctionType(ir.LiteralStructType([_INT] * 4), [_INT]),
            instruction + " {$0, $1, $2, $3}, [$4];",
            "=r,=r,=r,=r,r,~{memory}",
            [builder.ptrtoint(row, _INT)],
            side_effect=True,
        )
        values = [builder.extract_value(made, k) for k in range(4)]
        return context.make_tuple(builder, signature.return_type, values)

    return types.UniTuple(types.uint32, 4)(tile, i, j), codegen
