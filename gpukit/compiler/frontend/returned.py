"""Reject device functions that return memory of their own local arrays.

On a GPU a local array is in the stack frame of the function that creates it, and is gone when that
returns: `return r`, and so `return r[1:]`, a record in it, a tuple that contains it. A function
that Numba itself inlines (`inline="always"`), or that is defined inside another, has no frame: its
arrays belong to its caller. Shared arrays last as long as the block.

>>> from gpukit.compiler import intrinsics as cuda
>>> import numpy as np
>>> def pair(x, y):
...     r = cuda.local.array(2, np.float32)
...     r[0] = x
...     return r[0] + y if x > y else r
>>> from gpukit.compiler.frontend import own_arrays, resolve
>>> check(resolve.run(pair))
Traceback (most recent call last):
gpukit.errors.ReturnedLocal: ...
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
from numba.core import types

from gpukit import errors
from gpukit.compiler import facts, refuse, shapes, tree
from gpukit.compiler.analysis import expressions
from gpukit.compiler.frontend import own_arrays, resolve
from gpukit.compiler.unit import Unit

_VIEWS = frozenset(["reshape", "view", "ravel", "transpose", "swapaxes"])
_NUMPY_VIEWS = (np.reshape, np.ravel, np.transpose, np.flip, np.fliplr, np.flipud, np.swapaxes)
# Variables that refer to memory of local arrays, with its types, or tuples of these.
_Memory = dict[str, Any]


def check(unit: Unit, caller: Unit | None = None, call: ast.Call | None = None) -> None:
    """Raise `errors.ReturnedLocal` at a `return` of a device function's own local memory.

    A `call` of it, in its `caller`, gives the dtypes of its arrays where they are arguments.
    """
    walk = _Walk(unit, own=True, refuses=True)
    if caller is not None and call is not None:
        walk.dtypes = _Walk(caller, own=True).dtypes_given(unit.tree, call)
    walk.body(unit.tree.body, {})


class _Walk:
    """Tracks the memory of local arrays through a function to what it returns.

    With `own`, its own arrays are tracked, too; with `refuses`, returning any is an error.
    """

    def __init__(
        self, unit: Unit, *, own: bool, refuses: bool = False, callers: tuple[Any, ...] = ()
    ) -> None:
        self.unit, self.own, self.refuses, self.callers = unit, own, refuses, callers
        self.returned: Any = None
        self.dtypes: dict[str, Any] = {}  # by parameter that is a dtype

    # ---- statements -----------------------------------------------------------------------

    def body(self, body: list[ast.stmt], known: _Memory) -> _Memory:
        """Walk statements with what is known of variables before; return what is known after."""
        for s in body:
            known = self._statement(s, known)
        return known

    def _statement(self, s: ast.stmt, known: _Memory) -> _Memory:
        if isinstance(s, ast.Return):
            self._return(s, None if s.value is None else self.of(s.value, known))
        elif isinstance(s, ast.Assign):
            # An array of np.empty is in the memory runtime's heap, and outlives the function.
            value = None if facts.of(s).allocates else self.of(s.value, known)
            for target in s.targets:
                known = {**known, **_unpacked(target, value)}
        elif tree.blocks(s):
            branches = [self.body(block, known) for block in tree.blocks(s)]
            if isinstance(s, (ast.For, ast.While)):  # the next iteration reads what one sets
                branches = [self.body(b, _joined(known, *branches)) for b in tree.blocks(s)]
            whole = isinstance(s, ast.If) and len(branches) == 2
            known = _joined(*branches) if whole else _joined(known, *branches)
        return known

    def _return(self, s: ast.Return, value: Any) -> None:
        self.returned = self.returned or value
        if value is None or not self.refuses:
            return
        kernel, file, line, source = refuse.where(self.unit, s)
        name, text = self.unit.name, refuse.written(s.value)  # type: ignore[arg-type]
        raise refuse.numba_class(errors.ReturnedLocal)(
            f"The device function {name} returns {text}, memory of its own cuda.local.array: "
            f"on a GPU that memory is invalid after {name} returns.",
            kernel=kernel,
            file=file,
            line=line,
            source=source,
            fix=f"make the array in the caller and pass it to {name} as an argument, or return "
            "its values, as numbers or a tuple of numbers",
        )

    # ---- expressions ----------------------------------------------------------------------

    def of(self, node: ast.expr, known: _Memory) -> Any:
        """Return the type of the local memory that an expression refers to, None for values."""
        if isinstance(node, ast.Name):
            return known.get(node.id)
        if isinstance(node, ast.Tuple):
            parts = tuple(self.of(e, known) for e in node.elts)
            return parts if any(p is not None for p in parts) else None
        if isinstance(node, ast.IfExp):
            return self._first([node.body, node.orelse], known)
        if isinstance(node, (ast.BoolOp, ast.BinOp)):  # on tuples
            return self._first(
                node.values if isinstance(node, ast.BoolOp) else [node.left, node.right], known
            )
        if isinstance(node, ast.Starred):
            return self.of(node.value, known)
        if isinstance(node, ast.Subscript):
            return self._element(self.of(node.value, known), node)
        if isinstance(node, ast.Attribute):
            return self._attribute(self.of(node.value, known), node.attr)
        return self._call(node, known) if isinstance(node, ast.Call) else None

    def _first(self, nodes: list[ast.expr], known: _Memory) -> Any:
        return next((m for n in nodes if (m := self.of(n, known)) is not None), None)

    def _element(self, base: Any, node: ast.Subscript) -> Any:
        if not isinstance(base, tuple):
            return None if base is None else _memory(expressions.subscript(base, node.slice))
        index = shapes.constant(self.unit, node.slice)
        if type(index) is int and -len(base) <= index < len(base):
            return base[index]
        return next((part for part in base if part is not None), None)

    def _attribute(self, base: Any, name: str) -> Any:
        if isinstance(base, types.Array) and name in ("T", "real", "imag"):
            return base
        return _memory(expressions.field(base, name))

    def _call(self, node: ast.Call, known: _Memory) -> Any:
        if tree.called(node) == "local.array":
            return self._made(node) if self.own else None
        given = [self.of(a, known) for a in node.args]
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _VIEWS:
            return _reshaped(self.of(function.value, known), _axes(function.attr, node.args))
        name = function.id if isinstance(function, ast.Name) else ""
        if name in self.unit.nested:
            return self._nested(self.unit.nested[name].tree, node, given, known)
        if name in self.unit.devices:
            return self._device(self.unit.devices[name], node, given, known)
        called = self.unit.globals.get(name)
        view = next((f for f in _NUMPY_VIEWS if f is called), None)
        if view is None or not given:
            return None
        return _reshaped(given[0], _axes(view.__name__, node.args[1:]))

    def _made(self, node: ast.Call) -> Any:
        try:
            shape, dtype = shapes.request(self.unit, node)
        except errors.GpukitError:  # the dtype is an argument, or an argument's
            given = dict(zip(("shape", "dtype"), node.args, strict=False))
            given |= {k.arg: k.value for k in node.keywords if k.arg}
            dtype = self._dtype(given.get("dtype")) or types.undefined
            axes = given.get("shape")
            shape = (0,) * (len(axes.elts) if isinstance(axes, ast.Tuple) else 1)
        return types.Array(dtype, len(shape), "C")

    def _dtype(self, node: ast.expr | None) -> Any:
        """Return the dtype that an expression refers to; None if it is none, or unknown here."""
        if isinstance(node, ast.Name) and node.id in self.dtypes:
            return self.dtypes[node.id]
        try:
            return None if node is None else shapes.dtype_of(self.unit, node)
        except errors.GpukitError:
            return None

    def dtypes_given(self, function: ast.FunctionDef, call: ast.Call) -> dict[str, Any]:
        """Return the dtypes that a call passes to parameters of a function."""
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        given = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
        found = {name: self._dtype(value) for name, value in given if name}
        return {name: dtype for name, dtype in found.items() if dtype is not None}

    def _nested(
        self, function: ast.FunctionDef, node: ast.Call, given: list[Any], known: _Memory
    ) -> Any:
        inner = _Walk(self.unit, own=self.own, callers=self.callers)
        inner.dtypes = {**self.dtypes, **self.dtypes_given(function, node)}
        inner.body(function.body, {**known, **self._bound(function, node, given, known)})
        return inner.returned

    def _device(self, device: Any, node: ast.Call, given: list[Any], known: _Memory) -> Any:
        """Return the memory, of that it is passed, which a device function returns."""
        if any(device is c for c in self.callers) or not hasattr(device.py_func, "__code__"):
            return None
        unit = resolve.run(device.py_func, device=True)
        own = self.own and not own_arrays.has_frame(device)
        bound = self._bound(unit.tree, node, given, known)
        if not own and not any(m is not None for m in bound.values()):
            return None
        inner = _Walk(unit, own=own, callers=(*self.callers, device))
        inner.dtypes = self.dtypes_given(unit.tree, node)
        inner.body(unit.tree.body, bound)
        return inner.returned

    def _bound(
        self, function: ast.FunctionDef, node: ast.Call, given: list[Any], known: _Memory
    ) -> _Memory:
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        bound = dict(zip(names, given, strict=False))
        bound |= {k.arg: self.of(k.value, known) for k in node.keywords if k.arg}
        if function.args.vararg:
            bound[function.args.vararg.arg] = tuple(given[len(names) :])
        return bound


def _memory(kind: Any) -> Any:
    """Return a type if it refers to memory, None for numbers."""
    return kind if isinstance(kind, (types.Array, types.Record)) else None


def _reshaped(base: Any, ndim: int | None = None) -> Any:
    """Return the type of a view with `ndim` axes, as many as before if that is not known."""
    return base.copy(ndim=ndim or base.ndim, layout="A") if isinstance(base, types.Array) else None


def _axes(name: str, given: list[ast.expr]) -> int | None:
    """Return how many axes the view returned by a call has; None for as many as before."""
    if name == "ravel":
        return 1
    if name != "reshape":
        return None
    whole = given[0] if len(given) == 1 else None
    return len(whole.elts) if isinstance(whole, ast.Tuple) else len(given)


def _unpacked(target: ast.expr, value: Any) -> _Memory:
    """Return what an assignment binds to variables; a store to memory makes a copy."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if not isinstance(target, ast.Tuple):
        return {}
    parts = value if isinstance(value, tuple) else (None,) * len(target.elts)
    pairs = zip(target.elts, parts, strict=False)
    return {name: m for t, part in pairs for name, m in _unpacked(t, part).items()}


def _joined(*branches: _Memory) -> _Memory:
    """Return what variables may refer to where branches merge."""
    return {
        name: next((b[name] for b in branches if b.get(name) is not None), None)
        for name in set().union(*branches)
    }
