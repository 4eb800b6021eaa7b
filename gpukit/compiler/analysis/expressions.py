"""Infer the Numba type of an expression in a kernel, in the simple cases."""

from __future__ import annotations

import ast
import operator
from typing import Any

import numpy as np
from numba.core import types
from numba.np import numpy_support

from gpukit.compiler import kinds, tree
from gpukit.compiler.analysis import uniformity
from gpukit.compiler.kernel_target import kernel_target
from gpukit.compiler.unit import Unit

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_CONSTANTS = {float: types.float64, int: types.int64, bool: types.boolean}


class Expressions:
    """Finds the types of expressions; the types of the unit's variables must be known."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def type_of(self, node: ast.AST) -> Any:
        """Return the Numba type of an expression, or None where it cannot be inferred simply."""
        found = getattr(self, f"_{type(node).__name__}", lambda _: None)(node)
        return types.unliteral(found) if found is not None else None

    def is_view(self, node: ast.AST) -> bool:
        """Tell whether an expression is a view of an array, which reads no element."""
        return isinstance(self.type_of(node), (types.Array, types.Record))

    def _Constant(self, node: ast.Constant) -> Any:
        return _CONSTANTS.get(type(node.value))

    def _Name(self, node: ast.Name) -> Any:
        known = self.unit.types.get(node.id)
        value = self.unit.globals.get(node.id)
        if known is None and isinstance(value, np.generic):
            return numpy_support.from_dtype(value.dtype)  # a captured constant
        return _CONSTANTS.get(type(value)) if known is None else known

    def _Attribute(self, node: ast.Attribute) -> Any:
        if tree.intrinsic(node) in kinds.VALUES:
            return types.int32
        base = self.type_of(node.value)
        whole = node.attr in ("size", "ndim", "itemsize", "nbytes")
        if whole and isinstance(base, types.Array):
            return types.intp  # whatever fields its elements have
        if isinstance(base, types.BaseNamedTuple) and node.attr in base.fields:
            return tuple(base)[base.fields.index(node.attr)]
        return field(base, node.attr)

    def _Subscript(self, node: ast.Subscript) -> Any:
        if uniformity.is_size(node):
            return types.intp
        return subscript(self.type_of(node.value), node.slice)

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return types.boolean
        return self._resolved(_OPERATORS[type(node.op)], [node.operand])

    def _BinOp(self, node: ast.BinOp) -> Any:
        function = _OPERATORS.get(type(node.op))
        return None if function is None else self._resolved(function, [node.left, node.right])

    def _IfExp(self, node: ast.IfExp) -> Any:
        one, other = self.type_of(node.body), self.type_of(node.orelse)
        if one is None or other is None:
            return None
        return kernel_target.typing_context.unify_types(one, other)

    def _Call(self, node: ast.Call) -> Any:
        name = tree.called(node)
        if name is not None:
            if name.startswith("atomic.") and node.args:
                return getattr(self.type_of(node.args[0]), "dtype", None)
            if name in kinds.ON_BITS and node.args:
                return self.type_of(node.args[0])
            value = name in kinds.SHUFFLES and len(node.args) > 1
            return self.type_of(node.args[1]) if value else None
        function = self.function(node)
        if function is None:
            return self._of_array(node)
        return None if node.keywords else self._resolved(function, node.args)

    def _of_array(self, node: ast.Call) -> Any:
        """Return the type to which `x.dtype.type(...)` converts: the dtype of x."""
        function = node.func
        if not (isinstance(function, ast.Attribute) and function.attr == "type"):
            return None
        kind = function.value
        if not (isinstance(kind, ast.Attribute) and kind.attr == "dtype"):
            return None
        return getattr(self.type_of(kind.value), "dtype", None)

    def function(self, node: ast.Call) -> Any:
        """Return the object that is called, or None."""
        parts = (tree.dotted(node.func) or "").split(".")
        found = self.unit.globals.get(parts[0])
        for part in parts[1:]:
            found = getattr(found, part, None)
        return found

    def is_cast(self, node: ast.Call) -> bool:
        """Tell whether a call converts to a type: `np.float32(v)`, `x.dtype.type(v)`."""
        known = isinstance(self.function(node), (type, types.Type))
        return known or self._of_array(node) is not None

    def is_math(self, node: ast.Call) -> bool:
        """Tell whether a node calls a mathematical function."""
        module = getattr(self.function(node), "__module__", "") or ""
        return module == "math" or isinstance(self.function(node), np.ufunc)

    def is_folded(self, node: ast.AST) -> bool:
        """Tell whether compilers fold an expression to a constant: `1 / 9`.

        Powers and mathematical functions of constants may stay calls.
        """
        if isinstance(node, ast.BinOp):
            sides = self.is_folded(node.left) and self.is_folded(node.right)
            return sides and not isinstance(node.op, ast.Pow)
        if isinstance(node, ast.UnaryOp):
            return self.is_folded(node.operand)
        if isinstance(node, ast.Call):
            cast = self.is_cast(node) and not node.keywords
            return cast and bool(node.args) and all(map(self.is_folded, node.args))
        if isinstance(node, ast.Name):
            outside = node.id not in self.unit.types
            return outside and isinstance(self.unit.globals.get(node.id), (int, float, np.number))
        return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))

    def _resolved(self, function: Any, arguments: list[ast.expr]) -> Any:
        given = [self.type_of(a) for a in arguments]
        if any(g is None for g in given):
            return None
        context = kernel_target.typing_context
        try:
            kind = context.resolve_value_type(function)
            found = context.resolve_function_type(kind, tuple(given), {})
        except Exception:  # Numba raises many kinds of exceptions if it finds no type
            return None
        return getattr(found, "return_type", None)


def _is_literal(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def subscript(base: Any, index: ast.expr) -> Any:
    """Return the type of `base[index]`, None where it cannot be inferred simply."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if isinstance(index, ast.Constant) and isinstance(base, (types.Array, types.Record)):
        if isinstance(base, types.Record) or isinstance(index.value, str):
            return field(base, index.value)
    if any(isinstance(p, ast.Slice) or _is_literal(p, ...) for p in parts):
        return _part(base, parts)
    if isinstance(base, types.UniTuple):
        return base.dtype
    if isinstance(base, types.BaseTuple):
        at = index.value if isinstance(index, ast.Constant) else None
        return tuple(base)[at] if type(at) is int and -len(base) <= at < len(base) else None
    if not hasattr(base, "layout") or len(parts) > base.ndim:
        return None
    left = base.ndim - len(parts)
    return base.copy(ndim=left) if left else base.dtype


