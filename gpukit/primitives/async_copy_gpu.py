"""Asynchronous copies to shared memory (cp.async): intrinsics for Numba's CUDA target.

Kernels import `primitives.async_copy`; this file imports nothing of gpukit, so that the
compilers' own process (`gpukit.gpu_code`) can load it too.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.cuda import types
from numba.cuda.core.errors import TypingError
from numba.cuda.extending import intrinsic

_BYTE, _INT, _LONG = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_SHARED, _GLOBAL = 3, 1  # address spaces
_SIZE = 16


def _require(target: Any, source: Any) -> None:
    for array in (target, source):
        if not isinstance(array, types.Array) or (array.ndim, array.layout) != (1, "C"):
            raise TypingError(f"sixteen bytes are copied between contiguous vectors, not {array}")
    if target.dtype != source.dtype:
        raise TypingError(f"sixteen bytes are copied to a vector of one dtype, not {target.dtype}")


def _address(context: Any, builder: Any, kind: Any, array: Any, at: Any, space: int) -> Any:
    """Return the address of the sixteen bytes at index `at` of an array, in its address space."""
    data = context.make_array(kind)(context, builder, array).data
    begin = builder.bitcast(data, _BYTE.as_pointer(data.type.addrspace))
    there = builder.gep(begin, [builder.mul(at, ir.Constant(_LONG, _SIZE))])
    return builder.ptrtoint(
        builder.addrspacecast(there, _BYTE.as_pointer(space)), _INT if space == _SHARED else _LONG
    )


@intrinsic
def copy16(typingctx, target, k, source, j, inside):  # type: ignore[no-untyped-def]
    """Copy bytes 16 j to 16 j + 15 of source, or zeros, to byte 16 k of target, asynchronously."""
    _require(target, source)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        kinds = signature.args
        to, where = (context.cast(builder, args[n], kinds[n], types.int64) for n in (1, 3))
        wanted = context.cast(builder, args[4], kinds[4], types.boolean)
        size = builder.select(wanted, ir.Constant(_INT, _SIZE), ir.Constant(_INT, 0))
        builder.asm(
            ir.FunctionType(ir.VoidType(), [_INT, _LONG, _INT]),
            "cp.async.cg.shared.global [$0], [$1], 16, $2;",
            "r,l,r,~{memory}",
            [
                _address(context, builder, kinds[0], args[0], to, _SHARED),
                _address(context, builder, kinds[2], args[2], where, _GLOBAL),
                size,
            ],
            side_effect=True,
        )
        return context.get_dummy_value()

    return types.void(target, k, source, j, inside), codegen


def _emit(context: Any, builder: Any, text: str) -> Any:
    kind = ir.FunctionType(ir.VoidType(), [])
    builder.asm(kind, text, "~{memory}", [], side_effect=True)
    return context.get_dummy_value()


@intrinsic
def commit(typingctx):  # type: ignore[no-untyped-def]
    """Make one group of the copies since the last call."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return _emit(context, builder, "cp.async.commit_group;")

    return types.void(), codegen


@intrinsic
def wait(typingctx, count):  # type: ignore[no-untyped-def]
    """Wait until at most the `count` latest groups are still in flight."""
    if not isinstance(count, types.IntegerLiteral) or count.literal_value < 0:
        raise TypingError(f"how many groups may be in flight must be a constant, not {count}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return _emit(context, builder, f"cp.async.wait_group {count.literal_value};")

    return types.void(count), codegen
