"""Find the accesses of a row of threads whose ranges are known before its loop runs."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from numba.core import types

from gpukit.compiler import checker_state, tree
from gpukit.compiler.analysis import arrays
from gpukit.compiler.analysis.affine import Form, Forms
from gpukit.compiler.emit.kernel import Kernel
from gpukit.compiler.lowering import access, polling, region_tree

# An access by every thread of a row: its node, kind and indices.
RowAccess = tuple[ast.Subscript, int, list[Form]]
_LARGE = 1 << 31  # ranges with constants of this size or more are not analysed
_PLAIN = (ast.Assign, ast.AugAssign, ast.Expr)


def affine(
    kernel: Kernel, thread_loop: region_tree.ThreadLoop
) -> dict[Any, tuple[str, list[Form]]]:
    """Return the accesses whose range over the row is known before the loop: array and indices."""
    found: dict[Any, tuple[str, list[Form]]] = {}
    # Not those of arrays private to a thread: their shapes may differ.
    varying = (
        tree.writes(thread_loop.body) | kernel.rewriter.thread_arrays | kernel.schedule.live_across
    )
    for node in (n for s in thread_loop.body for n in ast.walk(s)):
        if not isinstance(node, ast.Subscript) or not arrays.is_whole(kernel.unit, node):
            continue
        name = node.value.id  # type: ignore[attr-defined]
        if name in varying or name in thread_loop.forms.rematerialised:
            continue
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        forms = [thread_loop.forms.of(p) for p in parts]
        if all(f is not None for f in forms):
            found[tree.key(node)] = (name, forms)  # type: ignore[assignment]
    return found


def checked_one_by_one(
    kernel: Kernel, thread_loop: region_tree.ThreadLoop, known: Collection[Any]
) -> bool:
    """Tell whether a thread checks an access itself, because it is not among those `known`."""
    return any(
        isinstance(node, ast.Subscript)
        and arrays.is_whole(kernel.unit, node)
        and tree.key(node) not in known
        for node in tree.walk(thread_loop.body)
    )


class InLoops:
    """The accesses of a thread loop whose range over the row and over short loops is known.

    `found` has array, axis and form of an index at all ends of the loops that it depends on, by the
    key of the access; `factors` multiply the variables of loops, so they must be small. `short`
    are keys of ranges, `texts` those accesses as written. In an instrumented kernel there are none
    in loops (`of_row`).
    """

    def __init__(
        self, kernel: Kernel, thread_loop: region_tree.ThreadLoop, short: Collection[Any]
    ) -> None:
        self.kernel, self.short = kernel, short
        self.found: dict[Any, list[tuple[str, int, Form]]] = {}
        self.texts: dict[Any, str] = {}
        self.factors: dict[Any, ast.expr] = {}
        self._unknown: set[Any] = set()
        body = thread_loop.body
        names = [n for n in tree.walk(body) if isinstance(n, ast.Name)]
        counts = Counter(n.id for n in names if isinstance(n.ctx, ast.Store))
        kept = kernel.rewriter.thread_arrays | kernel.schedule.live_across
        self._once = {name for name, count in counts.items() if count == 1} - kept
        # A name that the thread assigns may refer to another array.
        self._varying = kept | set(counts) | set(thread_loop.forms.rematerialised)
        self._walk(body, thread_loop.forms, [])
        for key in self._unknown:
            self.found.pop(key, None)

    def _walk(self, body: list[ast.stmt], forms: Forms, loops: list[_Loop]) -> None:
        for s in body:
            for node in tree.walk(tree.heads(s) if tree.blocks(s) else s):
                if isinstance(node, ast.Subscript) and arrays.is_whole(self.kernel.unit, node):
                    self._access(node, forms, loops)
            inner, around = forms, loops
            loop = self._loop(s, forms)
            if loop is not None:
                inner, around = forms.with_fixed({loop.name}), [*loops, loop]
            for block in tree.blocks(s):
                self._walk(block, inner, around)
            if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):
                if s.targets[0].id in self._once and forms.of(s.value) is not None:
                    known = {**forms.rematerialised, s.targets[0].id: s.value}
                    forms = Forms(known, forms.types, forms.fixed)

    def _loop(self, s: ast.stmt, forms: Forms) -> _Loop | None:
        """Return a loop whose first and last iteration are known along the row and close."""
        if not isinstance(s, ast.For) or not isinstance(s.target, ast.Name):
            return None
        ends = polling.ends(s.iter)
        if ends is None or s.target.id not in self._once:
            return None
        if not all(forms.is_fixed(e) and forms.is_integer(e) for e in ends):
            return None
        start, stop = map(forms.written_out, ends)
        if any(_is_large(n) for n in tree.walk([start, stop])):
            return None
        step = polling.step(s.iter) or 1
        count = polling.trips(s.iter)
        near = count is not None and count * step <= polling.MOST_ROUNDS
        if not near and tree.key(s.iter) not in self.short:
            return None
        last = tree.expr("stop - 1", stop=stop)
        if step != 1:
            last = tree.expr("a + (b - a) // k * k", a=start, b=last, k=tree.const(step))
        return _Loop(s.target.id, start, last)

    def _access(self, node: ast.Subscript, forms: Forms, loops: list[_Loop]) -> None:
        key, array = tree.key(node), node.value.id  # type: ignore[attr-defined]
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        found: list[tuple[str, int, Form]] = []
        factors: list[ast.expr] = []
        for axis, part in enumerate(parts):
            form = None if array in self._varying else forms.of(part)
            ends = None if form is None else _at_ends(form, loops, factors)
            if ends is None:
                self._unknown.add(key)
                return
            found += [(array, axis, end) for end in ends]
        self.found[key] = found
        self.texts[key] = ast.unparse(node)
        self.factors |= {tree.key(f): f for f in factors}


def _at_ends(form: Form, loops: list[_Loop], factors: list[ast.expr]) -> list[Form] | None:
    """Return the form of an index at the ends of all loops that it depends on.

    The factors of the variables of these loops are appended to `factors`.
    """
    rests = [form.rest]
    for loop in reversed(loops):
        if loop.name not in tree.reads(rests):
            continue
        for rest in rests:
            found = _factors(rest, loop.name)
            if found is None or any(n.name in tree.reads(found) for n in loops):
                return None
            factors += found
        ends = (loop.first, loop.last)
        rests = [tree.fill(r, **{loop.name: end}) for r in rests for end in ends]
    return [Form(form.factor, rest) for rest in rests]


def _is_large(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant) and isinstance(node.value, int) and abs(node.value) > _LARGE
    )


@dataclass(frozen=True)
class _Loop:
    """A loop's variable, and its values in the first and the last iteration."""

    name: str
    first: ast.expr
    last: ast.expr


