"""Make every call at which threads synchronise a statement of its own, in the order of evaluation.

Before                                        After
    total = base + cuda.shfl_sync(m, v, 0)        temp_1 = cuda.shfl_sync(m, v, 0)
                                                  total = base + temp_1

`cuda.grid` and `cuda.gridsize` are expanded, `while` conditions with such a call move into the
loop, and `and`, `or` and `a if c else b` become `if` statements if they contain one.

>>> from gpukit.compiler import intrinsics as cuda
>>> def kernel(out, n):
...     i = cuda.grid(1)
...     while cuda.syncthreads_or(i < n) and n > 0:
...         out[i] = out[i] + cuda.shfl_sync(0xffffffff, i, 0)
>>> from gpukit.compiler.frontend import resolve
>>> unit = resolve.run(kernel)
>>> prepare(unit)
>>> unit.tree.body = statements(unit, unit.tree.body)
>>> print(ast.unparse(unit.tree))
def kernel(out, n):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while True:
        temp_2 = cuda.syncthreads_or(i < n)
        temp_1 = temp_2
        if temp_1:
            temp_1 = n > 0
        if not temp_1:
            break
        temp_3 = out[i]
        temp_4 = cuda.shfl_sync(4294967295, i, 0)
        out[i] = temp_3 + temp_4
"""

from __future__ import annotations

import ast
from typing import Any

from gpukit.compiler import conditions, facts, kinds, refuse, tree
from gpukit.compiler.unit import Unit


def prepare(unit: Unit) -> None:
    """Expand geometry and grid groups and drop dead branches, in place."""
    _Geometry(unit).visit(unit.tree)
    _grid_groups(unit)
    unit.tree.body = live(unit.tree.body) or [tree.at(ast.Pass(), unit.tree)]
    ast.fix_missing_locations(unit.tree)


def statements(
    unit: Unit, body: list[ast.stmt], inlined: frozenset[str] = frozenset()
) -> list[ast.stmt]:
    """Return a body with sync points as statements, including calls of `inlined` functions."""
    return _Normaliser(unit, inlined).body(body)


def live(body: list[ast.stmt]) -> list[ast.stmt]:
    """Drop branches whose condition is a constant: `if DEBUG:` with `DEBUG = False`."""
    new: list[ast.stmt] = []
    for s in body:
        for field in ("body", "orelse"):
            if getattr(s, field, None):
                setattr(s, field, live(getattr(s, field)) or [tree.at(ast.Pass(), s)])
        if isinstance(s, ast.If) and isinstance(s.test, ast.Constant):
            new += s.body if s.test.value else s.orelse
        elif not (
            isinstance(s, ast.While) and isinstance(s.test, ast.Constant) and not s.test.value
        ):
            new.append(s)
    return new


