"""Describe functions and values by strings that are reproducible across processes, and unique.

A function's description holds all that its machine code depends on: its source and what it
captured, arrays by their content and device functions by their own descriptions.
"""

from __future__ import annotations

import ast
import enum
import functools
import hashlib
import sys
from types import ModuleType
from typing import Any

import numpy as np

from gpukit.compiler import extensions
from gpukit.compiler.frontend import captures
from gpukit.compiler.unit import Unit

_PLAIN = (type(None), type(Ellipsis), bool, int, float, complex, str, bytes)
# Names in these refer to the same objects as long as the versions, or gpukit's digest, are equal.
_LIBRARIES = ("numpy", "numba", "math", "cmath", "operator", "_operator", "builtins", "gpukit")


class Unkeepable(Exception):
    """A captured value has no description that is valid in other processes."""


def kernel(unit: Unit) -> str:
    """Return the description of a kernel whose names are resolved.

    Captured arrays are arguments of its code, so their content does not matter.
    """
    arrays = {n: _form(captures.host(a)) for n, a in unit.captured.items()}
    return _function(unit, arrays, ())


def device(dispatcher: Any, callers: tuple[Any, ...] = ()) -> str:
    """Return the description of a device function.

    Numba makes captured NumPy arrays constants. Captured device arrays are arguments, because such
    functions are inlined.
    """
    from gpukit.compiler.frontend import resolve

    if any(dispatcher is c for c in callers):
        return "itself"
    unit = resolve.run(dispatcher.py_func, device=True)
    arrays = {
        n: _array(a) if isinstance(a, np.ndarray) else _form(captures.host(a))
        for n, a in unit.captured.items()
    }
    options = getattr(dispatcher, "device_options", {})
    declared = dispatcher.signatures if getattr(dispatcher, "device", False) else ()
    given = (dispatcher.py_func.__defaults__, sorted(options.items()), list(declared))
    return f"{_function(unit, arrays, (*callers, dispatcher))}\n{value(given)}"


def _function(unit: Unit, arrays: dict[str, str], callers: tuple[Any, ...]) -> str:
    if extensions.used(unit):
        raise Unkeepable
    at = f"{unit.source.file}:{unit.source.tree.lineno}:{unit.name}"
    lines = [at, *(ast.dump(t, include_attributes=False) for t in unit.trees), _lines(unit)]
    for name, captured in sorted(unit.globals.items()):
        if name in arrays:
            lines.append(f"{name}={arrays[name]}")
        elif name in unit.devices:
            lines.append(f"{name}={device(captured, callers)}")
        else:
            lines.append(f"{name}={value(captured)}")
    return "\n".join(lines)


def _lines(unit: Unit) -> str:
    """Return the line numbers in a tree, which errors report."""
    nodes = (n for function in unit.trees for n in ast.walk(function))
    return ",".join(str(n.lineno) for n in nodes if isinstance(n, ast.stmt))


def value(given: Any) -> str:
    """Return the description of a value; raise `Unkeepable` if it has none.

    >>> value((1, True, 1.0, np.float32(2), len)) == value((1, 1, 1.0, np.float32(2), len))
    False
    """
    if type(given) in _PLAIN:
        return f"{type(given).__name__}:{given!r}"
    if isinstance(given, enum.Enum):
        return f"{type(given).__module__}.{type(given).__qualname__}:{value(given.value)}"
    if isinstance(given, (np.ndarray, np.generic)):
        return _array(np.asarray(given)) + f" of {type(given).__name__}"
    if isinstance(given, np.dtype):
        return f"{given!r}:{given.itemsize}:{given.isalignedstruct}"
    if isinstance(given, (tuple, list)):
        fields = getattr(given, "_fields", "")
        return f"{type(given).__qualname__}{fields}({','.join(map(value, given))})"
    if isinstance(given, (set, frozenset)):
        return f"{{{','.join(sorted(map(value, given)))}}}"
    if isinstance(given, ModuleType):
        return f"module:{given.__name__}"
    if type(given).__module__.startswith("numba.core.types") and " at 0x" not in repr(given):
        return f"numba:{given!r}"
    return _named(given)


def _array(given: np.ndarray[Any, Any]) -> str:
    if given.dtype.hasobject:
        raise Unkeepable
    return f"{_form(given)}{hashlib.sha256(given.tobytes()).hexdigest()}"


def _form(given: np.ndarray[Any, Any]) -> str:
    flags = given.flags
    layout = flags.c_contiguous, flags.f_contiguous, flags.aligned, flags.writeable
    return f"{value(given.dtype)}{given.shape}{layout}"


def _named(given: Any) -> str:
    """Return the name of an object in a library."""
    module = "numpy" if isinstance(given, np.ufunc) else getattr(given, "__module__", None) or ""
    name = getattr(given, "__qualname__", None) or getattr(given, "__name__", "")
    if module.partition(".")[0] in _LIBRARIES and module in sys.modules and name:
        try:
            found = functools.reduce(getattr, name.split("."), sys.modules[module])
        except AttributeError:
            raise Unkeepable from None
        if found is given:
            return f"{module}.{name}"
    raise Unkeepable
