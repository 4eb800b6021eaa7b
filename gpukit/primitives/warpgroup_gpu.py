"""Tensor cores of Hopper (wgmma): intrinsics for Numba's CUDA target.

Kernels import `primitives.warpgroup`; this file imports nothing of gpukit, so that the
compilers' own process (`gpukit.gpu_code`) can load it too.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.cuda import types
from numba.cuda.core.errors import TypingError
from numba.cuda.extending import intrinsic

_FLOAT, _INT, _LONG, _BYTE = ir.FloatType(), ir.IntType(32), ir.IntType(64), ir.IntType(8)
_SHARED = 3  # address space
_SUMS = 64
# The operands after the descriptors: add to the sums, both signs kept, a as it is, b transposed.
_WGMMA = "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%s}, $%d, $%d, 1, 1, 1, 0, 1;"


def _instruction(text: str) -> Any:
    """Return the typing of an intrinsic that is one instruction without operands."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.asm(kind, text, "~{memory}", [], side_effect=True)
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def fence_shared(typingctx):  # type: ignore[no-untyped-def]
    """Make this thread's stores to shared memory visible to wgmma, from the next barrier on."""
    return _instruction("fence.proxy.async.shared::cta;")


@intrinsic
def begin(typingctx):  # type: ignore[no-untyped-def]
    """Order a thread's earlier use of its sums before the wgmma that follow."""
    return _instruction("wgmma.fence.sync.aligned;")


@intrinsic
def finish(typingctx):  # type: ignore[no-untyped-def]
    """Wait for all wgmma that were issued."""
    return _instruction("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;")


@intrinsic
def wgmma(typingctx, acc, a_tile, i, b_tile, j, k):  # type: ignore[no-untyped-def]
    """Add the product of 64 rows of a_tile and 128 columns of b_tile to a thread's sums."""
    for tile in (a_tile, b_tile):
        if not isinstance(tile, types.Array) or (tile.ndim, tile.dtype) != (4, types.uint16):
            raise TypingError(f"a warpgroup takes tiles of uint16 with four axes, not {tile}")
    if not isinstance(acc, types.Array) or (acc.ndim, acc.dtype) != (1, types.float32):
        raise TypingError(f"a warpgroup adds to a float32 vector of {_SUMS}, not to {acc}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        first, second, third = (
            context.cast(builder, args[n], signature.args[n], types.int64) for n in (2, 4, 5)
        )
        # Of a, the summed axis is the second, along which two matrices are read; of b the first.
        a = _descriptor(context, builder, a_tile, args[1], (first, third), leading=1, other=0)
        b = _descriptor(context, builder, b_tile, args[3], (third, second), leading=0, other=1)
        data = context.make_array(acc)(context, builder, args[0]).data
        pointers = [builder.gep(data, [ir.Constant(_LONG, n)]) for n in range(_SUMS)]
        registers = ",".join(f"${n}" for n in range(_SUMS))
        made = builder.asm(
            ir.FunctionType(ir.LiteralStructType([_FLOAT] * _SUMS), [_FLOAT] * _SUMS + [_LONG] * 2),
            _WGMMA % (registers, 2 * _SUMS, 2 * _SUMS + 1),
            ",".join(["=f"] * _SUMS + [str(n) for n in range(_SUMS)] + ["l", "l"]),
            [builder.load(pointer) for pointer in pointers] + [a, b],
            side_effect=True,
        )
        for n, pointer in enumerate(pointers):
            builder.store(builder.extract_value(made, n), pointer)
        return context.get_dummy_value()

    return types.void(acc, a_tile, i, b_tile, j, k), codegen


def _descriptor(
    context: Any, builder: Any, kind: Any, tile: Any, at: Any, *, leading: int, other: int
) -> Any:
    """Return the matrix descriptor of the part of a tile that begins with the matrix `at`.

    Bits 0 to 13 are its start address in shared memory, 16 to 29 the stride along the summed axis
    (`leading`), 32 to 45 the one along the other, each in units of 16 bytes; no swizzling.
    """
    given = context.make_array(kind)(context, builder, tile)
    strides = [builder.extract_value(given.strides, axis) for axis in range(2)]
    offset = builder.add(builder.mul(at[0], strides[0]), builder.mul(at[1], strides[1]))
    begin = builder.bitcast(given.data, _BYTE.as_pointer(given.data.type.addrspace))
    there = builder.addrspacecast(builder.gep(begin, [offset]), _BYTE.as_pointer(_SHARED))
    address = builder.zext(builder.ptrtoint(there, _INT), _LONG)
    four = ir.Constant(_LONG, 4)
    described = builder.lshr(builder.and_(address, ir.Constant(_LONG, 0x3FFFF)), four)
    for stride, bit in ((strides[leading], 16), (strides[other], 32)):
        units = builder.and_(builder.lshr(stride, four), ir.Constant(_LONG, 0x3FFF))
        described = builder.or_(described, builder.shl(units, ir.Constant(_LONG, bit)))
    return described
