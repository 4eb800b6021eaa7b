"""Replace `return`, and `break` and `continue` of loops in which threads synchronise, by flags.

After this pass a kernel has no `return`, and the only jumps left are in loops that every
thread can run independently.

Before                              After
    if i >= n:                          if i >= n:
        return                              pass
    out[i] = 1                          else:
                                            out[i] = 1

Where threads synchronise after the `return`, the flag `returned` is kept: the barrier reads from it
which threads have not returned.

>>> from gpukit.compiler import intrinsics as cuda
>>> def kernel(out, n):
...     i = cuda.grid(1)
...     if i >= n:
...         return
...     while out[i] > 0:
...         if out[i] == 7:
...             break
...         cuda.syncthreads()
>>> from gpukit.compiler.frontend import inline, resolve
>>> unit = resolve.run(kernel)
>>> inline.run(unit)
>>> run(unit)
>>> print(ast.unparse(unit.tree))
def kernel(out, n):
    returned = False
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= n:
        returned = True
    else:
        left_1 = False
        while not left_1 and out[i] > 0:
            skip_2 = False
            if out[i] == 7:
                left_1 = True
                skip_2 = True
            if not skip_2:
                cuda.syncthreads()
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gpukit.compiler import conditions, facts, kinds, tree
from gpukit.compiler.unit import Unit


def run(unit: Unit) -> None:
    """Rewrite the kernel's tree in place."""
    synchronises = kinds.any_synchronises(unit.tree.body)
    returns = "return" in tree.exits(unit.tree.body)
    if returns:
        unit.returned = unit.named("returned")
        unit.flags.add(unit.returned)
        unit.tree.body = without_returns(unit.tree.body, "", unit.returned, keep_flag=synchronises)
    if synchronises:
        unit.tree.body = _loops(unit, unit.tree.body, lambda loop: kinds.any_synchronises([loop]))
    ast.fix_missing_locations(unit.tree)


def flag(unit: Unit, base: str) -> str:
    """Return the name of a new flag."""
    name = unit.fresh(base)
    unit.flags.add(name)
    return name


