"""Access memory by address, for the checker's native functions."""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from gpukit.compiler.runtime.compiled import compiled

_WORD = ir.IntType(64)
ALL_SET = 0x0101010101010101  # eight flags, each a byte, as one word


def _reader(kind: types.Type, bits: int):  # type: ignore[no-untyped-def]
    @intrinsic
    def read(typingctx, address, k):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            base = builder.inttoptr(args[0], ir.IntType(bits).as_pointer())
            value = builder.load(builder.gep(base, [args[1]]))
            return value if bits == 64 else builder.zext(value, _WORD)

        return types.int64(types.int64, types.int64), codegen

    return read


def _writer(bits: int):  # type: ignore[no-untyped-def]
    @intrinsic
    def write(typingctx, address, k, value):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            base = builder.inttoptr(args[0], ir.IntType(bits).as_pointer())
            value = args[2] if bits == 64 else builder.trunc(args[2], ir.IntType(bits))
            builder.store(value, builder.gep(base, [args[1]]))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64), codegen

    return write


@intrinsic
def invoke(typingctx, function, arguments):  # type: ignore[no-untyped-def]
    """Call the C function at an address with a tuple of words."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        count = len(arguments)
        words = [builder.extract_value(args[1], k) for k in range(count)]
        kind = ir.FunctionType(_WORD, [_WORD] * count)
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), words)

    return types.int64(types.int64, arguments), codegen


peek = _reader(types.int64, 64)  # peek(address, k): the k-th 64-bit word from an address
peek8 = _reader(types.int64, 8)
poke = _writer(64)
poke8 = _writer(8)


@compiled
def first_set(flags, k, count):  # type: ignore[no-untyped-def]
    """Return the index of the first set flag, from k on, of bytes at an address; else `count`."""
    while k + 8 <= count and peek(flags + k, 0) == 0:
        k += 8
    while k < count and peek8(flags, k) == 0:
        k += 1
    return k
