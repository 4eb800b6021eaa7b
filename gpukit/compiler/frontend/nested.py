"""Move the functions defined inside a kernel out of its body; `inline` inlines them at their calls.

Before                              After
    def at(r, c):                       (`at_1` is kept beside the tree)
        return r * width + c
    out[i] = a[at(i, 0)]                out[i] = a[at_1(i, 0)]

A function inside a kernel sees the kernel's variables as they are at the call. They have the same
values as at the definition, because a variable that is assigned after it is rejected.

>>> def kernel(out, a, i, width):
...     def at(r, c):
...         return r * width + c
...     out[i] = a[at(i, 0)]
>>> from gpukit.compiler.frontend import resolve
>>> print(ast.unparse(resolve.run(kernel).tree))
def kernel(out, a, i, width):
    out[i] = a[at_1(i, 0)]
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field, replace
from typing import Any

from gpukit import errors
from gpukit.compiler import refuse, tree
from gpukit.compiler.frontend import scopes
from gpukit.compiler.unit import Unit


@dataclass
class Nested:
    """A function defined in another; its own names are unique in the unit."""

    name: str
    tree: ast.FunctionDef
    # The names of its parameters in the source.
    spelled: dict[str, str] = field(default_factory=dict)
    # The functions defined inside it, by their names in the tree.
    inside: tuple[str, ...] = ()
    # Variables of the functions around it: those with one constant value, and the others.
    fixed: dict[str, Any] = field(default_factory=dict)
    varying: dict[str, str] = field(default_factory=dict)
    # The definition that this is a copy of.
    origin: Any = None

    @property
    def own(self) -> set[str]:
        """Names of its parameters and variables."""
        return {a.arg for a in scopes.arguments(self.tree)} | tree.writes(self.tree.body)

    @property
    def reads(self) -> set[str]:
        """Names that it reads, its own among them."""
        return tree.reads(self.tree)


def take_out(unit: Unit) -> None:
    """Move every function defined in the unit's tree to `unit.nested`, in place."""
    inside = (n for s in unit.tree.body for n in ast.walk(s))
    if any(isinstance(n, (ast.FunctionDef, ast.Lambda)) for n in inside):
        _Taker(unit).function(unit.tree)


def find_constants(unit: Unit) -> None:
    """Record which outer variables of the nested functions are constants; names are resolved."""
    from gpukit.compiler import shapes

    whole = copy.copy(unit)
    whole.tree = copy.copy(unit.tree)
    whole.tree.body = [s for f in unit.trees for s in f.body]
    known = {*unit.globals, *unit.nested, *unit.captured}
    for nested in unit.nested.values():
        for name in tree.in_order(nested.reads - nested.own - known, nested.tree):
            value = shapes.constant(whole, tree.name(name))
            if value is None or not _is_literal(whole, name):
                nested.varying[name] = name
            else:
                nested.fixed[name] = value


def _is_literal(unit: Unit, name: str) -> bool:
    """Tell whether a constant consists of literals only; `np.float32(2)` does not."""
    values = [
        s.value
        for s in tree.statements(unit.tree.body)
        if isinstance(s, ast.Assign) and name in tree.writes(s)
    ]
    return name in unit.constants or all(
        not any(isinstance(n, ast.Call) for n in ast.walk(v))
        and all(_is_literal(unit, other) for other in tree.reads(v))
        for v in values
    )


def copied(
    unit: Unit, chosen: dict[str, Nested], rename: Any, names: dict[str, str]
) -> dict[str, str]:
    """Add copies of nested functions to the unit; return their new names.

    `rename` is called with a tree and the new names; `names` are its new names of variables.
    """
    new = {key: unit.fresh(nested.name.strip("_") or "function") for key, nested in chosen.items()}
    for key, nested in chosen.items():
        made = rename(tree.clone(nested.tree), new)
        fixed = {names.get(n, n): v for n, v in nested.fixed.items()}
        varying = {names.get(n, n): v for n, v in nested.varying.items()}
        inside = tuple(new[k] for k in nested.inside)
        unit.nested[new[key]] = replace(
            nested, tree=made, inside=inside, fixed=fixed, varying=varying
        )
    return new


