"""Inline device functions that synchronise, own shared memory or index arrays.

Before                                   After
    def total(v):                            temp_1 = cuda.shfl_down_sync(m, x, 1)
        return v + cuda.shfl_down_sync(...)  total_value_2 = x + temp_1
    out[i] = total(x)                        out[i] = total_value_2

Those that index arrays which they are passed are inlined for speed: in the caller one bounds check
serves a whole row. All other device functions are compiled once and called. An early `return` in an
inlined function becomes `else` branches, or a flag if it is in a loop.

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
>>> unit = resolve.run(kernel)
>>> run(unit)
>>> print(ast.unparse(unit.tree))
def kernel(out, v):
    if v < 0:
        temp_1 = 0
    else:
        cuda.syncthreads()
        temp_1 = v
    out[0] = temp_1
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from gpukit.compiler import extensions, facts, intrinsics, kinds, refuse, tree
from gpukit.compiler.frontend import (
    allocate,
    binding,
    captures,
    escapes,
    inplace,
    jumps,
    nested,
    normalise,
    own_arrays,
    resolve,
    unroll,
)
from gpukit.compiler.unit import Unit

_OWNS = kinds.SYNC_POINTS | {"shared.array", "cg.this_grid"}
# Intrinsics that are functions; a device function that is passed one must be inlined.
_PASSED = frozenset(
    [
        *kinds.SYNC_POINTS,
        *(f"atomic.{n}" for n in intrinsics.ATOMIC_NAMES),
        *intrinsics.SCALAR_NAMES,
    ]
    + [f"fp16.{n}" for n in intrinsics.FP16_NAMES]
)

# How deep a function may be inlined in itself before it counts as recursive.
_DEPTH = 4


def _calls(call: Any, names: frozenset[str]) -> bool:
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names


def run(unit: Unit, implement: Callable[[Unit], bool] = lambda _: False) -> None:
    """Normalise the unit and inline what must be inlined, in place.

    `implement` replaces other calls by calls of device functions; it returns whether any were.
    """
    normalise.prepare(unit)
    unit.tree.body = _Inliner(unit).body(unit.tree.body, ())
    while implement(unit):
        unit.tree.body = _Inliner(unit).body(unit.tree.body, ())
    escapes.run(unit)
    allocate.check(unit)
    own_arrays.run(unit)
    ast.fix_missing_locations(unit.tree)


def must_inline(device: Any, seen: tuple[Any, ...] = ()) -> bool:
    """Tell whether a device function has a sync point, arrays that outlive it or *args.

    Or calls of third-party overloads or of `literal_unroll`, which depend on the caller's types, or
    of C++ functions that the kernel is linked with.
    """
    if any(device is s for s in seen):
        return False
    inner = resolve.run(device.py_func, device=True)
    if not own_arrays.has_frame(device):
        return True  # the arrays that it creates belong to the caller
    for node in (n for function in inner.trees for n in ast.walk(function)):
        if isinstance(node, ast.Attribute) and tree.intrinsic(node) in _OWNS:
            return True
    for node in (n for function in inner.trees for n in ast.walk(function)):
        if tree.called(node) in kinds.ARRAYS and _takes_dtype(node, inner.parameters):
            return True  # known only in the caller
    if inner.tree.args.vararg or inner.allocates or extensions.used(inner):
        return True
    if unroll.is_used(inner):
        return True
    if any(not isinstance(a, np.ndarray) for a in inner.captured.values()):
        return True
    if any(getattr(g, "links_with_kernel", False) is True for g in inner.globals.values()):
        return True
    return any(must_inline(d, (*seen, device)) for d in inner.devices.values())


def _takes_dtype(call: Any, parameters: list[str]) -> bool:
    """Tell whether an array is created with a dtype that is an argument, or an argument's."""
    dtypes = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "dtype")]
    return any(isinstance(d, ast.Name) and d.id in parameters for d in dtypes) or any(
        isinstance(n, ast.Attribute) and n.attr == "dtype" for n in ast.walk(call)
    )


