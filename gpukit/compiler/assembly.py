"""Reject inline assembly in kernels: it is PTX, on which LLVM would abort the process.

Code generators of an `@intrinsic` emit it with `builder.asm(...)` or `llvmlite.ir.InlineAsm`.
"""

from __future__ import annotations

import contextlib
import linecache
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from llvmlite.ir.instructions import InlineAsm

from gpukit import errors


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """Raise `errors.Unsupported` for inline assembly that is emitted inside a `with` block."""
    init = InlineAsm.__init__

    def checked(self: Any, ftype: Any, asm: str, *rest: Any, **named: Any) -> None:
        if asm.strip():  # an empty text emits no instruction: it hides a value from LLVM
            raise _error(asm, sys._getframe(1))
        init(self, ftype, asm, *rest, **named)

    InlineAsm.__init__ = checked
    try:
        yield
    finally:
        InlineAsm.__init__ = init


def _error(asm: str, frame: FrameType | None) -> errors.Unsupported:
    name, place = "A function", dict[str, Any]()
    while frame is not None and not place:
        called = getattr(frame.f_locals.get("fnty"), "typing_key", None)
        name = getattr(called, "_name", getattr(called, "__name__", name))
        place = _place(frame.f_locals.get("self"))
        frame = frame.f_back
    return errors.Unsupported(
        f"{name} uses inline assembly, which runs only on a GPU: {asm.strip()[:60]!r}.",
        **place,
        fix="call a function of math or cuda.libdevice that does the same, "
        "or run this kernel on a GPU (GPUKIT_TARGET=cuda)",
    )


def _place(lowering: Any) -> dict[str, Any]:
    """Return the line that Numba is lowering, if this object is its lowering."""
    where, function = getattr(lowering, "loc", None), getattr(lowering, "func_ir", None)
    if where is None or function is None:
        return {}
    source = linecache.getline(where.filename, where.line).rstrip("\n")
    name = function.func_id.func_name
    return {"kernel": name, "file": where.filename, "line": where.line, "source": source}
