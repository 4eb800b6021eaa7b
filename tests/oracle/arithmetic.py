"""Numba's arithmetic, written out: the type and value of `a + b`.

A Python int represents int64, a Python float float64; NumPy scalars keep their own type.
`test_interpreter.py` compares the rules with Numba's typing for every pair of types.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

NUMBERS = (int, float, complex, np.number, np.bool_)
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
# NumPy keeps the argument's float width, as Numba's own math functions do.
MATH = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "fabs": np.fabs,
    "pow": np.power,
    "atan2": np.arctan2,
    "atan": np.arctan,
    "hypot": np.hypot,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "fmod": np.fmod,
    "copysign": np.copysign,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}


class UndefinedValue(Exception):
    """An undefined value was stored, tested or used as an index."""


class Undefined:
    """The result of a shuffle from an inactive lane: may be computed with, but not used."""

    def _refuse(self, *_: object) -> Any:
        raise UndefinedValue("a value shuffled from an inactive lane was used")

    __bool__ = __index__ = __int__ = __float__ = _refuse

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED = Undefined()


def dtype_of(value: Any) -> np.dtype[Any]:
    """Return the dtype a scalar has in a kernel."""
    if isinstance(value, np.generic):
        return value.dtype
    kinds = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}
    return np.dtype(kinds[type(value)])


def cast(dtype: np.dtype[Any], value: Any) -> Any:
    """Return value converted to dtype as C converts it: integers wrap, floats truncate."""
    if isinstance(value, Undefined):
        return value._refuse()
    if dtype.kind in "iu":
        bits = 8 * dtype.itemsize
        wrapped = int(value) & ((1 << bits) - 1)
        if dtype.kind == "i" and wrapped >> (bits - 1):
            wrapped -= 1 << bits
        return dtype.type(wrapped)
    with np.errstate(all="ignore"):
        return dtype.type(value)


def result_dtype(op: str, a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of `a op b` in Numba: integers are at least 64 bits wide.

    >>> result_dtype("Add", np.dtype("int32"), np.dtype("int32"))
    dtype('int64')
    >>> result_dtype("Mult", np.dtype("int32"), np.dtype("float32"))
    dtype('float64')
    """
    if a.kind in "biu" and b.kind in "biu":
        if op == "Div":
            return np.dtype(np.float64)
        if a.kind == b.kind == "b" and op in ("BitAnd", "BitOr", "BitXor"):
            return np.dtype(np.bool_)
        unsigned = a.kind == "u" and (b.kind == "u" or op in ("LShift", "RShift"))
        return np.dtype(np.uint64 if unsigned else np.int64)
    if op == "Pow" and a.kind == "f" and b.kind in "iu":
        return a
    return np.promote_types(a, b)


def _integer(op: str, a: int, b: int) -> int:
    if op in ("FloorDiv", "Mod") and b == 0:
        return 0
    if op in ("LShift", "RShift") and not 0 <= b < 64:
        raise UndefinedValue(f"shift by {b} bits has no defined result")
    return int(OPERATORS[op](a, b))


def binary(op: str, a: Any, b: Any) -> Any:
    """Return `a op b` by Numba's rules; tuples and other objects as Python does it."""
    if a is UNDEFINED or b is UNDEFINED:
        return UNDEFINED
    if not (isinstance(a, NUMBERS) and isinstance(b, NUMBERS)):
        return OPERATORS[op](a, b)
    dtype = result_dtype(op, dtype_of(a), dtype_of(b))
    if dtype.kind == "b":
        return bool(OPERATORS[op](bool(a), bool(b)))
    if dtype.kind in "iu":
        value = cast(dtype, _integer(op, int(a), int(b)))
        return int(value) if dtype.kind == "i" else value
    with np.errstate(all="ignore"):
        return dtype.type(OPERATORS[op](dtype.type(a), dtype.type(b)))


def compare(op: str, a: Any, b: Any) -> Any:
    """Return `a op b` for a comparison: integers exactly, floats in the wider type."""
    if a is UNDEFINED or b is UNDEFINED:
        return UNDEFINED
    if not (isinstance(a, NUMBERS) and isinstance(b, NUMBERS)):
        return OPERATORS[op](a, b)
    left, right = dtype_of(a), dtype_of(b)
    if left.kind in "biu" and right.kind in "biu":
        return OPERATORS[op](int(a), int(b))
    dtype = np.promote_types(left, right)
    return bool(OPERATORS[op](dtype.type(a), dtype.type(b)))


def unary(op: str, a: Any) -> Any:
    """Return `-a`, `+a` or `~a`; integers become 64 bits wide."""
    if a is UNDEFINED:
        return UNDEFINED
    dtype = dtype_of(a)
    if op == "Invert" and dtype.kind == "b":
        return not a
    function = {"USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert}[op]
    if dtype.kind in "biu":
        wide = np.dtype(np.uint64 if dtype.kind == "u" else np.int64)
        value = cast(wide, function(int(a)))
        return int(value) if wide.kind == "i" else value
    return dtype.type(function(dtype.type(a)))


def _extreme(pick: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    dtype = dtype_of(values[0])
    for value in values[1:]:
        dtype = np.promote_types(dtype, dtype_of(value))
    return cast(dtype, pick(cast(dtype, v) for v in values))


def _convert(kind: type, value: Any) -> Any:
    source = dtype_of(value)
    if kind is bool:
        return bool(value)
    if kind is int:
        return value if source.kind in "iu" else int(value)
    return value if source.kind == "f" else float(value)


def _math(name: str, args: tuple[Any, ...]) -> Any:
    if name in ("floor", "ceil", "trunc"):
        return int(getattr(math, name)(float(args[0])))
    typed = [a if dtype_of(a).kind == "f" else float(a) for a in args]
    with np.errstate(all="ignore"):
        if name in MATH:
            return MATH[name](*typed)
        return dtype_of(typed[0]).type(getattr(math, name)(*typed))


def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function other than an intrinsic or device function, typed as in a kernel."""
    scalars = bool(args) and all(isinstance(a, NUMBERS) for a in args)
    if not scalars and any(a is UNDEFINED for a in args):
        return UNDEFINED
    if isinstance(function, type) and issubclass(function, np.generic):
        return cast(np.dtype(function), args[0])
    if type(function).__module__.startswith("numba.core.types"):
        from numba.np.numpy_support import as_dtype

        return cast(as_dtype(function), args[0])
    if scalars and function in (builtins.min, builtins.max):
        return _extreme(function, args)
    if scalars and function in (bool, int, float):
        return _convert(function, args[0])
    if scalars and function is abs and dtype_of(args[0]).kind in "iu":
        return cast(dtype_of(args[0]), abs(int(args[0])))
    if scalars and getattr(function, "__module__", None) == "math":
        return _math(function.__name__, args)
    with np.errstate(all="ignore"):
        return function(*args, **kwargs)