class _Geometry(ast.NodeTransformer):
    """Expand `cuda.grid(n)` and `cuda.gridsize(n)`."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = tree.called(node)
        if name not in ("grid", "gridsize"):
            return node
        axes = _constant(node.args[0], self.unit) if len(node.args) == 1 else None
        if axes not in (1, 2, 3):
            raise refuse.invalid(
                self.unit,
                node,
                f"cuda.{name} takes the constant 1, 2 or 3.",
                f"write cuda.{name}(1) for one axis, cuda.{name}(2) for x and y",
            )
        form = (
            "cuda.blockIdx.{a} * cuda.blockDim.{a} + cuda.threadIdx.{a}"
            if name == "grid"
            else "cuda.gridDim.{a} * cuda.blockDim.{a}"
        )
        parts = [tree.expr(form.format(a=a)) for a in tree.AXES[:axes]]
        whole = parts[0] if axes == 1 else ast.Tuple(parts, ast.Load())
        return tree.at(whole, node)  # type: ignore[no-any-return]

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        target, value = node.targets[0], node.value
        if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
            return node
        if len(node.targets) > 1 or len(target.elts) != len(value.elts):
            return node
        if tree.writes(target) & tree.reads(value):
            return node
        if not all(isinstance(t, ast.Name) for t in target.elts):
            return node
        pairs = zip(target.elts, value.elts, strict=True)
        return [tree.at(ast.Assign([t], v), node) for t, v in pairs]


def _constant(node: ast.AST, unit: Unit) -> object:
    if isinstance(node, ast.Constant):
        return node.value
    return unit.constants.get(node.id) if isinstance(node, ast.Name) else None


def _grid_groups(unit: Unit) -> None:
    """Turn `g = cuda.cg.this_grid(); g.sync()` into `cuda.cg.sync()`."""
    groups = set()
    for s in tree.statements(unit.tree.body):
        if isinstance(s, ast.Assign) and tree.called(s.value) == "cg.this_grid":
            groups |= tree.writes(s)

    class Rewrite(ast.NodeTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.AST:
            if tree.called(node.value) == "cg.this_grid":
                return ast.copy_location(ast.Pass(), node)
            return self.generic_visit(node)

        def visit_Expr(self, node: ast.Expr) -> ast.AST:
            if tree.called(node.value) == "cg.this_grid":
                return ast.copy_location(ast.Pass(), node)
            return self.generic_visit(node)

        def visit_Call(self, node: ast.Call) -> ast.AST:
            self.generic_visit(node)
            f = node.func
            if isinstance(f, ast.Attribute) and f.attr == "sync":
                of_name = isinstance(f.value, ast.Name) and f.value.id in groups
                if of_name or tree.called(f.value) == "cg.this_grid":
                    made: ast.Call = tree.at(tree.expr("cuda.cg.sync()"), node)
                    facts.note(made, written=refuse.written(node))
                    return made
            return node

    Rewrite().visit(unit.tree)


class _Normaliser:
    def __init__(self, unit: Unit, inlined: frozenset[str]) -> None:
        self.unit = unit
        self.inlined = inlined

    def body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [new for s in body for new in self.statement(s)]

    def _synchronises(self, node: ast.AST) -> bool:
        return kinds.synchronises(node, self.inlined)

    def _is_sync_point(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        by_name = isinstance(node.func, ast.Name) and node.func.id in self.inlined
        return by_name or tree.called(node) in kinds.SYNC_POINTS

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        if not self._synchronises(s):
            return [s]
        if isinstance(s, ast.If):
            before, s.test = self.expression(s.test)
            s.body, s.orelse = self.body(s.body), self.body(s.orelse)
            return [*before, s]
        if isinstance(s, ast.While):
            return [self._while(s)]
        if isinstance(s, ast.For):
            before, s.iter = self.expression(s.iter)
            s.body, s.orelse = self.body(s.body), self.body(s.orelse)
            return [*before, s]
        return self._simple(s)

    def _while(self, s: ast.While) -> ast.stmt:
        before, test = self.expression(s.test)
        body = self.body(s.body)
        s.orelse = self.body(s.orelse)
        if not before:
            s.body = body
            return s
        if s.orelse:
            raise refuse.unsupported(
                self.unit,
                s,
                "A while loop with a barrier in its condition cannot have an else.",
                "set a flag before break and test it after the loop",
            )
        leave = tree.at(ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], []), s)
        return tree.at(ast.While(tree.const(True), [*before, leave, *body], []), s)  # type: ignore[no-any-return]

    def _simple(self, s: ast.stmt) -> list[ast.stmt]:
        if isinstance(s, ast.Expr) and self._is_sync_point(s.value):
            before, s.value = self._arguments(s.value)
            return [*before, s]
        named = isinstance(s, ast.Assign) and len(s.targets) == 1
        if named and isinstance(s.targets[0], ast.Name) and self._is_sync_point(s.value):  # type: ignore[attr-defined]
            before, s.value = self._arguments(s.value)  # type: ignore[attr-defined]
            return [*before, s]
        if isinstance(s, ast.Assign) and any(self._synchronises(t) for t in s.targets):
            if len(s.targets) > 1 or isinstance(s.targets[0], ast.Tuple):
                return self._several(s)
        first = self._target(s)
        if isinstance(s, ast.AugAssign):
            s = self._plain(s)
        for field in ("value", "test", "exc"):
            child = getattr(s, field, None)
            if child is not None and self._synchronises(child):
                more, new = self.expression(child)
                first += more
                setattr(s, field, new)
        return [*first, s]

    def _several(self, s: ast.Assign) -> list[ast.stmt]:
        """Split `a, f(b)[i] = v` into one statement for each target; the value comes first."""
        held, value = self._temporary(s.value)
        pairs = [(t, value) for t in s.targets]
        if len(pairs) == 1:
            parts = s.targets[0].elts  # type: ignore[attr-defined]
            pairs = [
                (t, ast.Subscript(value, tree.const(k), ast.Load())) for k, t in enumerate(parts)
            ]
        made = [tree.at(ast.Assign([t], tree.clone(v)), s) for t, v in pairs]
        return self.body([held, *made])

    def _target(self, s: ast.stmt) -> list[ast.stmt]:
        """Move the sync points out of `f(a)[...] = v`, after the evaluation of the value."""
        target = s.targets[0] if isinstance(s, ast.Assign) else getattr(s, "target", None)
        if target is None or not self._synchronises(target):
            return []
        first: list[ast.stmt] = []
        if isinstance(s, ast.Assign):
            first, s.value = self.expression(s.value)
            if not _is_stable(s.value):
                held, s.value = self._temporary(s.value)
                first.append(held)
        more, _ = self._arguments(target)
        return first + more

    def _plain(self, s: ast.AugAssign) -> ast.Assign:
        return tree.at(ast.Assign([s.target], tree.updated(s)), s)  # type: ignore[no-any-return]

    def _temporary_name(self, value: ast.expr) -> str:
        """Return a temporary for a value, which messages show as the source expression."""
        name = self.unit.fresh("temp")
        self.unit.source_names[name] = refuse.written(value, self.unit)
        return name

    def _temporary(self, value: ast.expr) -> tuple[ast.stmt, ast.expr]:
        name = self._temporary_name(value)
        return tree.assign(name, value, value), _standing_for(value, name)

    def expression(self, e: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """Return statements to run first and an expression without sync points."""
        if not self._synchronises(e):
            return [], e
        if isinstance(e, ast.BoolOp):
            return self._bool_op(e)
        if isinstance(e, ast.IfExp):
            return self._if_expression(e)
        if isinstance(e, ast.Compare) and len(e.ops) > 1:
            return self._bool_op(
                ast.copy_location(ast.BoolOp(ast.And(), conditions.conjuncts(e)), e)
            )
        before, e = self._arguments(e)
        if self._is_sync_point(e):
            first, e = self._temporary(e)
            before.append(first)
        return before, e

    def _arguments(self, e: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """Move the sync points out of the parts of `e`, but leave `e` itself."""
        parts = _parts(e)
        last = max((k for k, (_, p) in enumerate(parts) if self._synchronises(p)), default=-1)
        before: list[ast.stmt] = []
        for k, (setter, part) in enumerate(parts[: last + 1]):
            more, new = self.expression(part)
            before += more
            if k < last and not more and not _is_stable(new):
                first, new = self._temporary(new)
                before.append(first)
            setter(new)
        return before, e

    def _bool_op(self, e: ast.BoolOp) -> tuple[list[ast.stmt], ast.expr]:
        name = self._temporary_name(e)
        before, value = self.expression(e.values[0])
        before.append(tree.assign(name, value, e))
        inner = before
        for operand in e.values[1:]:
            more, value = self.expression(operand)
            test: ast.expr = tree.name(name)
            if isinstance(e.op, ast.Or):
                test = ast.UnaryOp(ast.Not(), test)
            branch = tree.at(ast.If(test, [*more, tree.assign(name, value, e)], []), e)
            inner.append(branch)
            inner = branch.body
        return before, _standing_for(e, name)

    def _if_expression(self, e: ast.IfExp) -> tuple[list[ast.stmt], ast.expr]:
        name = self._temporary_name(e)
        before, test = self.expression(e.test)
        first, value = self.expression(e.body)
        second, other = self.expression(e.orelse)
        branch = ast.If(
            test, [*first, tree.assign(name, value, e)], [*second, tree.assign(name, other, e)]
        )
        return [*before, tree.at(branch, e)], _standing_for(e, name)


def _standing_for(e: ast.expr, name: str) -> ast.expr:
    """Return a name that holds the value of an expression; messages show the expression."""
    made: ast.expr = tree.at(tree.name(name), e)
    origin = facts.of(e)
    facts.note(
        made,
        written=refuse.written(e),
        inlined_from=origin.inlined_from,
        library_line=origin.library_line,
    )
    return made


def _parts(e: ast.expr) -> list[tuple[Any, ast.expr]]:
    """Return (setter, part) for the direct sub-expressions of `e`, in order of evaluation."""
    found = []
    for field, value in ast.iter_fields(e):
        if isinstance(value, ast.expr):
            found.append((_field_setter(e, field), value))
        elif isinstance(value, list):
            for k, item in enumerate(value):
                if isinstance(item, ast.expr):
                    found.append((_item_setter(value, k), item))
                elif isinstance(item, ast.keyword):
                    found.append((_field_setter(item, "value"), item.value))
    return found


def _field_setter(node: ast.AST, field: str):  # type: ignore[no-untyped-def]
    return lambda new: setattr(node, field, new)


def _item_setter(items: list[ast.expr], k: int):  # type: ignore[no-untyped-def]
    return lambda new: items.__setitem__(k, new)


def _is_stable(e: ast.expr) -> bool:
    """Tell whether a value cannot change while threads synchronise: it reads no memory."""
    return not any(isinstance(n, (ast.Subscript, ast.Call)) for n in ast.walk(e))