class _Taker:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def function(self, function: ast.FunctionDef) -> list[str]:
        """Move out the functions defined in a function; return their names in `unit.nested`."""
        scopes.name_lambdas(function.body)
        taken: list[str] = []
        defined = {s.name: s for s in scopes.scope(function.body) if isinstance(s, ast.FunctionDef)}
        function.body = self._block(function.body, taken)
        self._check_left(function, taken, defined)
        return taken

    def _check_left(
        self, function: ast.FunctionDef, taken: list[str], defined: dict[str, ast.FunctionDef]
    ) -> None:
        trees = [function, *(self.unit.nested[k].tree for k in taken)]
        for node in (n for f in trees for s in f.body for n in ast.walk(s)):
            if isinstance(node, ast.Name) and node.id in defined:
                raise self._refused(
                    node,
                    f"{node.id} is used where it may not be defined, or calls itself.",
                    "define it before it is used, outside of if and loops; "
                    "write a function that calls itself as a loop",
                )

    def _block(self, body: list[ast.stmt], taken: list[str]) -> list[ast.stmt]:
        new: list[ast.stmt] = []
        for k, s in enumerate(body):
            if isinstance(s, ast.FunctionDef):
                name, key = s.name, self._take(s, taken)
                self._check_rest(s, key, body[k + 1 :])
                for node in (n for later in body[k + 1 :] for n in scopes.mentions(later, name)):
                    node.id = key
                continue
            for part in ("body", "orelse"):
                if getattr(s, part, None):
                    setattr(s, part, self._block(getattr(s, part), taken))
            _Lambdas(self, taken).statement(s)
            new.append(s)
        return new or ([tree.at(ast.Pass(), body[0])] if body else [])

    def _check_rest(self, function: ast.FunctionDef, key: str, rest: list[ast.stmt]) -> None:
        """Reject assignments to the function's name or to a variable that it uses."""
        inside = self.unit.nested[key].inside
        free = set().union(*(self.unit.nested[k].reads for k in (key, *inside)))
        for s in scopes.scope(rest):
            if function.name in scopes.sets(s):
                raise self._refused(
                    s, f"{function.name} is defined more than once.", "give each its own name"
                )
            name = min(scopes.sets(s) & free, default="")
            if name:
                raise self._refused(
                    s,
                    f"{name} is assigned after {function.name}, which uses it, was defined.",
                    f"pass {name} to {function.name} as an argument",
                )

    def _take(self, s: ast.FunctionDef, taken: list[str]) -> str:
        self._check_form(s)
        inner = self.function(s)
        base = s.name.strip("_") or "function"
        key = self.unit.fresh(base)
        own = {a.arg for a in scopes.arguments(s)} | tree.writes(s.body)
        ordered = [*(a.arg for a in scopes.arguments(s)), *tree.in_order(own, s.body)]
        names = {n: self.unit.renamed(n, f"{base}_{n.strip('_')}") for n in dict.fromkeys(ordered)}
        spelled = {names[a.arg]: a.arg for a in scopes.arguments(s)}
        scopes.rename(s, names)
        for f in (self.unit.nested[k].tree for k in inner):
            scopes.rename(f, names)
            for default in f.args.defaults:
                tree.rename(default, names)
        self.unit.nested[key] = Nested(s.name, s, spelled, tuple(inner), origin=s)
        taken += [*inner, key]
        return key

    def _check_form(self, s: ast.FunctionDef) -> None:
        if s.decorator_list:
            raise self._refused(
                s, f"{s.name} is defined in a kernel and decorated.", "remove the decorator"
            )
        if s.args.kwarg or s.args.kwonlyargs:
            raise self._refused(
                s, f"{s.name} takes a fixed list of arguments.", "name each argument"
            )
        s.returns = None
        for argument in scopes.arguments(s):
            argument.annotation = None
        for default in s.args.defaults:
            if any(isinstance(n, (ast.Subscript, ast.Lambda)) for n in ast.walk(default)):
                raise self._refused(
                    default, "A default value must be a number.", "pass it as an argument"
                )

    def _refused(self, node: ast.AST, message: str, fix: str) -> errors.Unsupported:
        return refuse.unsupported(self.unit, node, message, fix)


class _Lambdas(ast.NodeTransformer):
    """Moves lambdas out of a statement, but not out of the statements inside it."""

    def __init__(self, taker: _Taker, taken: list[str]) -> None:
        self.taker = taker
        self.taken = taken

    def statement(self, s: ast.stmt) -> None:
        for name, value in ast.iter_fields(s):
            if isinstance(value, ast.expr):
                setattr(s, name, self.visit(value))
            elif isinstance(value, list) and value and isinstance(value[0], ast.expr):
                setattr(s, name, [self.visit(v) for v in value])

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        key = self.taker._take(tree.of_lambda("function", node), self.taken)
        return tree.at(tree.name(key), node)  # type: ignore[no-any-return]
