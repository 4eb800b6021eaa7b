"""Build a Python function from a syntax tree, for Numba to compile."""

from __future__ import annotations

import ast
import types
import warnings
from typing import Any

from gpukit.compiler import tree
from gpukit.compiler.unit import Unit

_MADE = "_gpukit_function"


def build(
    name: str, parameters: list[str], body: list[ast.stmt], scope: dict[str, Any], unit: Unit
) -> Any:
    """Build a Python function from statements; its lines are those of the kernel's source."""
    # With a unique name, or it would hide a global that it calls: `def max(a): max(a, 0)`.
    function = tree.function(_MADE, parameters, body)
    module = tree.settle(ast.Module([tree.at(function, unit.tree)], []))
    with warnings.catch_warnings():  # e.g. comparisons with None, which replaces absent arguments
        warnings.simplefilter("ignore", SyntaxWarning)
        code = compile(module, unit.source.file, "exec")
    scope = dict(scope)
    exec(code, scope)
    made = scope[_MADE]
    assert isinstance(made, types.FunctionType)
    made.__name__ = made.__qualname__ = name
    return made