def of_row(kernel: Kernel, thread_loop: region_tree.ThreadLoop) -> list[RowAccess] | None:
    """Return the accesses of a thread loop in order, if every thread of a row does each once."""
    known = affine(kernel, thread_loop)
    found: list[RowAccess] = []
    for s in thread_loop.body:
        if not isinstance(s, _PLAIN) or _hides_accesses(kernel, s):
            if any(touches(kernel, n) for n in ast.walk(s)):
                return None
            continue
        for node, kind in _in_order(s):
            if not touches(kernel, node):
                continue
            key = tree.key(node)
            if not isinstance(node, ast.Subscript) or key not in known:
                return None
            found.append((node, kind, known[key][1]))
    return found or None


def of_loop(kernel: Kernel, row: region_tree.RowFor, local: set[str]) -> list[RowAccess]:
    """Return the reads of a lockstep loop if it writes nothing that others see, else nothing.

    `local` are arrays private to a thread: no other thread can conflict with their accesses.
    """
    found: list[RowAccess] = []
    written = {
        n for inner in region_tree.thread_loops_of(row.body) for n in tree.writes(inner.body)
    }
    for inner in row.body:
        if not isinstance(inner, region_tree.ThreadLoop) or inner.mask is not None:
            return []
        accesses = of_row(kernel, inner)
        for node, kind, forms in accesses or []:
            if node.value.id in local:  # type: ignore[attr-defined]
                continue
            rests = [f.rest for f in forms]
            moved = any(tree.reads(r) & written for r in rests)
            if (
                kind != checker_state.LOAD
                or moved
                or any(_factors(r, row.target) is None for r in rests)
            ):
                return []
            found.append((node, kind, forms))
        nodes = (n for s in inner.body for n in ast.walk(s))
        if accesses is None and any(touches(kernel, n) for n in nodes):
            return []
    return found


def _hides_accesses(kernel: Kernel, s: ast.stmt) -> bool:
    """Tell whether a statement has an access that may not be evaluated."""
    hidden = (part for node in ast.walk(s) for part in _hidden(kernel, node))
    return any(touches(kernel, inner) for part in hidden for inner in ast.walk(part))


