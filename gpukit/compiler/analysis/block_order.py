"""Decide whether the result of a kernel may depend on the order in which blocks run.

Without races between blocks only atomics on global memory can depend on it. Integer atomics of one
kind give the same result in every order, as long as their return values are not used.

>>> from gpukit.compiler import intrinsics as cuda
>>> def count(keys, out):
...     cuda.atomic.add(out, keys[cuda.grid(1)], 1)
>>> def queue(keys, out):
...     out[cuda.atomic.add(out, 0, 1)] = keys[cuda.grid(1)]
>>> from numba.core import types
>>> from gpukit.compiler.frontend import resolve
>>> def shown(function):
...     unit = resolve.run(function)
...     unit.types = dict.fromkeys(unit.parameters, types.Array(types.int32, 1, "C"))
...     return matters(unit, ())
>>> shown(count), shown(queue)
(False, True)
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any

from gpukit.compiler import intrinsics, tree
from gpukit.compiler.analysis import arrays
from gpukit.compiler.unit import Unit

# Atomics of one group may run in any order.
_GROUPS = {
    "add": "sum",
    "sub": "sum",
    "max": "max",
    "min": "min",
    "and_": "and",
    "or_": "or",
    "xor": "xor",
}


def matters(unit: Unit, own: Collection[str]) -> bool:
    """Tell whether atomics could make the result depend on the order of blocks; types are known.

    `own` are the shared and local arrays of the kernel, which other blocks cannot access.
    """
    if unit.devices:
        return True
    alone = {id(s.value) for s in tree.statements(unit.tree.body) if isinstance(s, ast.Expr)}
    groups = set()
    for node in ast.walk(unit.tree):
        name = tree.called(node) or ""
        if name in intrinsics.FENCE_NAMES:
            return True  # plain accesses may be ordered by it
        if not name.startswith("atomic.") or not isinstance(node, ast.Call):
            continue
        array = arrays.root(node.args[0])
        if array not in own:
            group, kind = _GROUPS.get(name[7:]), _integer(unit, array)
            if id(node) not in alone or not group or not kind:
                return True
            groups.add((group, kind))
    return len(groups) > 1  # arguments may overlap


def _integer(unit: Unit, array: str) -> str:
    """Return the name of an array's type if it holds integers, else nothing."""
    dtype: Any = getattr(unit.types.get(array), "dtype", None)
    return str(dtype) if hasattr(dtype, "bitwidth") and hasattr(dtype, "signed") else ""


def rounds(unit: Unit, name: str, node: ast.Call) -> bool:
    """Tell whether an atomic is an order-dependent sum of floats; sums of ones are exact."""
    from numba.core import types

    array, value = node.args[0], node.args[-1]
    kind = unit.types.get(array.id) if isinstance(array, ast.Name) else None
    if name not in ("add", "sub") or not isinstance(getattr(kind, "dtype", None), types.Float):
        return False
    whole = value.value if isinstance(value, ast.Constant) else 0.5
    return not (isinstance(whole, (int, float)) and float(whole).is_integer())
