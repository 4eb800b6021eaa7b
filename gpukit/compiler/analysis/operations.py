"""Count the operations in an expression or statement, by the counters of a profile.

Only those that the source names: the arithmetic of an address `a[i, j]` is not among them. All
parts count, those of conditional expressions too, but not folded constants.
"""

from __future__ import annotations

import ast
import itertools
import math

import numpy as np
from numba.core import types

from gpukit.compiler import facts, kinds, tree
from gpukit.compiler.analysis.expressions import Expressions

# Operations of the special function units in a call, by the functions' names in `math` and NumPy;
# `cuda.fp16` has some of these with an h before.
_SPECIAL = {
    **dict.fromkeys(("exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p"), 1),
    **dict.fromkeys(("sqrt", "rsqrt", "rcp", "div", "hypot", "fmod", "sin", "cos"), 1),
    **dict.fromkeys(("asin", "acos", "atan", "atan2", "arcsin", "arccos", "arctan", "arctan2"), 1),
    **dict.fromkeys(("erf", "erfc"), 1),
    **dict.fromkeys(("pow", "power", "float_power", "tan", "cbrt", "gamma", "lgamma"), 2),
    **dict.fromkeys(("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"), 2),
    **dict.fromkeys(("arcsinh", "arccosh", "arctanh"), 2),
}
_OF_FUNCTION = {
    id(getattr(module, name)): count
    for module in (math, np)
    for name, count in _SPECIAL.items()
    if hasattr(module, name)
}
_OF_INTRINSIC = {"rsqrt": 1, "cbrt": 2} | {f"fp16.h{n}": k for n, k in _SPECIAL.items()}
_DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)


def of(expressions: Expressions, node: ast.AST) -> dict[str, int]:
    """Return the operations by counter: `flops_*`, `operations_*` and `shuffles`.

    For `flops_*` an addition, multiplication, division or mathematical function counts as one, a
    fused multiply-add as two; comparisons and conversions are not counted.
    """
    found: dict[str, int] = {}
    for n in ast.walk(node):
        if isinstance(n, ast.AugAssign):
            target = tree.clone(n.target)
            target.ctx = ast.Load()
            n = ast.BinOp(target, n.op, n.value)
        for name, count in _of_node(expressions, n):
            if count:
                found[name] = found.get(name, 0) + count
    return found


def _of_node(expressions: Expressions, n: ast.AST) -> list[tuple[str, int]]:
    """Return what one node counts, without the nodes in it."""
    if isinstance(n, ast.Compare):
        return [("operations_integer", _comparisons(expressions, n))]
    call = tree.called(n)
    if call == "fma":
        kind = expressions.type_of(n.args[0])  # type: ignore[attr-defined]
        return [(f"flops_{kind}", 2)] if isinstance(kind, types.Float) else []
    if call == "warp.check_mask":  # beside each shuffle, vote and match
        exchanged = tree.called(facts.of(n).checked or n) not in ("syncwarp", call)
        return [("shuffles", int(exchanged))]
    if call in kinds.ON_BITS:
        return [("operations_integer", 1)]
    if call is not None:
        return [("operations_special", _OF_INTRINSIC.get(call, 0))]
    if not isinstance(n, (ast.BinOp, ast.UnaryOp, ast.Call)) or expressions.is_folded(n):
        return []
    kind = expressions.type_of(n)
    if isinstance(kind, types.Integer):
        return [("operations_integer", _on_integers(n))]
    if not isinstance(kind, types.Float) or isinstance(n, ast.UnaryOp):
        return []
    if isinstance(n, ast.Call) and not expressions.is_math(n):
        return []
    return [(f"flops_{kind}", 1), ("operations_special", _special(expressions, n))]


def _comparisons(expressions: Expressions, n: ast.Compare) -> int:
    """Return how many comparisons of integers a comparison makes: two in `0 <= i < n`."""
    sides = [n.left, *n.comparators]
    whole = [isinstance(expressions.type_of(side), types.Integer) for side in sides]
    return sum(a and b for a, b in itertools.pairwise(whole))


def _on_integers(n: ast.AST) -> int:
    """Return the operations of an operator or call whose result is an integer."""
    if isinstance(n, ast.Call):
        if tree.calls(n, min, max):
            return len(n.args) - 1
        return int(tree.calls(n, abs))
    return int(not (isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.UAdd)))


def _special(expressions: Expressions, n: ast.AST) -> int:
    """Return the special operations of an operator or function whose result is a float."""
    if isinstance(n, ast.Call):
        return _OF_FUNCTION.get(id(expressions.function(n)), 0)
    op = n.op  # type: ignore[attr-defined]
    if isinstance(op, ast.Pow):
        whole = isinstance(expressions.type_of(n.right), types.Integer)  # type: ignore[attr-defined]
        return 0 if whole else 2
    return int(isinstance(op, _DIVISIONS))


def of_round(expressions: Expressions, loop: ast.For) -> dict[str, int]:
    """Return the operations of an iteration of a `for` loop: its variable is moved and compared."""
    return {"operations_integer": 2} if isinstance(loop.target, ast.Name) else {}
