"""Replacements in kernels for functions of Python's math module and of NumPy."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

from gpukit.compiler.runtime import float32, formulas
from gpukit.compiler.runtime.scalars import same_kind

_remainder = types.ExternalFunction("remainder", types.float64(types.float64, types.float64))


@overload(math.fmod)
def _fmod(x, y):  # type: ignore[no-untyped-def]
    return lambda x, y: same_kind(np.fmod(x, y), x)


@overload(math.remainder)
def _ieee_remainder(x, y):  # type: ignore[no-untyped-def]
    return lambda x, y: same_kind(_remainder(x, y), x)


@overload(math.modf)
def _modf(x):  # type: ignore[no-untyped-def]
    def parts(x):  # type: ignore[no-untyped-def]
        whole = np.trunc(x)
        part = same_kind(0.0, x) if math.isinf(x) else x - whole
        return math.copysign(part, x), whole

    return parts


def rounded(x, digits):  # type: ignore[no-untyped-def]
    """Round to decimal digits; a float32 in double precision, as on a GPU."""
    raise NotImplementedError


@overload(rounded)
def _rounded(x, digits):  # type: ignore[no-untyped-def]
    if x == types.float32:
        return lambda x, digits: types.float32(round(types.float64(x), digits))
    return lambda x, digits: round(x, digits)


def where(condition, x, y):  # type: ignore[no-untyped-def]
    """Return one of two numbers, as a number; Numba's CPU target would return an array."""
    raise NotImplementedError


@overload(where)
def _where(condition, x, y):  # type: ignore[no-untyped-def]
    if any(isinstance(kind, types.Array) for kind in (condition, x, y)):
        return lambda condition, x, y: np.where(condition, x, y)
    return lambda condition, x, y: x if condition else y


if hasattr(math, "nextafter"):

    @overload(math.nextafter)
    def _nextafter(x, y):  # type: ignore[no-untyped-def]
        return lambda x, y: same_kind(np.nextafter(x, y), x)


# --- float32 -----------------------------------------------------------------------------------

_ONE = (
    "exp",
    "exp2",
    "expm1",
    "sinh",
    "cosh",
    "tanh",
    "log",
    "log2",
    "log10",
    "log1p",
    "asinh",
    "acosh",
    "atanh",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "erf",
    "erfc",
)
_TWO = ("pow", "hypot", "atan2")
_NUMPY = {"pow": "power"} | {
    name: f"arc{name[1:]}" for name in (*_ONE, *_TWO) if name[0] == "a"
}  # where NumPy's names differ


def _functions() -> Iterator[tuple[str, Any, int]]:
    """Yield formula, function and number of arguments of the functions with a float32 formula."""
    for count, names in enumerate((_ONE, _TWO), 1):
        for name in names:
            for module, spelled in ((math, name), (np, _NUMPY.get(name, name))):
                if hasattr(module, spelled):  # math.exp2 came with Python 3.11
                    yield name, getattr(module, spelled), count
    yield from (("pow", function, 2) for function in (pow, operator.pow))


# The replacement of a function in kernels, by the function and its number of arguments.
FORMS = {(id(round), 2): "rounded", (id(np.where), 3): "where"}
_FUNCTIONS: dict[str, tuple[formulas.Formula, Any, int]] = {}
for _name, _function, _count in _functions():
    FORMS[id(_function), _count] = _key = f"float32_{_name}_{len(_FUNCTIONS)}"
    _FUNCTIONS[_key] = getattr(float32, _name), _function, _count


def __getattr__(key: str) -> Any:
    """Create a replacement when it is first used."""
    if key not in _FUNCTIONS:
        raise AttributeError(key)
    form = globals()[key] = _form(*_FUNCTIONS[key])
    return form


def formula(function: Any, count: int) -> formulas.Formula | None:
    """Return the formula of a function of `count` float32s, if there is one."""
    found = _FUNCTIONS.get(FORMS.get((id(function), count), ""))
    return found[0] if found else None


def _form(formula: formulas.Formula, function: Any, count: int) -> Any:
    """Return a function that uses the formula if Numba infers that all types are float32."""

    def choose(typingctx: Any, *kinds: Any) -> Any:
        usual = typingctx.resolve_value_type(function)
        try:
            signature = usual.get_call_type(typingctx, kinds, {})
        except TypingError:
            return None  # Numba reports the same error for the replacement, with its location

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if {signature.return_type, *signature.args} == {types.float32}:
                return formulas.call(context, builder, formula, args)
            return context.get_function(usual, signature)(builder, args)

        return signature, lower

    def of_one(typingctx: Any, x: Any) -> Any:
        return choose(typingctx, x)

    def of_two(typingctx: Any, x: Any, y: Any) -> Any:
        return choose(typingctx, x, y)

    form = of_one if count == 1 else of_two
    form.__name__ = function.__name__  # for error messages
    return intrinsic(prefer_literal=True)(form)
