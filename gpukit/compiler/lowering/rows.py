"""Plan the loops along a row of threads: narrow them by guards, interchange them with loops.

`if i < n:` becomes a shorter loop over threadIdx.x instead of a test in it, unless a variable would
have to be kept in memory, for each thread, between that loop and an adjacent one.

A thread's loop stays inside the loop over threadIdx.x, as in plain loops, except for two cases in
which threadIdx.x becomes innermost, because LLVM vectorises innermost loops only. One is a
grid-stride loop. The other is a loop that is uniform in a row, if adjacent threads then access
adjacent elements in at least half of its accesses; not if its trip count is constant and so small
that LLVM unrolls it. `gpukit.explain` prints which case it was.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from gpukit.compiler import conditions, facts, kinds, tree
from gpukit.compiler.analysis import affine, loops
from gpukit.compiler.analysis.affine import Forms
from gpukit.compiler.lowering import polling, waiting
from gpukit.compiler.lowering.region_tree import Row, RowCount, RowFor, RowIf, RowSpan, ThreadLoop
from gpukit.compiler.unit import Unit

_NEIGHBOURS = "adjacent threads access adjacent memory"
_UNROLLED = 27  # iterations: a window of 5 x 5 or 3 x 3 x 3


@dataclass
class RowPlanner:
    """Plans rows for one kernel.

    `private` are the names of the local arrays, `new_mask` names a new flag per thread.
    """

    unit: Unit
    private: set[str]
    new_mask: Callable[[str], str]
    read_outside: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.read_outside = tree.read_outside_loops(self.unit.tree.body)

    def rows(self, body: list[ast.stmt], forms: Forms, mask: str | None) -> list[Row]:
        """Return the rows for statements without a synchronisation point."""
        rows: list[Row] = []
        pending: list[ast.stmt] = []
        counted = self.unit.instrumented == "every"
        body = [s for s in body if counted or not _is_rematerialised(s, forms)]
        body = [s for s in body if not isinstance(s, ast.Pass)]
        held = 0  # statements up to the one that releases a lock
        for k, s in enumerate(body):
            again = _is_rematerialised(s, forms)
            if kinds.is_in_step(s) or again:
                if pending:
                    rows.append(ThreadLoop(pending, forms, mask))
                    pending = []
                rows += [RowCount(s, mask)] if again else []
                continue
            held = max(held - 1, waiting.kept(s, body[k + 1 :]))
            special = None if held > 0 else self._special(s, body, forms, mask)
            if special is None:
                pending.append(_without_marks(s))
                continue
            if pending:
                rows.append(ThreadLoop(pending, forms, mask))
                pending = []
            rows += special
        if pending:
            rows.append(ThreadLoop(pending, forms, mask))
        return rows

    def _special(
        self, s: ast.stmt, body: list[ast.stmt], forms: Forms, mask: str | None
    ) -> list[Row] | None:
        """Return the rows for a statement that need not be in one loop over threadIdx.x."""
        if isinstance(s, ast.If) and not tree.exits([s]):
            if not (self.unit.instrumented or _holds_loop(s) or _stands_apart(s, body)):
                return None
            found = self._row_if(s, forms, mask)
            return self._masked(s, forms, mask) if found is None else [found]
        if isinstance(s, ast.For):
            loop = self._row_for(s, forms, mask)
            return None if loop is None else [loop]
        return None

    def _masked(self, s: ast.If, forms: Forms, mask: str | None) -> list[Row] | None:
        """Plan a condition of no known form, if its body has accesses recorded by the row."""
        if self.unit.instrumented != "access" or not self._is_recorded(s.body + s.orelse, forms):
            return None
        then = self.new_mask("in_if")
        rows = self._flags(then, s.test, forms, mask)
        rows.append(RowSpan(then, self.rows(s.body, forms, then)))
        if s.orelse:
            other = self.new_mask("in_else")
            rows += self._flags(other, tree.expr(f"not {then}[thread]"), forms, mask)
            rows.append(RowSpan(other, self.rows(s.orelse, forms, other)))
        return rows

    def _flags(self, name: str, test: ast.expr, forms: Forms, mask: str | None) -> list[Row]:
        """Return loops that set flags for the threads in `mask` that fulfil a condition."""
        met: Row = ThreadLoop([flag(name, test, test)], forms, mask)
        return (
            [met]
            if mask is None
            else [ThreadLoop([flag(name, tree.const(False), test)], forms), met]
        )

    def _is_recorded(self, body: list[ast.stmt], forms: Forms) -> bool:
        """Tell whether statements contain an access that is affine along the row."""
        for node in (n for s in body for n in ast.walk(s)):
            if isinstance(node, ast.Subscript) and _is_array(node, forms):
                parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                if all(forms.of(p) is not None for p in parts):
                    return True
        return False

    def _row_if(self, s: ast.If, forms: Forms, mask: str | None) -> RowIf | None:
        tests: list[ast.expr] = []
        limits: list[affine.Bound] = []
        rest: list[ast.expr] = []
        guards: list[tuple[affine.Form, ast.expr]] = []
        for part in conditions.conjuncts(s.test):
            guards += affine.guard(forms, part)
            limit = affine.bounds(forms, part)
            if limit is not None:
                limits += limit
            elif forms.is_fixed(part):
                tests.append(forms.written_out(_exact(part, forms)))
            else:
                rest.append(_exact(part, forms))
        if not tests and not limits:
            return None
        if rest and s.orelse:
            return None
        body = s.body
        if rest:
            inner = tree.at(ast.If(conditions.conjunction(rest), s.body, []), s)
            body = [inner]
        elif self._flows_out(s):
            return None
        return RowIf(
            tests,
            limits,
            forms,
            self.rows(body, forms, mask),
            self.rows(s.orelse, forms, mask),
            guards,
        )

    def _flows_out(self, s: ast.If) -> bool:
        """Tell whether a branch only selects a value, and is better left in the loop body."""
        plain = all(
            isinstance(b, ast.Assign)
            and all(isinstance(t, ast.Name) for t in b.targets)
            and not any(isinstance(n, (ast.Subscript, ast.Call)) for n in ast.walk(b.value))
            for b in s.body + s.orelse
        )
        return plain

    def _row_for(self, s: ast.For, forms: Forms, mask: str | None) -> Row | None:
        """Plan a loop outside the loop over threads, or record why it stays inside."""
        why = self._why_inside(s)
        if not why:
            planned = self._grid_stride(s, forms, mask)
            if planned is not None:
                return planned
            why = self._why_in_thread(s, forms)
            if not why:
                target, written = s.target.id, forms.written_out(s.iter)  # type: ignore[attr-defined]
                inner = self.rows(s.body, forms.with_fixed({target}), mask)
                return RowFor(target, written, forms, inner, why=_NEIGHBOURS)
        facts.note(s, why_inside=why)
        return None

    def _why_inside(self, s: ast.For) -> str:
        """Return what keeps a loop inside the loop over threads, or ""."""
        if s.orelse or tree.exits(s.body) or any(isinstance(n, ast.While) for n in ast.walk(s)):
            return "a thread may run fewer iterations than others"
        if not isinstance(s.target, ast.Name) or not loops.is_range(self.unit, s.iter):
            return "it is not a loop over a range"
        if s.target.id in self.read_outside | tree.writes(s.body):
            return f"{s.target.id} is set or read elsewhere"
        # A thread's own arrays belong in registers; in instrumented kernels they are in memory.
        if tree.reads(s.body) & self.private and not self.unit.instrumented:
            return "it uses an array private to a thread"
        return ""

    def _why_in_thread(self, s: ast.For, forms: Forms) -> str:
        """Return why a loop stays inside although it could be outside, or ""."""
        arguments = s.iter.args  # type: ignore[attr-defined]
        if not all(forms.is_fixed(a) and forms.is_integer(a) for a in arguments):
            return "its range differs between threads"
        if self.unit.instrumented:  # to record a whole row at once, whatever it costs
            return ""
        if _is_unrolled(s):
            return "LLVM unrolls so few iterations"
        inner = forms.with_fixed({s.target.id})  # type: ignore[attr-defined]
        return "" if self._pays(s.body, inner) else "adjacent threads do not access adjacent memory"

    def _grid_stride(self, s: ast.For, forms: Forms, mask: str | None) -> Row | None:
        """Plan `for i in range(start, stop, step)` where only `start` differs along the row."""
        arguments = s.iter.args  # type: ignore[attr-defined]
        if len(arguments) < 2:
            return None
        start = forms.of(arguments[0])
        if start is None or start.factor < 1:
            return None
        if not all(forms.is_fixed(a) and forms.is_integer(a) for a in arguments[1:]):
            return None
        step = arguments[2] if len(arguments) == 3 else tree.const(1)
        if not loops.is_positive(self.unit, step):
            return None
        target = s.target.id  # type: ignore[attr-defined]
        base = self.unit.fresh(f"{target}_row")
        value = affine.Form(start.factor, tree.name(base)).at(tree.expr("cuda.threadIdx.x"))
        inner = Forms({**forms.rematerialised, target: value}, forms.types, forms.fixed | {base})
        guard = tree.at(
            ast.If(tree.expr("i < n", i=tree.name(target), n=arguments[1]), s.body, []), s
        )
        steps = tree.call(s.iter.func, start.rest, *[forms.written_out(a) for a in arguments[1:]])  # type: ignore[attr-defined]
        body = self.rows([guard], inner, mask)
        stride = start.factor if _is_only_guard(body) else 0
        return RowFor(base, tree.at(steps, s), forms, body, stride, why=_NEIGHBOURS)

    def _pays(self, body: list[ast.stmt], forms: Forms) -> bool:
        """Tell whether adjacent threads access adjacent memory in a loop body."""
        good = bad = 0
        for node in (n for s in body for n in ast.walk(s)):
            if not isinstance(node, ast.Subscript) or not _is_array(node, forms):
                continue
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            found = [forms.of(p) for p in parts]
            factors = [None if f is None else f.factor for f in found]
            if factors[-1] == 1 and not any(factors[:-1]):
                good += 1
            elif any(f != 0 for f in factors):
                bad += 1
        return good >= bad


def flag(mask: str, value: ast.expr, like: ast.AST, step: str = "") -> ast.stmt:
    """Return the statement, added by the compiler, that sets a thread's flag in a mask.

    `step` is its text in a recording.
    """
    target = ast.Subscript(tree.name(mask), tree.name("thread"), ast.Store())
    made = tree.at(ast.Assign([target], value), like)
    facts.note(made, added=True, step=step)
    return made  # type: ignore[no-any-return]


def _without_marks(s: ast.stmt) -> ast.stmt:
    """Return a copy without marks of a statement that each thread runs to its end."""
    s = tree.clone(s)
    for body in tree.blocks(s):
        inner = [_without_marks(inner) for inner in body if not kinds.is_in_step(inner)]
        body[:] = inner or [tree.at(ast.Pass(), s)]
    return s


def _is_array(node: ast.Subscript, forms: Forms) -> bool:
    return isinstance(node.value, ast.Name) and hasattr(forms.types.get(node.value.id), "layout")


def _is_only_guard(rows: list[Row]) -> bool:
    """Tell whether rows are one RowIf with one limit on threadIdx.x and nothing else."""
    if len(rows) != 1 or not isinstance(rows[0], RowIf):
        return False
    return not rows[0].tests and not rows[0].orelse and len(rows[0].bounds) == 1


def _stands_apart(s: ast.stmt, body: list[ast.stmt]) -> bool:
    """Tell whether a statement and the others share no variable that one of them sets."""
    others = [other for other in body if other is not s]
    shared = tree.writes(s) & (tree.reads(others) | tree.writes(others))
    return not shared and not tree.reads(s) & tree.writes(others)


def _holds_loop(s: ast.stmt) -> bool:
    return any(isinstance(n, (ast.For, ast.While)) for n in ast.walk(s))


def _is_unrolled(loop: ast.For) -> bool:
    """Tell whether LLVM unrolls a loop with all loops in it: a small constant trip count."""
    rounds = 1
    for node in ast.walk(loop):
        if isinstance(node, ast.For):
            rounds *= polling.trips(node.iter) or _UNROLLED + 1
    return rounds <= _UNROLLED


def _is_rematerialised(s: ast.stmt, forms: Forms) -> bool:
    return (
        isinstance(s, ast.Assign)
        and tree.writes(s) <= set(forms.rematerialised)
        and bool(tree.writes(s))
    )


def _exact(test: ast.expr, forms: Forms) -> ast.expr:
    """Restore a negated comparison if an operand may be NaN."""
    if facts.of(test).negated and not forms.is_integer(test):
        opposite = conditions.OPPOSITE[type(test.ops[0])]()  # type: ignore[attr-defined]
        inner = ast.Compare(test.left, [opposite], test.comparators)  # type: ignore[attr-defined]
        return ast.copy_location(ast.UnaryOp(ast.Not(), inner), test)
    return test