def may_inline(device: Any, seen: tuple[Any, ...] = (), *, cast: bool = False) -> bool:
    """Tell whether a device function that need not be inlined can be.

    A recursive one cannot. One that casts its arguments to its declared types can only with `cast`,
    because casts hide what is known of the arguments.
    """
    if any(device is s for s in seen) or (captures.declared(device) and not cast):
        return False
    if not isinstance(getattr(device.py_func, "__code__", None), types.CodeType):
        return False
    inner = resolve.run(device.py_func, device=True)
    return all(may_inline(d, (*seen, device), cast=cast) for d in inner.devices.values())


def indexes(device: Any, seen: tuple[Any, ...] = ()) -> bool:
    """Tell whether a device function, or one that it calls, indexes an array that it is passed."""
    if any(device is s for s in seen) or not hasattr(device.py_func, "__code__"):
        return False
    inner = resolve.run(device.py_func, device=True)
    for node in (n for function in inner.trees for n in ast.walk(function)):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            if node.value.id in inner.parameters:
                return True
    return any(indexes(d, (*seen, device)) for d in inner.devices.values())


def names(unit: Unit, intrinsics_: frozenset[str], seen: tuple[Any, ...] = ()) -> bool:
    """Tell whether a function, or a device function that it calls, names one of the intrinsics."""
    nodes = (n for function in unit.trees for n in ast.walk(function))
    if any(isinstance(n, ast.Attribute) and tree.intrinsic(n) in intrinsics_ for n in nodes):
        return True
    new = [d for d in unit.devices.values() if not any(d is s for s in seen)]
    inner = (resolve.run(d.py_func, device=True) for d in new)
    return any(names(i, intrinsics_, (*seen, *new)) for i in inner)


