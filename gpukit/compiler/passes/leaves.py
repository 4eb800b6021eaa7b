"""The loop over threadIdx.x, with and without bounds checks.

A loop exists twice: one without checks, taken where both ends of every index range of the row
lie inside the array, and one that checks each access. Where block, constants and guards prove the
range, only the first exists.
"""

from __future__ import annotations

import ast
import contextlib
import functools
from collections.abc import Iterator

from numba.core import types

from gpukit.compiler import plan, tree
from gpukit.compiler.passes import affine, rewrite, schedule, warps
from gpukit.compiler.passes.affine import Form
from gpukit.compiler.passes.frame import Frame, padded
from gpukit.compiler.runtime import shuffles, storage

_INDEX = tuple(f"threadIdx_{a}" for a in tree.AXES)


class Leaves(Frame):
    """Writes the leaves of a plan."""

    def _Leaf(self, leaf: plan.Leaf, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        shuffled = self._shuffled(leaf, low, high)
        if shuffled is not None:
            return [shuffled]
        combed = self._combed(leaf, low, high)
        if combed is not None:
            return combed
        hoisted = self._hoistable(leaf)
        if not hoisted:
            return [self._thread_loop(leaf, low, high, frozenset())]
        fast = self._thread_loop(leaf, low, high, frozenset(hoisted))
        if self.options.readable:
            note = ", ".join(hoisted)
            return [ast.Expr(tree.call("check_range", tree.const(note), low, high)), fast]
        checks: dict[str, ast.expr] = {}
        for array, forms in hoisted.values():
            for axis, form in enumerate(forms):
                check = self._range_check(array, axis, form, low, high)
                if check is not None:
                    checks.setdefault(ast.unparse(check), check)
        if not checks:
            return [fast]
        test = functools.reduce(lambda a, b: ast.BinOp(a, ast.BitAnd(), b), checks.values())
        slow = self._thread_loop(leaf, low, high, frozenset())
        return [ast.If(test, [fast], [slow])]

    def _shuffled(self, leaf: plan.Leaf, low: ast.expr, high: ast.expr) -> ast.stmt | None:
        """Return the call that does a shuffle for a whole row, if its offset is one for all."""
        s = leaf.body[0]
        if self.options.readable or len(leaf.body) != 1:
            return None
        if not isinstance(s, ast.Assign) or not isinstance(s.targets[0], ast.Name):
            return None
        name, target = tree.called(s.value) or "", s.targets[0].id
        mode = warps.MODES.get(name.removeprefix("warp."))
        kept = target in self.plan.slots - leaf.forms.fixed
        if mode is None or not kept or self.slot_types[f"{target}_of"] not in shuffles.KINDS:
            return None
        shown, _active, _mask, offset = s.value.args  # type: ignore[attr-defined]
        if not leaf.forms.is_fixed(offset) or not leaf.forms.is_integer(offset):
            return None
        self.rewriter.uses_thread = True
        mask: ast.expr = tree.const(0)
        if leaf.mask is not None:
            at = self.rewriter.helper("hooks", "mask_at")
            mask = tree.call(at, tree.name(leaf.mask), tree.const(0))
        ends = [tree.expr("row_start + x", x=x) for x in (low, high)]
        steps = self.rewriter.expression(leaf.forms.written_out(offset))
        parts = [
            shown, tree.name(f"{target}_of"), mask, *ends, tree.name("first_thread"),
            tree.name("threads"), tree.const(mode), steps,
        ]  # fmt: skip
        call = tree.call(self.rewriter.helper("shuffles", "row"), *parts)
        return tree.at(ast.Expr(call), s)  # type: ignore[no-any-return]

    def _combed(self, leaf: plan.Leaf, low: ast.expr, high: ast.expr) -> list[ast.stmt] | None:
        """Return what sets the flags of a row for `tid % step == 0`, without a division each."""
        s, forms = leaf.body[0], leaf.forms
        if self.options.readable or len(leaf.body) != 1 or leaf.mask is not None:
            return None
        if not (getattr(s, "made", False) and isinstance(s, ast.Assign)):
            return None
        teeth = _teeth(forms, s.value)
        if teeth is None:
            return None
        mask = s.targets[0].value.id  # type: ignore[attr-defined]
        first, *fixed = teeth
        numbers = (first.at(low), *map(forms.written_out, fixed))
        self.rewriter.uses_thread = True
        call = tree.call(
            self.rewriter.helper("control", "comb"), tree.name(mask),
            tree.expr("row_start + x", x=low), tree.expr("high - low", high=high, low=low),
            *map(self.rewriter.expression, numbers),
        )  # fmt: skip
        apart = self.combs[mask] = self.unit.fresh("apart")
        loop = self._thread_loop(leaf, low, high, frozenset())
        singly = [loop, tree.assign(apart, tree.const(1))]
        new = [tree.assign(apart, call), ast.If(tree.expr(f"{apart} == 0"), singly, [])]
        return [tree.at(made, s) for made in new]

    def _apart(self, leaf: plan.Leaf, low: ast.expr) -> str:
        """Return the variable that says how far apart the threads of a leaf lie, "" for none."""
        mask, apart = self.spans.get(getattr(low, "id", ""), ("", ""))
        return apart if mask and mask == leaf.mask else ""

    def _hoistable(self, leaf: plan.Leaf) -> dict[str, tuple[str, list[Form]]]:
        """Return the accesses whose range over the row is known before the loop."""
        found: dict[str, tuple[str, list[Form]]] = {}
        # Not of arrays that each thread has its own of: their shapes may differ.
        varying = tree.writes(leaf.body) | self.rewriter.slots | self.plan.slots
        for node in (n for s in leaf.body for n in ast.walk(s)):
            if not isinstance(node, ast.Subscript) or not rewrite.is_whole(self.unit, node):
                continue
            name = node.value.id  # type: ignore[attr-defined]
            if name in varying or name in leaf.forms.remade:
                continue
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            forms = [leaf.forms.of(p) for p in parts]
            if all(f is not None for f in forms):
                found[ast.unparse(node)] = (name, forms)  # type: ignore[assignment]
        return found

    def _range_check(
        self, array: str, axis: int, form: Form, low: ast.expr, high: ast.expr
    ) -> ast.expr | None:
        """Return the test that an index stays inside an axis along the row, if one is needed."""
        last = tree.expr("high - 1", high=high)
        size: ast.expr = tree.expr(f"{array}.shape[{axis}]")
        known = self.shared.get(array) or self.local.get(array)
        if known is not None and known[0] != (0,):
            size = tree.const(known[0][axis])
        ends = [form.at(low)] if form.factor == 0 else [form.at(low), form.at(last)]
        least, most = (ends[0], ends[-1]) if form.factor >= 0 else (ends[-1], ends[0])
        holds = self.ranges.holds
        if holds(tree.expr("0 <= e", e=least)):
            # An empty row may have its ends outside: it has no access either.
            below = holds(tree.expr("e < n", e=most, n=size))
            if below or self._is_guarded(form, self.ranges.size(size)):
                return None
        name = "inside" if len(ends) == 1 else "both_inside"
        written = [self.rewriter.expression(e) for e in (size, *ends)]
        return tree.call(self.rewriter.helper("bounds", name), *written)

    def _is_guarded(self, index: Form, size: str | None) -> bool:
        rest = ast.unparse(index.rest)
        return size is not None and any(
            size == known and index.factor == form.factor and rest == ast.unparse(form.rest)
            for form, known in self.guards
        )

    @contextlib.contextmanager
    def _behind(self, guards: list[tuple[Form, ast.expr]], *, without: str = "") -> Iterator[None]:
        """Know what guards prove inside a `with` block; nothing about the name `without`."""
        before = self.guards
        sizes = [(form, self.ranges.size(size)) for form, size in guards]
        kept = [g for g in before if without not in tree.reads(g[0].rest)]
        self.guards = [*kept, *((form, size) for form, size in sizes if size is not None)]
        try:
            yield
        finally:
            self.guards = before

    def _extreme(self, function: str, values: list[ast.expr]) -> ast.expr:
        """Return the `min` or `max` of integers."""
        result = values[0]
        for value in values[1:]:
            name = {"min": "least", "max": "greatest"}[function]
            readable = self.options.readable
            called = tree.name(function) if readable else self.rewriter.helper("bounds", name)
            result = tree.call(called, result, value)
        return result

    def _thread_loop(
        self, leaf: plan.Leaf, low: ast.expr, high: ast.expr, hoisted: frozenset[str]
    ) -> ast.stmt:
        rewriter = self.rewriter
        used_before = rewriter.uses_thread
        rewriter.uses_thread = rewriter.uses_place = False
        rewriter.hoisted = hoisted
        loads, stores = self._kept(leaf)
        body = rewriter.statements([*self._remade(leaf, loads), *loads, *leaf.body, *stores])
        body += self._told_values(leaf)
        if leaf.mask is not None:
            body = [ast.If(rewriter.expression(schedule._of(leaf.mask)), body, [])]
        if self.options.readable and "thread" in tree.reads(body):
            rewriter.uses_thread = True
        if rewriter.uses_place and not self.options.readable:
            body = [*tree.stmts(f"_thread_index = ({', '.join(_INDEX)})"), *body]
        body = [*self._local_arrays(leaf), *body]
        if rewriter.uses_thread:
            body = [*tree.stmts("thread = row_start + threadIdx_x"), *body]
        rewriter.uses_thread |= used_before
        rewriter.hoisted = frozenset()
        over = tree.expr("range(low, high)", low=low, high=high)
        apart = self._apart(leaf, low)
        if apart:
            over.args.append(tree.name(apart))  # type: ignore[attr-defined]
        loop = ast.For(tree.store("threadIdx_x"), over, body or [ast.Pass()], [])
        named = self._own_names([loop], tree.writes(loop))[0]
        return tree.at(named, leaf.body[0])  # type: ignore[no-any-return]

    def _told_values(self, leaf: plan.Leaf) -> list[ast.stmt]:
        return []  # see `watched`

    def _own_names(self, body: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
        """Give what lives only in these statements names that nothing else has.

        Numba takes long to tell apart what many loops call by one name.
        """
        if self.options.readable:
            return body
        own = {name: self.unit.renamed(name) for name in sorted(names)}
        made: list[ast.stmt] = tree.clone(body)
        tree.rename(made, own)
        return made

    def _kept(self, leaf: plan.Leaf) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """Return statements that fetch and put back what the thread keeps between loops."""
        exposed, sure = schedule.flow(leaf.body)
        written = tree.writes(leaf.body)
        slots = self.plan.slots - leaf.forms.fixed
        loads = sorted(slots & (exposed | (written - sure)))
        stores = sorted(slots & written)
        return (
            [tree.stmts(f"{n} = {n}_of[thread]")[0] for n in loads],
            [tree.stmts(f"{n}_of[thread] = {n}")[0] for n in stores],
        )

    def _remade(self, leaf: plan.Leaf, loads: list[ast.stmt]) -> list[ast.stmt]:
        """Return the definitions of the remade variables that a leaf reads, in order."""
        remade = leaf.forms.remade
        exposed, _ = schedule.flow(leaf.body)
        needed: set[str] = set()
        todo = [n for n in exposed if n in remade]
        while todo:
            name = todo.pop()
            if name not in needed:
                needed.add(name)
                todo += [n for n in tree.reads(remade[name]) if n in remade]
        return [tree.assign(n, e, leaf.body[0]) for n, e in remade.items() if n in needed]

    def _local_arrays(self, leaf: plan.Leaf) -> list[ast.stmt]:
        """Return the statements that bind the local arrays that a leaf uses."""
        new: list[ast.stmt] = []
        if self.options.readable:
            return new
        for name in sorted(set(self.local) & tree.reads(leaf.body)):
            shape, dtype = self.local[name]
            kind = types.Array(dtype, len(shape), "C")
            if name not in self.kept_locals:
                made = self.rewriter.bind("local", storage.local_array(kind, shape))
                new.append(tree.assign(name, tree.call(made)))
                continue
            self.rewriter.uses_thread = True
            made = self.rewriter.bind("local", storage.array_of_thread(kind, shape))
            at = tree.expr(f"thread * {padded(storage.array_bytes(dtype, shape))}")
            new.append(tree.assign(name, tree.call(made, tree.name(f"{name}_of_all"), at)))
        return new


def _teeth(forms: affine.Forms, test: ast.expr) -> tuple[Form, ast.expr, ast.expr] | None:
    """Return what is divided, by what, and the remainder, of `tid % step == 0` and the like."""
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)):
        return None
    left, wanted = test.left, test.comparators[0]
    if len(test.ops) > 1 or not (isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod)):
        return None
    form = forms.of(left.left)
    if form is None or form.factor != 1:
        return None
    fixed = all(forms.is_fixed(e) and forms.is_integer(e) for e in (left.right, wanted))
    return (form, left.right, wanted) if fixed else None
