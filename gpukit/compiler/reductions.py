"""Reductions of a whole array by one thread: `tile.sum()`, `np.sum(row)`, `max(row)`.

Those that numba-cuda or its successor numba-cuda-mlir compiles (0.30 and 0.6: `cuda.compile` of
each). Numba's own implementation runs, a loop over the elements. Its reads are not instrumented,
so instrumented kernels record them before the call (`runtime.views.whole_read`).
"""

from __future__ import annotations

import ast
import builtins

import numpy as np

from gpukit.compiler import tree

METHODS = frozenset(
    ["all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"]
)
FUNCTIONS = (
    np.all,
    np.any,
    np.argmax,
    np.argmin,
    np.average,
    np.max,
    np.mean,
    np.min,
    np.nanmax,
    np.nanmean,
    np.nanmin,
    np.nanprod,
    np.nanstd,
    np.nansum,
    np.nanvar,
    np.prod,
    np.std,
    np.sum,
    np.var,
)
_OF_ONE = (builtins.sum, builtins.max, builtins.min)  # with more arguments, these are numbers


def reads_array(call: ast.Call) -> bool:
    """Tell whether a call may read a whole array; max((a, b)) may, too."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in METHODS and tree.called(call) is None
    if not call.args:
        return False
    return tree.calls(call, *FUNCTIONS) or (len(call.args) == 1 and tree.calls(call, *_OF_ONE))


def operand(call: ast.Call) -> ast.expr:
    """Return what such a call reads: the array of a method, or the first argument."""
    return call.func.value if isinstance(call.func, ast.Attribute) else call.args[0]


def replace(call: ast.Call, array: ast.expr) -> None:
    """Make such a call read another array, in place."""
    if isinstance(call.func, ast.Attribute):
        call.func.value = array
    else:
        call.args[0] = array
