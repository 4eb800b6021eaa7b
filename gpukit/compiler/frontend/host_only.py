"""Reject host-only functions, and what Numba accepts on CPUs but GPUs lack.

Debuggers, random numbers of Python and NumPy, sorts and scans of a whole array (`tile.sort()`),
assignments to `cuda.threadIdx.x`, `cuda.threadIdx[0]`, and atomics and shuffles with the wrong
number of arguments.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from gpukit.compiler import debuggers, extensions, intrinsics, refuse
from gpukit.compiler.frontend import allocate
from gpukit.compiler.unit import Unit


def check(unit: Unit, meaning: Callable[[ast.AST], Any]) -> None:
    """Raise `errors.Invalid` at the first such node; `meaning` resolves names to objects."""
    for node in (n for function in unit.trees for n in ast.walk(function)):
        if isinstance(node, ast.Call) and debuggers.is_debugger(meaning(node.func)):
            raise refuse.invalid(unit, node, debuggers.RULE, debuggers.FIX)
        if isinstance(node, ast.Call) and _is_random(meaning(node.func)):
            called = ast.unparse(node.func)
            raise refuse.invalid(
                unit,
                node,
                f"A kernel cannot generate random numbers with {called}.",
                "create states with cuda.random.create_xoroshiro128p_states on the host, and use "
                "cuda.random.xoroshiro128p_uniform_float32(states, i)",
            )
        if isinstance(node, ast.Call) and _goes_through_an_array(node.func, meaning):
            called = ast.unparse(node.func)
            raise refuse.invalid(
                unit,
                node,
                f"gpukit has no {called} for kernels.",
                next((fix for f, fix in _INSTEAD.items() if meaning(node.func) is f), _LOOP),
            )
        if isinstance(node, ast.Call):
            _check_count(unit, node, intrinsics.name_of(meaning(node.func)) or "")
        if isinstance(node, ast.Subscript) and isinstance(meaning(node.value), (list, dict, set)):
            name, kind = ast.unparse(node.value), type(meaning(node.value)).__name__
            raise refuse.invalid(
                unit,
                node,
                f"{name} is of the Python type {kind}, which a kernel cannot use.",
                "make it a NumPy array or a tuple of numbers, and pass it as an argument",
            )
        if isinstance(node, ast.Subscript) and isinstance(meaning(node.value), intrinsics.Dim3):
            name = ast.unparse(node.value)
            raise refuse.invalid(
                unit,
                node,
                f"{name} cannot be indexed, here {ast.unparse(node)}.",
                f"name an axis: {name}.x",
            )
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if intrinsics.name_of(meaning(node)) is not None:
                raise refuse.invalid(
                    unit,
                    node,
                    f"A kernel cannot set {ast.unparse(node)}.",
                    "assign to a variable instead",
                )


_TAKES = {
    **dict.fromkeys((f"atomic.{n}" for n in intrinsics.ATOMIC_NAMES), "array, index, value"),
    "atomic.cas": "array, index, old, value",
    "atomic.compare_and_swap": "array, old, value",
    "shfl_sync": "mask, value, lane",
    "shfl_up_sync": "mask, value, delta",
    "shfl_down_sync": "mask, value, delta",
    "shfl_xor_sync": "mask, value, lanes",
}


def _check_count(unit: Unit, node: ast.Call, name: str) -> None:
    """Raise where an atomic or a shuffle is called with too few or too many arguments."""
    takes = _TAKES.get(name, "")
    given = [*node.args, *(k.value for k in node.keywords)]
    if not takes or any(isinstance(a, ast.Starred) for a in given):
        return
    if len(given) != takes.count(",") + 1:
        raise refuse.invalid(
            unit,
            node,
            f"cuda.{name} takes {takes.count(',') + 1} arguments, got {len(given)}.",
            f"write cuda.{name}({takes})",
        )


_METHODS = frozenset(["argsort", "cumprod", "cumsum", "dot", "ptp", "sort"])
_FUNCTIONS = (
    np.amax,
    np.amin,
    np.argsort,
    np.bincount,
    np.convolve,
    np.correlate,
    np.count_nonzero,
    np.cumprod,
    np.cumsum,
    np.diff,
    np.dot,
    np.histogram,
    np.interp,
    np.median,
    np.nanmedian,
    np.percentile,
    np.ptp,
    np.quantile,
    np.searchsorted,
    np.sort,
    np.unique,
    np.vdot,
)
_LOOP = "write a loop over the elements, or let the threads share the work"
_INSTEAD = {np.amax: "write np.max", np.amin: "write np.min"}


def _goes_through_an_array(function: ast.expr, meaning: Callable[[ast.AST], Any]) -> bool:
    """Tell whether a node calls a NumPy function or method on a whole array that kernels lack.

    Those that kernels have are in `reductions`.
    """
    if allocate.switched_on():  # numba-cuda supports them with its memory runtime
        return False
    found = meaning(function)
    if callable(found):
        own = extensions.functions()
        return any(found is known for known in _FUNCTIONS) and all(found is not o for o in own)
    if not isinstance(function, ast.Attribute) or function.attr not in _METHODS:
        return False
    return function.attr not in extensions.attributes()


def _is_random(function: Any) -> bool:
    """Tell whether a function draws from Python's or NumPy's generators, which are on the host."""
    owner = getattr(function, "__self__", None)
    return isinstance(owner, (random.Random, np.random.RandomState, np.random.Generator))