def _hidden(kernel: Kernel, node: ast.AST) -> list[ast.AST]:
    """Return the parts of a node that are evaluated conditionally, or recorded separately."""
    fields = isinstance(node, (ast.Attribute, ast.Subscript))
    if fields and (kernel.rewriter.record_field(node) is not None or _is_record(kernel, node)):
        return [node]  # recorded field by field
    if isinstance(node, ast.Lambda) or hasattr(node, "generators"):
        return [node]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return list(node.values[1:])
    return list(node.comparators[1:]) if isinstance(node, ast.Compare) else []


def _is_record(kernel: Kernel, node: ast.AST) -> bool:
    return isinstance(kernel.rewriter.expressions.type_of(node), types.Record)


def touches(kernel: Kernel, node: ast.AST) -> bool:
    """Tell whether a node itself reads or writes an array, judged by its form."""
    if isinstance(node, ast.Attribute):
        return kernel.rewriter.record_field(node) is not None
    if isinstance(node, ast.Call):
        name = tree.called(node)
        if name is not None:
            return name.startswith("atomic.")
        named = isinstance(node.func, ast.Name) and node.func.id in kernel.unit.devices
        return named and any(_is_array(kernel, a) for a in node.args)
    if not isinstance(node, ast.Subscript):
        return False
    base = node.value
    if isinstance(base, ast.Name):
        if base.id in kernel.rewriter.thread_arrays:
            return False
        kind = kernel.unit.types.get(base.id)
        if kind is not None and not hasattr(kind, "layout"):
            return isinstance(kind, types.Record)
        return True
    return not access._is_shape(base)


def _is_array(kernel: Kernel, node: ast.expr) -> bool:
    return any(
        hasattr(kernel.unit.types.get(n.id), "layout")
        for n in ast.walk(node)
        if isinstance(n, ast.Name)
    )


def rounds_of(over: ast.expr) -> tuple[ast.expr, ast.expr | None]:
    """Return the start of a range with step 1, and the number of iterations."""
    arguments = over.args if isinstance(over, ast.Call) else []
    if len(arguments) == 1:
        return tree.const(0), arguments[0]
    if len(arguments) == 2:
        return arguments[0], tree.expr("b - a", a=arguments[0], b=arguments[1])
    return tree.const(0), None


def _factors(node: ast.expr, name: str) -> list[ast.expr] | None:
    """Return the factors of a variable in an expression that is linear in it, else None.

    >>> sums = map(tree.expr, ("k", "w * k + i", "n - k", "k * k", "k % 2"))
    >>> [f and [ast.unparse(e) for e in f] for f in (_factors(e, "k") for e in sums)]
    [[], ['w'], [], None, None]
    """
    if name not in tree.reads(node) or isinstance(node, ast.Name):
        return []
    if not isinstance(node, ast.BinOp):
        return None
    sides = node.left, node.right
    if isinstance(node.op, ast.Mult):
        for side, factor in (sides, sides[::-1]):
            if name not in tree.reads(factor):
                inner = _factors(side, name)
                return None if inner is None else [*inner, factor]
    if isinstance(node.op, (ast.Add, ast.Sub)):
        parts = [_factors(side, name) for side in sides]
        return None if None in parts else [f for part in parts for f in part or []]
    return None


def _in_order(s: ast.stmt) -> list[tuple[ast.AST, int]]:
    """Return the nodes of a statement, each with the kind of access it would be, reads first."""
    value = [(n, checker_state.LOAD) for n in ast.walk(s.value)]  # type: ignore[attr-defined]
    if isinstance(s, ast.Expr):
        return value
    targets = s.targets if isinstance(s, ast.Assign) else [s.target]  # type: ignore[attr-defined]
    inner = [(n, checker_state.LOAD) for t in targets for n in _below(t)]
    stores = [(t, checker_state.STORE) for t in targets for t in _parts(t)]
    if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Subscript):
        return [*inner, (s.target, checker_state.LOAD), *value, *stores]
    return [*value, *inner, *stores]


def _parts(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, ast.Tuple) else [target]


def _below(target: ast.expr) -> list[ast.AST]:
    """Return what an assignment reads to find its target: the nodes of the index."""
    parts = _parts(target)
    return [
        n
        for t in parts
        if isinstance(t, ast.Subscript)
        for inner in (t.slice, t.value)
        for n in ast.walk(inner)
    ]
