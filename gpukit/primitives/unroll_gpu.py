"""Loop unrolling, for Numba's CUDA target.

Kernels import `primitives.unroll`; this file imports nothing of gpukit, so that the
compilers' own process (`gpukit.gpu_code`) can load it too.
"""

from __future__ import annotations

from typing import Any

from numba.cuda import types
from numba.cuda.core.errors import TypingError
from numba.cuda.extending import overload

MOST = 64  # steps; the code of more exceeds any instruction cache


def unrolled(count: int, step: Any, *arguments: Any) -> None:
    """Call step(k, *arguments) for k = 0 to count - 1, unrolled."""
    raise NotImplementedError("unrolled: only kernels and device functions can call it.")


@overload(unrolled, prefer_literal=True, jit_options={"forceinline": True})
def _unrolled(count, step, *arguments):  # type: ignore[no-untyped-def]
    if not isinstance(count, types.IntegerLiteral):
        raise TypingError(f"the number of steps to unroll must be a constant, not {count}")
    if not 0 <= count.literal_value <= MOST:
        raise TypingError(f"at most {MOST} steps can be unrolled, not {count.literal_value}")
    calls = "".join(f"    step({k}, *arguments)\n" for k in range(count.literal_value))
    scope: dict[str, Any] = {}
    exec(f"def written_out(count, step, *arguments):\n{calls}    return\n", scope)
    return scope["written_out"]
