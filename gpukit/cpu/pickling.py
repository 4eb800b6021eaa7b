"""Pickling of kernels and device functions, for other processes and for copies."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from gpukit.compiler.frontend import unsaved


def reduced(made: Any, make: Callable[..., Any], *rest: Any) -> Any:
    """Return what `__reduce__` must return for a decorated function.

    If its module has it under its name, it is pickled by reference, except in a notebook or at a
    prompt, which no other process can import. Otherwise `make(function, *rest)` recreates it from
    the function by value: its code and what it captured, and its source where no file has it.
    """
    found: Any = _importable(made.__module__)
    for name in made.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is made:
        return made.__qualname__
    from numba import cloudpickle

    text = unsaved.known(made.py_func)
    return _made, (make, cloudpickle.dumps(made.py_func), text, *rest)


def _importable(name: str) -> Any:
    """Return a module that another process may import, or None."""
    module = sys.modules.get(name)
    return None if name == "__main__" and not hasattr(module, "__file__") else module


def _made(make: Callable[..., Any], pickled: bytes, text: str, *rest: Any) -> Any:
    from numba import cloudpickle

    function = cloudpickle.loads(pickled)
    if text:
        unsaved.keep(function, text)
    return make(function, *rest)
