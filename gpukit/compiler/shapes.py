"""Evaluate shape and dtype of the arrays that a kernel creates: compile-time constants."""

from __future__ import annotations

import ast
import math
import operator
from typing import Any

import numpy as np

from gpukit import errors
from gpukit.compiler import refuse, tree
from gpukit.compiler.unit import Unit

POINTER = 8  # bytes of an address on a GPU
MAX_LOCAL = 512 * 1024  # bytes per thread, as on a GPU

_OPERATORS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def request(unit: Unit, node: ast.Call) -> tuple[tuple[int, ...], Any]:
    """Return shape and Numba dtype of a `shared.array(shape, dtype)` call."""
    arguments = dict(zip(("shape", "dtype", "alignment"), node.args, strict=False))
    arguments |= {k.arg: k.value for k in node.keywords if k.arg}
    name = tree.called(node)
    if "shape" not in arguments or "dtype" not in arguments:
        raise refuse.invalid(
            unit,
            node,
            f"cuda.{name} needs a shape and a dtype.",
            f"write cuda.{name}(shape, dtype)",
        )
    if "alignment" in arguments:
        check_alignment(unit, node, arguments["alignment"])
    shape, dtype = _shape(unit, arguments["shape"], name), dtype_of(unit, arguments["dtype"])
    size = math.prod(shape) * getattr(dtype, "bitwidth", 8) // 8
    if name == "local.array" and size > MAX_LOCAL:
        raise refuse.invalid(
            unit,
            node,
            f"A cuda.local.array of {size} bytes is too large: a thread may have "
            f"at most {MAX_LOCAL} bytes of local memory.",
            "use a smaller array, or pass one in",
        )
    return shape, dtype


class BadAlignment(errors.Invalid, ValueError):
    """An invalid alignment of an array; a ValueError, as on Numba's CUDA target."""


def check_alignment(unit: Unit, call: ast.Call, node: ast.expr) -> None:
    """Check the alignment of an array, if not None. Without a GPU it has no other effect."""
    value = constant(unit, node)
    if isinstance(node, ast.Constant) and value is None:
        return
    if type(value) is not int:
        raise refuse.invalid(
            unit,
            call,
            f"alignment must be a constant integer, got {refuse.written(node)}.",
            "write alignment=16",
        )
    if value <= 0 or value & (value - 1) or value % POINTER:
        kernel, file, line, source = refuse.where(unit, call)
        raise BadAlignment(
            f"Alignment must be a power of 2 and a multiple of {POINTER} bytes, got {value}.",
            kernel=kernel,
            file=file,
            line=line,
            source=source,
            fix="write alignment=16",
        )


def _shape(unit: Unit, node: ast.expr, name: str | None) -> tuple[int, ...]:
    value = constant(unit, node)
    shape = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in shape):
        raise refuse.invalid(
            unit,
            node,
            f"The shape of a cuda.{name} must be a constant, got {refuse.written(node)}.",
            "use a number or a global constant such as TILE = 16" + _dynamic_hint(name),
        )
    if any(n < 0 for n in shape):
        raise refuse.invalid(unit, node, f"The shape of a cuda.{name} cannot be negative: {shape}.")
    return tuple(int(n) for n in shape)


def _dynamic_hint(name: str | None) -> str:
    if name != "shared.array":
        return ""
    return (
        "; for a size known only at launch use cuda.shared.array(0, dtype) and "
        "kernel[grid, block, stream, bytes]"
    )


def constant(unit: Unit, node: ast.expr) -> Any:
    """Return the value of a constant integer expression or tuple; None if it is not one."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return unit.constants.get(node.id, _assigned(unit, node.id))
    if isinstance(node, ast.Tuple):
        return tuple(constant(unit, e) for e in node.elts)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        sides = constant(unit, node.left), constant(unit, node.right)
        return None if None in sides else _OPERATORS[type(node.op)](*sides)
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        inner = constant(unit, node.operand)
        return None if inner is None else _OPERATORS[type(node.op)](inner)
    if isinstance(node, ast.Subscript):
        base, index = constant(unit, node.value), constant(unit, node.slice)
        if isinstance(base, tuple) and isinstance(index, int) and index < len(base):
            return base[index]
    if isinstance(node, ast.Call) and len(node.args) == 1:
        inner = constant(unit, node.args[0])
        function = unit.globals.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if function in (int, len) and inner is not None:
            return function(inner)
        return inner if isinstance(function, type) and isinstance(inner, int) else None
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        inner = getattr(node.value, "id", None)
        return tuple(unit.captured[inner].shape) if inner in unit.captured else None
    return None


def _assigned(unit: Unit, name: str) -> Any:
    """Return the constant that is assigned to a local, if it is assigned once."""
    values = [
        s.value
        for s in tree.statements(unit.tree.body)
        if isinstance(s, ast.Assign) and name in tree.writes(s) and len(s.targets) == 1
    ]
    writes = sum(
        1
        for n in ast.walk(unit.tree)
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
    )
    if len(values) != 1 or writes != 1 or name in unit.parameters:
        return None
    return constant(unit, values[0])


def dtype_of(unit: Unit, node: ast.expr) -> Any:
    """Return the Numba dtype that an expression names."""
    from gpukit.compiler import numba_types

    if isinstance(node, ast.Attribute) and node.attr == "dtype":
        array = getattr(node.value, "id", None)
        kind = unit.types.get(array or "")
        if kind is not None:
            return kind.dtype
    value = (
        node.value if isinstance(node, ast.Constant) else unit.globals.get(getattr(node, "id", ""))
    )
    try:
        return numba_types.of_dtype(value)
    except TypeError:
        raise refuse.invalid(
            unit,
            node,
            f"{refuse.written(node)} is not a dtype.",
            "use a numba type such as numba.float32, or np.float32",
        ) from None
