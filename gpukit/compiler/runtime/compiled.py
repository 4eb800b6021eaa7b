"""Compile the functions that kernels call: once for the types of their arguments.

By default Numba compiles a function for each constant argument again, and adds a wrapper for calls
from Python, which never happen. LLVM inlines these functions and propagates constants.
"""

from __future__ import annotations

from typing import Any

from numba.core import types

from gpukit.compiler.kernel_target import jit

OPTIONS = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(function: Any) -> Any:
    """Return a function for kernels to call."""
    return without_literals(jit(**OPTIONS)(function))


def inlined(function: Any) -> Any:
    """Return a function that LLVM must always inline."""
    return without_literals(jit(forceinline=True, **OPTIONS)(function))


def without_literals(dispatcher: Any, first: int | None = None) -> Any:
    """Make a dispatcher ignore values of constant arguments: of all, or of the first `first`."""
    template = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        plain = [types.unliteral(a) for a in args[:first]]
        rest = [] if first is None else args[first:]
        return template([*plain, *rest], kws)

    dispatcher.get_call_template = get_call_template
    return dispatcher
