"""Suggest what to write for an undefined name in a kernel."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from gpukit.compiler import intrinsics

_BUILTINS = ("range", "min", "max", "abs", "len", "print", "round", "enumerate", "zip", "float")
# Functions of math that GPUs lack.
_HOST_ONLY = frozenset(
    [
        "cbrt",
        "comb",
        "dist",
        "exp2",
        "factorial",
        "fma",
        "fsum",
        "gcd",
        "isclose",
        "isqrt",
        "lcm",
        "nextafter",
        "perm",
        "prod",
        "sumprod",
        "ulp",
    ]
)
_NEAR = 0.8  # required similarity to a name in a module; to the user's own names 0.6, as in difflib


def advice(name: str, own: Collection[str], scope: dict[str, Any]) -> str:
    """Return what to write instead of `name`; `own` are the local names, `scope` the globals.

    >>> advice("floor", [], {"math": math}), advice("totl", ["total"], {})
    ('write math.floor', "did you mean 'total'?")
    """
    known = dict(_qualified(scope))
    if name in known:
        return _write(known[name], scope)
    alike = {n: _ratio(name, n) for n in (*own, *_BUILTINS)}
    alike = {n: r for n, r in alike.items() if r >= 0.6}
    others = {n: r for n in known if (r := _ratio(name, n)) >= _NEAR}
    best = max(others, key=others.__getitem__, default="")
    if best and others[best] > max(alike.values(), default=0):
        return f"did you mean {known[best]}?"
    if alike:
        return f"did you mean {max(alike, key=alike.__getitem__)!r}?"
    return "define it, or pass it as an argument"


def _ratio(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, other, one).ratio()


def _qualified(scope: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the names in modules for kernels, each with its spelling; the last of a name counts.

    A module has the name under which the user imported it.
    """
    spelled, cuda = next(filter(_is_cuda, scope.items()), ("cuda", None))
    for name in dir(getattr(cuda, "libdevice", None)):
        if not name.startswith("_"):
            yield name, f"{spelled}.libdevice.{name}"
    for name, value in vars(np).items():
        if isinstance(value, np.ufunc) or (isinstance(value, type) and _is_number(value)):
            yield name, f"{_called(np, 'np', scope)}.{name}"
    for name in vars(math):
        if not name.startswith("_") and name not in _HOST_ONLY:
            yield name, f"{_called(math, 'math', scope)}.{name}"
    for name in intrinsics.namespace():
        yield name, f"{spelled}.{name}"


def _is_cuda(item: tuple[str, Any]) -> bool:
    return intrinsics.name_of(getattr(item[1], "threadIdx", None)) == "threadIdx"


def _is_number(kind: type) -> bool:
    return issubclass(kind, (np.number, np.bool_))


def _called(module: Any, usual: str, scope: dict[str, Any]) -> str:
    return next((n for n, v in scope.items() if v is module and isinstance(v, ModuleType)), usual)


def _write(spelled: str, scope: dict[str, Any]) -> str:
    module = spelled.partition(".")[0]
    imports = {"math": "import math", "np": "import numpy as np"}
    if isinstance(scope.get(module), ModuleType) or module not in imports:
        return f"write {spelled}"
    return f"write {spelled}, with `{imports[module]}` at the top of the file"