def _part(base: Any, parts: list[ast.expr]) -> Any:
    """Return the type of a view of an array taken with slices or an ellipsis."""
    if not hasattr(base, "layout"):
        return None
    kept = [isinstance(p, ast.Slice) or _is_literal(p, ...) or _is_literal(p, None) for p in parts]
    new = sum(_is_literal(p, None) for p in parts)
    left = base.ndim - kept.count(False) + new
    return base.copy(ndim=left, layout="A") if left > 0 else base.dtype


def field(base: Any, key: Any) -> Any:
    """Return the type of `r.x`, `r["x"]` or `r[0]` of a record, or of an array of records."""
    record: Any = base if isinstance(base, types.Record) else getattr(base, "dtype", None)
    name = field_name(record, key)
    if name is None:
        return None
    kind = record.typeof(name)
    if isinstance(base, types.Record):
        return kind
    inner = (kind.dtype, kind.ndim) if isinstance(kind, types.NestedArray) else (kind, 0)
    return base.copy(dtype=inner[0], ndim=base.ndim + inner[1], layout="A")


def field_name(record: Any, key: Any) -> str | None:
    """Return the name of the field that a key, a name or an index, selects; None for others."""
    if not isinstance(record, types.Record):
        return None
    names: list[str] = list(record.fields)
    if type(key) is int and -len(names) <= key < len(names):
        return names[key]
    return key if isinstance(key, str) and key in names else None
