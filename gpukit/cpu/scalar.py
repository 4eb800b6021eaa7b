"""A device function as a plain Numba function: for ufuncs, reductions and host-side loops.

Such functions have no threads, so Numba compiles them as they are. Device functions that they
call are converted to Numba functions too, wherever their names are bound.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

_compiled: dict[Callable[..., Any], Any] = {}


def _is_device_function(value: Any) -> bool:
    module = type(value).__module__ or ""
    return module.startswith("gpukit.") and isinstance(
        getattr(value, "py_func", None), types.FunctionType
    )


def _names(code: types.CodeType) -> set[str]:
    """Return the global names that a function's code, or a function inside it, uses."""
    names = set(code.co_names)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            names |= _names(const)
    return names


def _replaced(value: Any) -> Any:
    return as_njit(value) if _is_device_function(value) else value


def with_numba_functions(func: types.FunctionType) -> types.FunctionType:
    """Return `func` with every device function that it names replaced by a Numba function."""
    used = {n: func.__globals__[n] for n in _names(func.__code__) if n in func.__globals__}
    cells = tuple(types.CellType(_replaced(c.cell_contents)) for c in func.__closure__ or ())
    if not any(_is_device_function(v) for v in used.values()) and not any(
        _is_device_function(c.cell_contents) for c in func.__closure__ or ()
    ):
        return func
    scope = {**func.__globals__, **{n: _replaced(v) for n, v in used.items()}}
    made = types.FunctionType(func.__code__, scope, func.__name__, func.__defaults__, cells)
    made.__kwdefaults__ = func.__kwdefaults__
    made.__doc__ = func.__doc__
    return made


def as_njit(func: Any) -> Any:
    """Return a function, or a device function, as a Numba function for the CPU.

    >>> as_njit(lambda a, b: a + b)(1, 2)
    3
    """
    import numba

    if isinstance(func, numba.core.dispatcher.Dispatcher):
        return func
    plain = func.py_func if hasattr(func, "py_func") else func
    if plain not in _compiled:
        options = {"nogil": True, "error_model": "numpy"}
        _compiled[plain] = numba.njit(**options)(with_numba_functions(plain))
    return _compiled[plain]