class _Inliner:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def body(self, body: list[ast.stmt], callers: tuple[Any, ...]) -> list[ast.stmt]:
        """Return the body with sync points as statements and all calls inlined that must be."""
        inplace.run(self.unit, body)
        inlined = self._inlined(body)
        body = normalise.statements(self.unit, body, inlined)
        return self._expand_all(body, inlined, callers) if inlined else body

    def _inlined(self, body: list[ast.stmt]) -> frozenset[str]:
        """Return the names of the called functions that cannot be compiled separately.

        They must be inlined, or have a function as an argument.
        """
        found = set()
        for call in (n for s in body for n in ast.walk(s) if isinstance(n, ast.Call)):
            name = call.func.id if isinstance(call.func, ast.Name) else ""
            if name in self.unit.nested:
                found.add(name)
            elif name in self.unit.devices and name not in found:
                given = [*call.args, *(k.value for k in call.keywords)]
                device = self.unit.devices[name]
                takes = any(self._is_function(a) for a in given)
                if takes or must_inline(device) or self._gains(device):
                    found.add(name)
        return frozenset(found)

    def _gains(self, device: Any) -> bool:
        """Tell whether inlining a function gains anything: counted or bounded accesses."""
        watched = self.unit.whole or bool(self.unit.instrumented)
        return (watched or indexes(device)) and may_inline(device, cast=watched)

    def _is_function(self, argument: ast.expr) -> bool:
        if isinstance(argument, ast.Name):
            return argument.id in self.unit.nested or argument.id in self.unit.devices
        return tree.intrinsic(argument) in _PASSED

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
        from gpukit.compiler.frontend import declared, returned  # they need Numba's types

        name = call.func.id  # type: ignore[attr-defined]
        if name in self.unit.nested:
            return self._expand_nested(self.unit.nested[name], call, target, callers)
        device = self.unit.devices[name]
        self._check_depth(device, name, call, callers)
        escapes.check_constants(self.unit, call)
        inner = resolve.run(device.py_func, device=True)
        if own_arrays.has_frame(device):
            returned.check(inner, self.unit, call)
        self.unit.allocates |= inner.allocates
        refuse.mark(inner, self.unit, call)
        normalise.prepare(inner)
        first = binding.unpack(self.unit, inner, call)
        bound = binding.of_device(self.unit, inner, call)
        casts = declared.Casts(self.unit, inner, device, call)
        first += [] if must_inline(device) else casts.arguments(bound)
        value, last = casts.result(target)
        outer = {n: self._captured_name(inner, n) for n in [*inner.globals, *inner.captured]}
        first += self._rename(inner, bound, call, outer, inner.nested, device)
        body = self._body(inner.tree, inner.name, call, value, (*callers, device))
        return [*first, *body, *last]

    def _expand_nested(
        self, function: nested.Nested, call: ast.Call, target: str, callers: tuple[Any, ...]
    ) -> list[ast.stmt]:
        self._check_depth(function.origin, function.name, call, callers)
        bound = binding.of_nested(self.unit, function, call)
        own = copy.copy(self.unit)
        own.tree = tree.clone(function.tree)
        normalise.prepare(own)
        self.unit.counter = own.counter
        inside = {k: self.unit.nested[k] for k in function.inside}
        first = self._rename(own, bound, call, {}, inside)
        return first + self._body(
            own.tree,
            function.name.strip("_") or "function",
            call,
            target,
            (*callers, function.origin),
        )

    def _check_depth(
        self, function: Any, name: str, call: ast.Call, callers: tuple[Any, ...]
    ) -> None:
        # Two levels are not recursion yet: `apply(g, x)` where g uses `apply` itself.
        if sum(function is c for c in callers) >= _DEPTH:
            raise refuse.unsupported(
                self.unit,
                call,
                f"{name} calls itself, and cannot be inlined.",
                "write it as a loop",
            )

    def _body(
        self,
        function: ast.FunctionDef,
        name: str,
        call: ast.Call,
        target: str,
        callers: tuple[Any, ...],
    ) -> list[ast.stmt]:
        """Return the statements of an inlined function's body; its value goes to `target`."""
        result = target or self.unit.fresh(f"{name}_value")
        flag = jumps.flag(self.unit, f"{name}_done")
        # First drop the branches that the arguments rule out: they may not even have types.
        body = normalise.live(function.body) or [tree.at(ast.Pass(), call)]
        body = jumps.without_returns(body, result, flag)
        body = normalise.live(body) or [tree.at(ast.Pass(), call)]
        return self.body(body, callers)

    def _rename(
        self,
        inner: Unit,
        bound: binding.Bound,
        call: ast.Call,
        outer: dict[str, str],
        inside: dict[str, nested.Nested],
        device: Any = None,
    ) -> list[ast.stmt]:
        """Rename the inner function's names for the caller; return what to run first.

        Parameters that are never written and bound to a plain name are replaced by it.
        """
        function = inner.tree
        starred = function.args.vararg.arg if function.args.vararg else ""
        written = tree.writes(function)
        first = []
        if starred not in written:
            first = binding.settle(self.unit, inner, bound, starred, call)
        direct = binding.direct(bound, written, starred)
        own = (written | set(bound)) - set(direct)
        ordered = dict.fromkeys([*bound, *tree.in_order(own, function)])
        names = {n: self.unit.renamed(n, of=inner) for n in ordered if n in own}
        if device is not None and facts.of(function).library_line:
            shown = f"{refuse.written(call.func, self.unit)}(...)"  # its own names are unknown here
            self.unit.source_names |= dict.fromkeys(names.values(), shown)
        everything = {**outer, **names}

        def rename(body: Any, more: dict[str, str]) -> Any:
            return binding.Rename({**everything, **more}, direct).visit(body)

        if device is not None:
            given = [direct[p] if p in direct else tree.name(names[p]) for p in bound]
            own_arrays.mark(function, device, given)
        keys = nested.copied(self.unit, inside, rename, everything)
        rename(function, keys)
        return first + [
            tree.at(tree.assign(names[p], a), call) for p, a in bound.items() if p in names
        ]

    def _captured_name(self, inner: Unit, name: str) -> str:
        """Add a captured object of the inner function to the caller's tables."""
        value = inner.captured.get(name, inner.globals.get(name))
        new = name
        taken = tree.writes(self.unit.tree) | set(self.unit.parameters)
        while new in taken or not self.unit.may_name(new, value):
            new += "_"
        self.unit.globals[new] = value
        for table in ("devices", "captured", "constants"):
            if name in getattr(inner, table):
                getattr(self.unit, table)[new] = getattr(inner, table)[name]
        return new
