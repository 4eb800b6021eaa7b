"""Reject expressions that create a new array: `a[i] * 2` where `a[i]` is a row.

A GPU thread has no memory for one, unless numba-cuda's memory runtime is enabled (`allocate`). On a
CPU the memory is reference-counted, but the storage that keeps a thread's variables from one
barrier to the next holds no reference: it would be freed while still in use.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from gpukit.compiler import reductions, refuse
from gpukit.compiler.diagnostics import mistakes
from gpukit.compiler.frontend import allocate
from gpukit.compiler.unit import Unit

_METHODS = reductions.METHODS.union(  # of several axes, by one of them
    ["copy", "astype", "flatten", "repeat", "argsort", "take", "dot", "nonzero"]
)
_FIX = (
    "write a loop over the elements, or give the array one index per axis; "
    "cuda.local.array(shape, dtype) is memory for one thread"
)


def check_types(unit: Unit, inferred: Any) -> None:
    """Raise `errors.Invalid` where an operator or call returns a new array.

    `inferred` is the state of Numba's compiler after type inference.
    """
    from numba.core import ir, types

    if allocate.switched_on():
        return
    for block in inferred.func_ir.blocks.values():
        for s in block.find_insts(ir.Assign):
            kind = inferred.typemap.get(s.target.name)
            if isinstance(kind, types.Array) and _makes(s.value, inferred.typemap):
                raise refuse.invalid(
                    unit,
                    _at(unit, s.loc.line),
                    "This line computes with a whole array, which "
                    "creates a new array; a kernel has no memory for one.",
                    _FIX,
                )


def check_code(unit: Unit, needs: tuple[str, ...], kept: Iterable[Any]) -> None:
    """Raise `errors.Invalid` if machine code allocates memory, wherever it does.

    `needs` are the functions it calls, `kept` the types of what is live across barriers.
    """
    if not any("alloc" in name.lower() for name in needs if name.startswith("NRT_")):
        return
    maker = f"{unit.name} or a function that it calls creates a new array; "
    if not allocate.switched_on():
        _check_text(unit)
        raise refuse.invalid(unit, unit.tree, f"{maker}a kernel has no memory for one.", _FIX)
    if any("array(" in str(kind) for kind in kept):
        raise refuse.unsupported(
            unit,
            unit.tree,
            f"{maker}here an array must live across a barrier.",
            "use cuda.local.array(shape, dtype)",
        )


def _check_text(unit: Unit) -> None:
    """Raise `errors.Invalid` where a string is created: it is an array of characters."""
    for node in ast.walk(unit.tree):
        called = getattr(getattr(node, "func", None), "id", "")
        if unit.globals.get(called) is str:
            raise refuse.invalid(unit, node, mistakes.NO_TEXT.rule, mistakes.NO_TEXT.fix)


def _makes(value: Any, typemap: dict[str, Any]) -> bool:
    """Tell whether an expression whose value is an array creates it."""
    from numba.core import types

    op = getattr(value, "op", "")
    if op != "call":
        return op in ("binop", "unary")
    function = typemap.get(value.func.name)
    if isinstance(function, types.BoundFunction):
        return function.typing_key.rpartition(".")[2] in _METHODS
    if isinstance(function, types.Dispatcher):
        return _calls_itself(function.dispatcher)
    called = getattr(function, "typing_key", None)
    if any(called is reduction for reduction in reductions.FUNCTIONS):
        return True
    return isinstance(called, np.ufunc) and len(value.args) + len(value.kws) == called.nin


def _calls_itself(dispatcher: Any) -> bool:
    """Tell whether a device function calls itself: then `check_code` cannot examine it."""
    return any(value is dispatcher for value in dispatcher.py_func.__globals__.values())


def _at(unit: Unit, line: int) -> ast.AST:
    """Return a node in a line, else the kernel."""
    found = (n for n in ast.walk(unit.tree) if getattr(n, "lineno", 0) == line)
    return next(found, unit.tree)
