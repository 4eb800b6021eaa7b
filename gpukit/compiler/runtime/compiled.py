"""How Numba compiles the functions that compiled kernels call: once for the types of arguments.

Left alone, it compiles a function anew for each constant among them, and writes what Python would
need to call it, which never does. LLVM inlines these functions, constants and all.
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
    """Return a function that LLVM must put in at its calls."""
    return without_literals(jit(forceinline=True, **OPTIONS)(function))


def without_literals(dispatcher: Any, first: int | None = None) -> Any:
    """Let a dispatcher take constants by their types: all arguments, or the `first` so many."""
    template = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        plain = [types.unliteral(a) for a in args[:first]]
        rest = [] if first is None else args[first:]
        return template([*plain, *rest], kws)

    dispatcher.get_call_template = get_call_template
    return dispatcher
