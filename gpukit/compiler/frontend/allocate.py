"""Turn `np.empty` and the like into local arrays, where numba-cuda's memory runtime is enabled.

Before                                  After
    x = np.zeros(10, np.int64)              x = cuda.local.array(10, int64)
                                            x[:] = 0

A GPU allows this only with `NUMBA_CUDA_ENABLE_NRT=1`, so it is rejected without. A local array
exists once per thread and as long as the kernel, which is equivalent outside loops.

>>> from gpukit.compiler.frontend import resolve
>>> def kernel(out):
...     x = np.zeros(10, np.int64)
...     out[0] = x[3]
>>> kept = os.environ.get(VARIABLE)
>>> os.environ[VARIABLE] = "1"
>>> print(ast.unparse(resolve.run(kernel).tree))
def kernel(out):
    x = cuda.local.array(10, np_int64)
    x[:] = 0
    out[0] = x[3]
>>> _ = os.environ.pop(VARIABLE) if kept is None else os.environ.update({VARIABLE: kept})
"""

from __future__ import annotations

import ast
import os
import sys
from typing import Any

import numpy as np

from gpukit.compiler import facts, refuse, tree
from gpukit.compiler.unit import Unit

VARIABLE = "NUMBA_CUDA_ENABLE_NRT"
_MAKERS: dict[Any, tuple[str, ...]] = {
    np.empty: ("shape", "dtype"),
    np.zeros: ("shape", "dtype"),
    np.ones: ("shape", "dtype"),
    np.full: ("shape", "fill_value", "dtype"),
}
_FILL = {"zeros": 0, "ones": 1}
_KINDS = {int: "int64", float: "float64", bool: "boolean", complex: "complex128"}


def switched_on() -> bool:
    """Tell whether kernels may create arrays."""
    config = sys.modules.get("numba.core.config")
    on = os.environ.get(VARIABLE, "0") not in ("", "0") or getattr(config, "CUDA_ENABLE_NRT", False)
    return bool(on)


def allowed(function: Any) -> bool:
    """Tell whether a kernel may call this NumPy function to create an array."""
    return switched_on() and any(function is maker for maker in _MAKERS)


def run(unit: Unit) -> None:
    """Rewrite the unit's trees in place; names are resolved."""
    makers = {n: v for n, v in unit.globals.items() if any(v is m for m in _MAKERS)}
    if makers:
        unit.allocates = True
        for function in unit.trees:
            function.body = _body(unit, function.body, makers)


def check(unit: Unit) -> None:
    """Reject a new array in a loop, after device functions have been inlined."""
    if not unit.allocates:
        return
    loops = (n for n in ast.walk(unit.tree) if isinstance(n, (ast.For, ast.While)))
    for node in (n for loop in loops for n in ast.walk(loop)):
        if maker := facts.of(node).allocates:
            raise refuse.unsupported(
                unit,
                node,
                f"np.{maker} in a loop would create an array in each iteration.",
                "create the array before the loop",
            )


def _body(unit: Unit, body: list[ast.stmt], makers: dict[str, Any]) -> list[ast.stmt]:
    new: list[ast.stmt] = []
    for s in body:
        for part in ("body", "orelse"):
            if getattr(s, part, None):
                setattr(s, part, _body(unit, getattr(s, part), makers))
        if isinstance(s, ast.Assign) and _makes(s.value, makers) and _one_name(s):
            new += _local_array(unit, s, makers[s.value.func.id])  # type: ignore[attr-defined]
            continue
        for node in [n for e in (tree.heads(s) if tree.blocks(s) else [s]) for n in ast.walk(e)]:
            if _makes(node, makers):
                raise refuse.unsupported(
                    unit,
                    node,
                    f"{refuse.written(node)} is used without a name.",
                    f"write x = {refuse.written(node)} on a separate line",
                )
        new.append(s)
    return new


def _makes(node: ast.AST, makers: dict[str, Any]) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") in makers


def _one_name(s: ast.Assign) -> bool:
    return len(s.targets) == 1 and isinstance(s.targets[0], ast.Name)


def _local_array(unit: Unit, s: ast.Assign, maker: Any) -> list[ast.stmt]:
    call: Any = s.value
    given = dict(zip(_MAKERS[maker], call.args, strict=False))
    given |= {k.arg: k.value for k in call.keywords}
    name = maker.__name__
    if "shape" not in given or set(given) - set(_MAKERS[maker]):
        raise refuse.unsupported(
            unit,
            call,
            f"np.{name} takes {', '.join(_MAKERS[maker])} in a kernel.",
            f"write np.{name}({', '.join(_MAKERS[maker])})",
        )
    fill = given.get("fill_value")
    kind = _KINDS.get(type(fill.value), "float64") if isinstance(fill, ast.Constant) else "float64"
    if fill is not None and "dtype" not in given and not isinstance(fill, ast.Constant):
        raise refuse.unsupported(unit, call, "np.full needs a dtype in a kernel.", "name the dtype")
    s.value = tree.call("cuda.local.array", given["shape"], given.get("dtype", tree.const(kind)))
    facts.note(s, allocates=name)
    made = [tree.at(s, call)]
    value = tree.const(_FILL[name]) if name in _FILL else fill
    if value is not None:
        array = s.targets[0].id  # type: ignore[attr-defined]
        made += [tree.at(f, call) for f in tree.stmts(f"{array}[:] = value", value=value)]
    return made
