"""Refuse what only the host can do, and what Numba would take here and refuse on a GPU.

Random numbers of Python and NumPy, a new value for `cuda.threadIdx.x`, `cuda.threadIdx[0]`.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from gpukit.compiler import intrinsics, refuse
from gpukit.compiler.unit import Unit


def check(unit: Unit, meaning: Callable[[ast.AST], Any]) -> None:
    """Raise `errors.Invalid` at the first such thing; `meaning` tells what names stand for."""
    for node in (n for function in unit.trees for n in ast.walk(function)):
        if isinstance(node, ast.Call) and _is_random(meaning(node.func)):
            called = ast.unparse(node.func)
            raise refuse.invalid(
                unit, node, f"A kernel cannot draw random numbers with {called}.",
                "make states with cuda.random.create_xoroshiro128p_states on the host, and use "
                "cuda.random.xoroshiro128p_uniform_float32(states, i)",
            )  # fmt: skip
        if isinstance(node, ast.Subscript) and isinstance(meaning(node.value), intrinsics.Dim3):
            name = ast.unparse(node.value)
            raise refuse.invalid(
                unit, node, f"{name} has no places to index, here {ast.unparse(node)}.",
                f"name an axis: {name}.x",
            )  # fmt: skip
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if intrinsics.name_of(meaning(node)) is not None:
                raise refuse.invalid(
                    unit, node, f"A kernel cannot set {ast.unparse(node)}.",
                    "use a variable with a name of its own",
                )  # fmt: skip


def _is_random(function: Any) -> bool:
    """Tell whether a function is of Python's or NumPy's generators, which live on the host."""
    owner = getattr(function, "__self__", None)
    return isinstance(owner, (random.Random, np.random.RandomState, np.random.Generator))
