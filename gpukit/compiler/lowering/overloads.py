"""Replace calls of third-party overloads by calls of their implementations as device functions.

Before                                   After
    out[i] = triple(x)                       out[i] = triple_1(x)
    out[i] = a.total()                       out[i] = total_2(a)

Numba's type inference selects the overload for each call. Its implementation may then do all that a
device function may: use thread indices, synchronise, have its accesses checked. If a kernel uses no
such overload, no types are inferred.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from numba.core import ir, types
from numba.core.errors import NumbaError
from numba.core.target_extension import target_override
from numba.core.utils import order_by_target_specificity

from gpukit import errors
from gpukit.compiler import extensions, tree
from gpukit.compiler.frontend import resolve
from gpukit.compiler.kernel_target import CUDA, NAME
from gpukit.compiler.lowering import typing
from gpukit.compiler.unit import Unit

_FAR = 1 << 24  # line numbers beyond any source text distinguish the calls
_ROUNDS = 8  # levels of overloads that call overloads; the rest is left to Numba


class Implementation:
    """The implementation of an overload, with the interface of a device function."""

    device = True
    signatures = ()

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        self.py_func = function
        self.targetoptions = options

    @property
    def device_options(self) -> dict[str, Any]:
        fastmath = self.targetoptions.get("fastmath", False)
        return {"fastmath": fastmath} if fastmath else {}


class Implement:
    """Replaces overloads by implementations; called until it returns that none were left.

    `kinds` are the types of the kernel's arguments, `captured` those of its captured arrays.
    """

    def __init__(self, kinds: tuple[types.Type, ...], captured: list[types.Type]) -> None:
        self.kinds, self.captured = kinds, captured
        self.rounds = 0

    def __call__(self, unit: Unit) -> bool:
        sites = list(_sites(unit)) if self.rounds < _ROUNDS else []
        self.rounds += 1
        found = _found(unit, sites, self._arguments(unit)) if sites else {}
        for node, implementation in found.items():
            _put(unit, node, implementation)
        return bool(found)

    def _arguments(self, unit: Unit) -> dict[str, types.Type]:
        given = dict(zip(unit.parameters, self.kinds, strict=True))
        return given | dict(zip(unit.captured, self.captured, strict=True))


def _sites(unit: Unit) -> Iterator[ast.expr]:
    """Yield the calls, and the attributes that are not called, which may be overloads."""
    keys, names = extensions.functions(), extensions.attributes()
    called = {id(n.func) for n in ast.walk(unit.tree) if isinstance(n, ast.Call)}
    for node in ast.walk(unit.tree):
        function = node.func if isinstance(node, ast.Call) else node
        if isinstance(function, ast.Attribute) and function.attr in names:
            if isinstance(function.ctx, ast.Load) and (id(node) not in called):
                yield node  # type: ignore[misc]
        elif isinstance(node, ast.Call) and isinstance(function, ast.Name):
            value = unit.globals.get(function.id)
            if any(value is key for key in keys) and function.id not in unit.devices:
                yield node


def _found(
    unit: Unit, sites: list[ast.expr], arguments: dict[str, types.Type]
) -> dict[ast.expr, Implementation]:
    """Return the implementations of those sites that are third-party overloads."""
    unit.types = dict(arguments)
    with _on_lines_of_their_own(sites):
        try:
            state = typing.typed(unit, arguments)
        except (NumbaError, errors.GpukitError):
            return {}  # the error is reported when the kernel is compiled
    found = {}
    for block in state.func_ir.blocks.values():
        for statement in block.find_insts(ir.Assign):
            at = statement.loc.line - _FAR
            if 0 <= at < len(sites) and isinstance(statement.value, ir.Expr):
                made = _implementation(state, statement.value)
                if made is not None:
                    found[sites[at]] = made
    return found


@contextlib.contextmanager
def _on_lines_of_their_own(sites: list[ast.expr]) -> Iterator[None]:
    # Python reports the call of a method at the line of the method's name.
    nodes = [(k, n) for k, s in enumerate(sites) for n in (s, getattr(s, "func", s))]
    before = [(n.lineno, n.end_lineno) for _, n in nodes]
    for k, node in nodes:
        node.lineno = node.end_lineno = _FAR + k
    try:
        yield
    finally:
        for (_, node), (first, last) in zip(nodes, before, strict=True):
            node.lineno, node.end_lineno = first, last


def _implementation(state: Any, expression: ir.Expr) -> Implementation | None:
    """Return the implementation of the overload that Numba chose, if it is third-party."""
    templates, arguments = _chosen(state, expression)
    for template in templates:
        if not extensions.is_foreign(template) or not hasattr(template, "_overload_func"):
            continue
        made = template._overload_func(*arguments)
        made = made[1] if isinstance(made, tuple) else made
        if made is not None:
            options = getattr(template, "_jit_options", {})
            return Implementation(made, options) if _can_be_device(made) else None
    return None


def _chosen(state: Any, expression: ir.Expr) -> tuple[list[Any], tuple[Any, ...]]:
    """Return the templates of a call or an attribute, and the types of their arguments.

    Of the overloads of a function that accept these types, the most specific comes first.
    """
    if expression.op == "getattr":
        owner = types.unliteral(state.typemap[expression.value.name])
        with contextlib.suppress(NumbaError), target_override(NAME):
            matched = state.typingctx.find_matching_getattr_template(owner, expression.attr)
            if matched and not getattr(matched["template"], "is_method", False):
                return [matched["template"]], (owner,)
        return [], ()
    if expression.op != "call" or not state.calltypes.get(expression):
        return [], ()
    function, given = state.typemap[expression.func.name], state.calltypes[expression].args
    if isinstance(function, types.BoundFunction):
        return [function.template], (function.this, *given)
    if not isinstance(function, types.Function):
        return [], ()
    ordered = order_by_target_specificity(CUDA, function.templates, function.typing_key)
    return [t for t in ordered if _takes(t, given)], given


def _takes(template: Any, arguments: tuple[Any, ...]) -> bool:
    """Tell whether Numba compiled an overload for types; True for other templates."""
    compiled = getattr(template, "_compiled_overloads", {arguments: None})
    return arguments in compiled


def _can_be_device(function: FunctionType) -> bool:
    """Tell whether gpukit can compile a function; if not, Numba does, without checks."""
    try:
        unit = resolve.run(function, device=True)
    except (errors.Unsupported, errors.SourceError):
        return False
    return not unit.captured and all(_can_be_device(d.py_func) for d in unit.devices.values())


def _put(unit: Unit, node: ast.expr, implementation: Implementation) -> None:
    """Turn a call or an attribute into a call of the device function that implements it."""
    name = unit.fresh(implementation.py_func.__name__.strip("<_>") or "overload")
    unit.devices[name] = unit.globals[name] = implementation
    function = tree.at(tree.name(name), node)
    if isinstance(node, ast.Attribute):
        owner = node.value
        call = tree.at(ast.Call(function, [owner], []), node)
        for field in ("value", "attr", "ctx"):
            delattr(node, field)
        node.__class__ = ast.Call  # type: ignore[assignment]
        vars(node).update(vars(call))
        return
    if isinstance(node.func, ast.Attribute):  # type: ignore[attr-defined]
        node.args.insert(0, node.func.value)  # type: ignore[attr-defined]
    node.func = function  # type: ignore[attr-defined]
