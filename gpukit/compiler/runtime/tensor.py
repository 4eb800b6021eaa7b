"""What tensor cores do to single numbers: rounding, for `gpukit.tensor` without a GPU."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

_INT = ir.IntType(32)
_LOST = 13  # of the 23 bits of a float32's fraction TF32 keeps 10


@intrinsic
def rounded_to_tf32(typingctx, x):  # type: ignore[no-untyped-def]
    """Return a float32 rounded to the 10 bits of fraction that TF32 has, halves away from zero."""
    if x != types.float32:
        raise TypingError(f"TF32 is rounded from float32, not from {x}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bits = builder.bitcast(args[0], _INT)
        half, mask = ir.Constant(_INT, 1 << (_LOST - 1)), ir.Constant(_INT, -1 << _LOST)
        rounded = builder.bitcast(builder.and_(builder.add(bits, half), mask), ir.FloatType())
        is_nan: Any = builder.fcmp_unordered("uno", args[0], args[0])
        return builder.select(is_nan, args[0], rounded)

    return types.float32(x), codegen
