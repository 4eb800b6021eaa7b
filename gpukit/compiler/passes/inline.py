"""Put device functions at which threads meet, or that own shared memory, into their caller.

Before                                   After
    def total(v):                            met_1 = cuda.shfl_down_sync(m, x, 1)
        return v + cuda.shfl_down_sync(...)  total_value_2 = x + met_1
    out[i] = total(x)                        out[i] = total_value_2

All other device functions are compiled once and called. An early `return` in an inlined
function becomes `else` branches, or a flag where a loop holds it.

>>> from gpukit.compiler import intrinsics as cuda
>>> class device:
...     def __init__(self, f): self.py_func = f
>>> @device
... def clipped(v):
...     if v < 0:
...         return 0
...     cuda.syncthreads()
...     return v
>>> def kernel(out, v):
...     out[0] = clipped(v)
>>> print(_show(kernel))
def kernel(out, v):
    if v < 0:
        met_1 = 0
    else:
        cuda.syncthreads()
        met_1 = v
    out[0] = met_1
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

from gpukit.compiler import intrinsics, kinds, refuse, tree
from gpukit.compiler.passes import jumps, normalise, resolve
from gpukit.compiler.unit import Unit

_OWNS = kinds.MEETINGS | {"shared.array", "cg.this_grid"}
# Intrinsics that are functions; a device function that gets one must know it to be compiled.
_PASSED = frozenset(
    [*kinds.MEETINGS, *(f"atomic.{n}" for n in intrinsics.ATOMIC_NAMES), *intrinsics.SCALAR_NAMES]
    + [f"fp16.{n}" for n in intrinsics.FP16_NAMES]
)


def _calls(call: Any, names: frozenset[str]) -> bool:
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names


def run(unit: Unit) -> None:
    """Normalise the unit and inline what must be inlined, in place."""
    normalise.prepare(unit)
    unit.tree.body = _Inliner(unit).body(unit.tree.body, ())
    ast.fix_missing_locations(unit.tree)


def must_inline(device: Any, seen: tuple[Any, ...] = ()) -> bool:
    """Tell whether a device function meets other threads or owns shared memory."""
    if any(device is s for s in seen):
        return False
    inner = resolve.run(device.py_func)
    for node in ast.walk(inner.tree):
        if isinstance(node, ast.Attribute) and tree.intrinsic(node) in _OWNS:
            return True
    return any(must_inline(d, (*seen, device)) for d in inner.devices.values())


class _Inliner:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def body(self, body: list[ast.stmt], callers: tuple[Any, ...]) -> list[ast.stmt]:
        """Return the body with every meeting a statement and no call that must be inlined."""
        inlined = self._inlined(body)
        body = normalise.statements(self.unit, body, inlined)
        return self._expand_all(body, inlined, callers) if inlined else body

    def _inlined(self, body: list[ast.stmt]) -> frozenset[str]:
        """Return the names of the called functions that cannot be compiled on their own.

        These are those that must be inlined, and those that get an intrinsic as an argument.
        """
        found = set()
        for call in (n for s in body for n in ast.walk(s) if isinstance(n, ast.Call)):
            name = call.func.id if isinstance(call.func, ast.Name) else ""
            if name in self.unit.devices and name not in found:
                takes = any(tree.intrinsic(a) in _PASSED for a in call.args)
                if takes or must_inline(self.unit.devices[name]):
                    found.add(name)
        return frozenset(found)

    def _expand_all(
        self, body: list[ast.stmt], inlined: frozenset[str], callers: tuple[Any, ...]
    ) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for s in body:
            call = getattr(s, "value", None)
            if isinstance(s, (ast.Expr, ast.Assign)) and _calls(call, inlined):
                target = s.targets[0].id if isinstance(s, ast.Assign) else ""  # type: ignore[attr-defined]
                result += self._expand(call, target, callers)  # type: ignore[arg-type]
                continue
            for field in ("body", "orelse"):
                if getattr(s, field, None):
                    setattr(s, field, self._expand_all(getattr(s, field), inlined, callers))
            result.append(s)
        return result

    def _expand(self, call: ast.Call, target: str, callers: tuple[Any, ...]) -> list[ast.stmt]:
        name = call.func.id  # type: ignore[attr-defined]
        device = self.unit.devices[name]
        if any(device is c for c in callers):
            raise refuse.unsupported(
                self.unit, call, f"{name} calls itself and holds a barrier or shuffle.",
                "write it as a loop",
            )  # fmt: skip
        inner = resolve.run(device.py_func)
        refuse.mark(inner)
        normalise.prepare(inner)
        bound = self._bind(inner, call)
        names = self._rename(inner, bound)
        first = [tree.at(tree.assign(names[p], a), call) for p, a in bound.items() if p in names]
        result = target or self.unit.fresh(f"{inner.name}_value")
        flag = self.unit.fresh(f"{inner.name}_done")
        body = jumps.without_returns(inner.tree.body, result, flag)
        body = normalise.live(body) or [tree.at(ast.Pass(), call)]
        return first + self.body(body, (*callers, device))

    def _bind(self, inner: Unit, call: ast.Call) -> dict[str, ast.expr]:
        """Return the argument for each parameter of the inlined function."""
        signature = inspect.signature(inner.function)
        by_name = {k.arg: k.value for k in call.keywords if k.arg}
        try:
            bound = signature.bind(*call.args, **by_name)
        except TypeError as error:
            raise refuse.invalid(
                self.unit, call, f"{inner.name}: {error}.", "check the arguments of the call"
            ) from None
        bound.apply_defaults()
        values = zip(inner.parameters, bound.arguments.values(), strict=True)
        return {p: v if isinstance(v, ast.expr) else tree.const(v) for p, v in values}

    def _rename(self, inner: Unit, bound: dict[str, ast.expr]) -> dict[str, str]:
        """Give the inner function's names a place in the caller; return its locals' new names.

        Parameters that are never written and bound to a plain name are replaced by it.
        """
        written = tree.writes(inner.tree)
        direct = {
            p: a
            for p, a in bound.items()
            if p not in written and (isinstance(a, (ast.Name, ast.Constant)) or tree.intrinsic(a))
        }
        own = (written | set(inner.parameters)) - set(direct)
        names = {n: self.unit.fresh(n) for n in sorted(own)}
        outer = {n: self._adopt(inner, n) for n in inner.globals}
        outer |= {n: self._adopt(inner, n) for n in inner.captured}
        _Rename({**outer, **names}, direct).visit(inner.tree)
        return names

    def _adopt(self, inner: Unit, name: str) -> str:
        """Enter a captured object of the inner function in the caller's tables."""
        value = inner.captured.get(name, inner.globals.get(name))
        new = name
        taken = tree.writes(self.unit.tree) | set(self.unit.parameters)
        while new in taken or self.unit.globals.get(new, value) is not value:
            new += "_"
        self.unit.globals[new] = value
        for table in ("devices", "captured", "constants"):
            if name in getattr(inner, table):
                getattr(self.unit, table)[new] = getattr(inner, table)[name]
        return new


class _Rename(ast.NodeTransformer):
    def __init__(self, names: dict[str, str], direct: dict[str, ast.expr]) -> None:
        self.names = names
        self.direct = direct

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.direct:
            return tree.at(tree.clone(self.direct[node.id]), node)  # type: ignore[no-any-return]
        node.id = self.names.get(node.id, node.id)
        return node


def _show(function: Any) -> str:
    unit = resolve.run(function)
    run(unit)
    return ast.unparse(unit.tree)