def always_returns(body: list[ast.stmt]) -> bool:
    """Tell whether every path through a body ends in `return`."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return):
        return True
    return isinstance(last, ast.If) and always_returns(last.body) and always_returns(last.orelse)


def without_returns(
    body: list[ast.stmt], result: str, flag: str, *, keep_flag: bool = False
) -> list[ast.stmt]:
    """Replace every `return v` by `result = v` and skip the code after it."""
    rewrite = _Returns(result, flag)
    new = rewrite.body(body)
    if rewrite.uses_flag or keep_flag:
        return [tree.assign(flag, tree.const(False), body[0]), *new]
    return _without_assignments(new, flag)


def _without_assignments(body: list[ast.stmt], flag: str) -> list[ast.stmt]:
    """Drop the assignments to a flag that is never read."""
    kept = [s for s in body if not (isinstance(s, ast.Assign) and tree.writes(s) == {flag})]
    for s in kept:
        for field in ("body", "orelse"):
            if getattr(s, field, None):
                setattr(s, field, _without_assignments(getattr(s, field), flag))
    return kept or [tree.at(ast.Pass(), body[0])]


class _Returns:
    def __init__(self, result: str, flag: str) -> None:
        self.result = result
        self.flag = flag
        self.uses_flag = False

    def body(self, body: list[ast.stmt], *, in_loop: bool = False) -> list[ast.stmt]:
        new: list[ast.stmt] = []
        for k, s in enumerate(body):
            rest = body[k + 1 :]
            if isinstance(s, ast.Return):
                return [*new, *self._return(s, in_loop)]
            if "return" not in tree.exits([s]):
                new.append(s)
                continue
            if isinstance(s, ast.If) and not in_loop:
                if always_returns(s.body):
                    s.body, s.orelse = self.body(s.body), self.body(s.orelse + rest)
                    return [*new, s]
                if always_returns(s.orelse):
                    s.body, s.orelse = self.body(s.body + rest), self.body(s.orelse)
                    return [*new, s]
            new.append(self._inside(s, in_loop))
            if in_loop and isinstance(s, ast.If):
                continue  # its returns leave the loop themselves
            done = tree.name(self.flag)
            if in_loop:
                new.append(tree.at(ast.If(done, [ast.Break()], []), s))
            elif rest:
                skip = ast.If(ast.UnaryOp(ast.Not(), done), self.body(rest), [])
                return [*new, tree.at(skip, s)]
        return new

    def _inside(self, s: ast.stmt, in_loop: bool) -> ast.stmt:
        self.uses_flag = True
        loop = in_loop or isinstance(s, (ast.For, ast.While))
        for field in ("body", "orelse"):
            inner = getattr(s, field, None)
            if inner:
                setattr(s, field, self.body(inner, in_loop=loop))
        return s

    def _return(self, s: ast.Return, in_loop: bool) -> list[ast.stmt]:
        new: list[ast.stmt] = []
        if s.value is not None and self.result:
            new.append(tree.assign(self.result, s.value, s))
        new.append(tree.assign(self.flag, tree.const(True), s))
        if in_loop:
            self.uses_flag = True
            new.append(ast.copy_location(ast.Break(), s))
        return new


def _loops(unit: Unit, body: list[ast.stmt], chosen: Callable[[ast.stmt], bool]) -> list[ast.stmt]:
    """Rewrite the chosen loops of a body without `break`, `continue` and `else`."""
    new: list[ast.stmt] = []
    for s in body:
        for field in ("body", "orelse"):
            if getattr(s, field, None):
                setattr(s, field, _loops(unit, getattr(s, field), chosen))
        loop = isinstance(s, (ast.For, ast.While)) and chosen(s)
        if loop and (s.orelse or tree.exits(s.body) & {"break", "continue"}):  # type: ignore[attr-defined]
            new += _Loop(unit, s).rewrite()  # type: ignore[arg-type]
        else:
            new.append(s)
    return new


class _Loop:
    """One loop whose `break` and `continue` become the flags `left` and `skip`."""

    def __init__(self, unit: Unit, loop: ast.For | ast.While) -> None:
        self.unit = unit
        self.loop = loop
        self.left = flag(unit, "left") if "break" in tree.exits(loop.body) else ""
        self.skip = flag(unit, "skip")

    def rewrite(self) -> list[ast.stmt]:
        first: list[ast.stmt] = []
        orelse, self.loop.orelse = self.loop.orelse, []
        body = self.body(self.loop.body)
        uses_skip = self.skip in tree.reads(body)
        if uses_skip:
            body = [tree.assign(self.skip, tree.const(False), self.loop), *body]
        else:
            body = _without_assignments(body, self.skip)
        loop: Any = self.loop
        if self.left:
            first = [tree.assign(self.left, tree.const(False), loop)]
            if isinstance(loop, ast.For):
                head, loop = as_while(self.unit, loop)
                first += head
                body = [*loop.body[:2], *body]
            running = tree.expr("not left", left=tree.name(self.left))
            test = loop.test
            always = isinstance(test, ast.Constant) and test.value
            loop.test = running if always else ast.BoolOp(ast.And(), [running, test])
        loop.body = body
        return [*first, tree.at(loop, self.loop), *self._after(orelse)]

    def _after(self, orelse: list[ast.stmt]) -> list[ast.stmt]:
        """Return the statements for the loop's `else` part: it runs unless the loop was left."""
        if not orelse or not self.left:
            return orelse
        test = tree.expr("not left", left=tree.name(self.left))
        return [tree.at(ast.If(test, orelse, []), self.loop)]

    def body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        new: list[ast.stmt] = []
        for k, s in enumerate(body):
            if isinstance(s, (ast.Break, ast.Continue)):
                if isinstance(s, ast.Break):
                    new.append(tree.assign(self.left, tree.const(True), s))
                return [*new, tree.assign(self.skip, tree.const(True), s)]
            new.append(s)
            if isinstance(s, ast.If) and tree.exits([s]) & {"break", "continue"}:
                s.body = self.body(s.body)
                s.orelse = self.body(s.orelse) if s.orelse else []
                rest = self.body(body[k + 1 :])
                if rest:
                    test = tree.expr("not skip", skip=tree.name(self.skip))
                    new.append(tree.at(ast.If(test, rest, []), s))
                return new
        return new


def left(unit: Unit, test: ast.expr) -> tuple[ast.expr | None, ast.expr]:
    """Split `not left_1 and test`, the condition that replaces `break`, into its two parts."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        first, *rest = test.values
        if is_flag(unit, first):
            return first, conditions.conjunction(rest)
    return None, test


def is_flag(unit: Unit, test: ast.expr) -> bool:
    """Tell whether a condition tests only a flag of this pass."""
    return isinstance(test, ast.UnaryOp) and getattr(test.operand, "id", "") in unit.flags


def as_while(unit: Unit, loop: ast.For) -> tuple[list[ast.stmt], ast.While]:
    """Return statements and a `while` loop equivalent to `for ... in range(...)`.

    The first two statements of the new body set the loop's variable and advance.
    """
    arguments = list(loop.iter.args)  # type: ignore[attr-defined]
    if len(arguments) == 1:
        arguments.insert(0, tree.const(0))
    if len(arguments) == 2:
        arguments.append(tree.const(1))
    names = [unit.fresh(n) for n in ("at", "end", "by")]
    first = [tree.assign(n, v, loop) for n, v in zip(names, arguments, strict=True)]
    for s in first:
        facts.note(s, range_bound=True)
    at, end, by = (tree.name(n) for n in names)
    up, down = tree.expr("at < end", at=at, end=end), tree.expr("at > end", at=at, end=end)
    step = _literal(arguments[2])
    if step is None:
        both = "by > 0 and at < end or by < 0 and at > end"
        test = tree.expr(both, by=by, at=at, end=end)
    else:
        test = up if step > 0 else down
    body = [ast.Assign([loop.target], at), tree.assign(names[0], ast.BinOp(at, ast.Add(), by))]
    loop_ = ast.While(test, [*body, *loop.body], [])
    return [tree.at(s, loop) for s in first], tree.at(loop_, loop)


def _literal(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return value if isinstance(value, int) else None
