"""The loop over threadIdx.x of a watched kernel: every access is told to the watch.

Where all indices of a leaf are affine in threadIdx.x, each access of the whole row is told by one
call, and the loop behind it runs without checks. Otherwise every thread tells its own.
"""

from __future__ import annotations

import ast
import copy
import functools
import math

from numba.core import types

from gpukit.compiler import plan, tree, watch
from gpukit.compiler.passes import access, warps
from gpukit.compiler.passes.affine import Form
from gpukit.compiler.passes.frame import padded
from gpukit.compiler.passes.leaves import Leaves
from gpukit.compiler.runtime import shuffles, storage

_PLAIN = (ast.Assign, ast.AugAssign, ast.Expr)


def _names_all_lanes(s: ast.stmt) -> bool:
    """Tell whether a statement checks the mask of all 32 lanes, or the lane that one reads from."""
    if not isinstance(s, ast.Expr):
        return False
    name = tree.called(s.value)
    if name not in ("warp.check_mask", "warp.check_source"):
        return False
    active, mask, *others = s.value.args  # type: ignore[attr-defined]
    known = isinstance(active, ast.Constant) and getattr(mask, "value", 0) == 0xFFFFFFFF
    return known and (not others or others[0].value in warps.MODES)


class Watched(Leaves):
    """Writes the leaves of a plan, watched or not."""

    def _Leaf(self, leaf: plan.Leaf, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        if not self.options.watched:
            return super()._Leaf(leaf, low, high)
        if self.options.watched == "access":
            if self._is_surely_whole(leaf):
                return []
            shuffled = self._shuffled(leaf, low, high)
            if shuffled is not None:
                return [shuffled]
        told = self._row_accesses(leaf)
        before = self._work(leaf, low, high)
        combed = self._combed(leaf, low, high)
        if combed is not None:
            return [*before, *combed]
        if told is None:
            return [*before, self._thread_loop(leaf, low, high, frozenset())]
        hoisted = self._hoistable(leaf)
        checks = self._range_checks(hoisted, low, high)
        stores = [t for t in told if t[1] == watch.STORE and not self._is_own(t[0])]
        claim = self.options.watched == "access" and len(stores) == 1
        kinds = [watch.CLAIM if claim and t[1] == watch.STORE else t[1] for t in told]
        calls: list[ast.stmt] = []
        for t, kind in zip(told, kinds, strict=True):
            call = ast.Expr(self._row_call("row", t, leaf, low, high, [tree.const(kind)]))
            calls += [call] if self._is_own(t[0]) else self._unless_told(leaf, call)
        for t in stores:
            free = self._row_call("row_free", t, leaf, low, high, [tree.const(0)])
            checks.append(tree.expr("f != 0", f=free))
        fast = self._thread_loop(leaf, low, high, frozenset(hoisted))
        self.rewriter.uses_thread = True
        inside: list[ast.stmt] = [*calls, fast]
        if not checks:
            return [*before, *inside]
        slow = self._thread_loop(leaf, low, high, frozenset())
        test = tree.conjunction(checks)
        return [*before, ast.If(test, inside, [slow])]

    def _is_surely_whole(self, leaf: plan.Leaf) -> bool:
        """Tell whether a leaf only checks that all lanes are in a warp operation that all are in.

        Where all threads of whole warps do it, and the mask names every lane, none is missing.
        """
        threads = math.prod(self.options.block or (0,))
        if threads == 0 or threads % shuffles.WARP:
            return False
        return all(_names_all_lanes(s) for s in leaf.body)

    # ---- all rounds of a loop at once -----------------------------------------------------

    def _areas(self, row: plan.RowFor, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        """Tell before a loop in step what its rounds read, if others see nothing that it writes.

        A flag says whether that was possible; else each round tells its own.
        """
        told = self._area_accesses(row) if self.options.watched == "access" else []
        start, rounds = _rounds_of(row.iter)
        if not told or rounds is None:
            return []
        flag = self.unit.fresh("told")
        self.told |= {id(leaf): flag for leaf in plan.row_leaves(row.body)}
        self.rewriter.uses_thread = True
        new: list[ast.stmt] = [tree.assign(flag, tree.const(1))]
        following = tree.expr("low + 1", low=low)
        for node, forms in told:
            places = [(low, 0), (following, 0), (low, 1)]
            ends = [
                ast.Tuple(
                    [self._at_round(f.at(x), row.target, start, k) for f in forms], ast.Load()
                )
                for x, k in places
            ]
            array = node.value.id  # type: ignore[attr-defined]
            site = self.rewriter.site(node, array, ast.unparse(node))
            thread = tree.expr("row_start + low - first_thread", low=low)
            count = tree.expr("high - low", high=high, low=low)
            parts = [tree.const(site), tree.name(array), *ends, thread, count, tree.const(0)]
            hook = self.rewriter.helper("hooks", "area")
            call = tree.call(hook, tree.name("_context"), *parts, self.rewriter.expression(rounds))
            new.append(tree.assign(flag, ast.BinOp(tree.name(flag), ast.BitAnd(), call)))
        return new

    def _at_round(self, e: ast.expr, target: str, start: ast.expr, k: int) -> ast.expr:
        value = tree.expr("s + k", s=start, k=tree.const(k))
        return self.rewriter.expression(tree.expr(ast.unparse(e), **{target: value}))

    def _area_accesses(self, row: plan.RowFor) -> list[tuple[ast.Subscript, list[Form]]]:
        """Return the reads in the body of a loop if it has nothing else to tell, else nothing."""
        found: list[tuple[ast.Subscript, list[Form]]] = []
        own = {n for inner in plan.row_leaves(row.body) for n in tree.writes(inner.body)}
        for inner in row.body:
            if not isinstance(inner, plan.Leaf) or inner.mask is not None:
                return []
            told = self._row_accesses(inner)
            for node, kind, forms in told or []:
                rests = [f.rest for f in forms]
                moved = any(tree.reads(r) & own for r in rests)
                if self._is_own(node):
                    continue  # told in each round: no other thread can be in its way
                if kind != watch.LOAD or moved or not all(_linear(r, row.target) for r in rests):
                    return []
                found.append((node, forms))
            if told is None and any(self._touches(n) for s in inner.body for n in ast.walk(s)):
                return []
        return found

    def _is_own(self, node: ast.Subscript) -> bool:
        """Tell whether an access is to what each thread has of its own."""
        return node.value.id in self.local  # type: ignore[attr-defined]

    def _unless_told(self, leaf: plan.Leaf, call: ast.stmt) -> list[ast.stmt]:
        flag = self.told.get(id(leaf))
        return [ast.If(tree.expr("f == 0", f=tree.name(flag)), [call], [])] if flag else [call]

    def _range_checks(
        self, hoisted: dict[str, tuple[str, list[Form]]], low: ast.expr, high: ast.expr
    ) -> list[ast.expr]:
        found: dict[str, ast.expr] = {}
        for array, forms in hoisted.values():
            for axis, form in enumerate(forms):
                check = self._range_check(array, axis, form, low, high)
                if check is not None:
                    found.setdefault(ast.unparse(check), check)
        both = list(found.values())
        return [functools.reduce(lambda a, b: ast.BinOp(a, ast.BitAnd(), b), both)] if both else []

    def _range_check(
        self, array: str, axis: int, form: Form, low: ast.expr, high: ast.expr
    ) -> ast.expr | None:
        """As for a plain kernel; indices beyond 32 bits, which are a finding, count as outside."""
        check = super()._range_check(array, axis, form, low, high)
        if not self.options.watched or array in self.shared or array in self.local:
            return check
        size = tree.expr(f"{array}.shape[{axis}]")
        narrow = tree.call(self.rewriter.helper("bounds", "least"), size, tree.const(1 << 31))
        last = tree.expr("high - 1", high=high)
        ends = [form.at(low)] if form.factor == 0 else [form.at(low), form.at(last)]
        name = "inside" if len(ends) == 1 else "both_inside"
        written = [self.rewriter.expression(e) for e in ends]
        return tree.call(self.rewriter.helper("bounds", name), narrow, *written)

    # ---- which accesses a row makes -------------------------------------------------------

    def _row_accesses(self, leaf: plan.Leaf) -> list[tuple[ast.Subscript, int, list[Form]]] | None:
        """Return the accesses of a leaf in order, if each happens once in every thread of a row."""
        found: list[tuple[ast.Subscript, int, list[Form]]] = []
        hoisted = self._hoistable(leaf)
        for s in leaf.body:
            if not isinstance(s, _PLAIN) or self._hides_accesses(s):
                if any(map(self._touches, ast.walk(s))):
                    return None
                continue
            for node, kind in _in_order(s):
                if not self._touches(node):
                    continue
                text = ast.unparse(node)
                if not isinstance(node, ast.Subscript) or text not in hoisted:
                    return None
                found.append((node, kind, hoisted[text][1]))
        return found or None

    def _hides_accesses(self, s: ast.stmt) -> bool:
        """Tell whether an access stands where it may not be evaluated."""
        hidden = (part for node in ast.walk(s) for part in self._hidden(node))
        return any(self._touches(inner) for part in hidden for inner in ast.walk(part))

    def _hidden(self, node: ast.AST) -> list[ast.AST]:
        """Return the parts of a node that may not be evaluated when it is, or are told apart."""
        fields = isinstance(node, (ast.Attribute, ast.Subscript))
        if fields and self.rewriter.record_field(node) is not None:
            return [node]  # told field by field
        if isinstance(node, ast.Lambda) or hasattr(node, "generators"):
            return [node]
        if isinstance(node, ast.IfExp):
            return [node.body, node.orelse]
        if isinstance(node, ast.BoolOp):
            return list(node.values[1:])
        return list(node.comparators[1:]) if isinstance(node, ast.Compare) else []

    def _touches(self, node: ast.AST) -> bool:
        """Tell whether a node itself reads or writes an array, as far as its form tells."""
        if isinstance(node, ast.Call):
            name = tree.called(node)
            if name is not None:
                return name.startswith("atomic.")
            named = isinstance(node.func, ast.Name) and node.func.id in self.unit.devices
            return named and any(self._is_array(a) for a in node.args)
        if not isinstance(node, ast.Subscript):
            return False
        base = node.value
        if isinstance(base, ast.Name):
            if base.id in self.rewriter.slots:
                return False
            kind = self.unit.types.get(base.id)
            if kind is not None and not hasattr(kind, "layout"):
                return isinstance(kind, types.Record)
            return True
        return not access._is_shape(base)

    def _is_array(self, node: ast.expr) -> bool:
        return any(
            hasattr(self.unit.types.get(n.id), "layout")
            for n in ast.walk(node)
            if isinstance(n, ast.Name)
        )

    # ---- what is told ---------------------------------------------------------------------

    def _row_call(
        self, name: str, told: tuple[ast.Subscript, int, list[Form]], leaf: plan.Leaf,
        low: ast.expr, high: ast.expr, kind: list[ast.expr],
    ) -> ast.expr:  # fmt: skip
        """Return the call that tells one access of all threads of a row."""
        node, how, forms = told
        array = node.value.id  # type: ignore[attr-defined]
        if how == watch.LOAD:  # of `a[i] += v`, whose write is another access
            node = copy.copy(node)
            node.ctx = ast.Load()
        site = self.rewriter.site(node, array, ast.unparse(node))
        following = tree.expr("low + 1", low=low)
        ends = [
            ast.Tuple([self.rewriter.expression(f.at(x)) for f in forms], ast.Load())
            for x in (low, following)
        ]
        thread = tree.expr("row_start + low - first_thread", low=low)
        count = tree.expr("high - low", high=high, low=low)
        apart = self._apart(leaf, low)
        if apart:
            count = tree.expr(f"c + (({apart} - 1) << {watch.APART_SHIFT})", c=count)
        mask = self._mask_address(leaf.mask, tree.expr("row_start + low", low=low))
        arrays = [self._of_thread(array, x) for x in (low, following)]
        parts = [tree.const(site), *arrays, *ends, thread, count, mask, *kind]
        return tree.call(self.rewriter.helper("hooks", name), tree.name("_context"), *parts)

    def _of_thread(self, array: str, x: ast.expr) -> ast.expr:
        """Return an array, of a local one what the thread at x has of it."""
        if array not in self.local:
            return tree.name(array)
        shape, dtype = self.local[array]
        kind = types.Array(dtype, len(shape), "C")
        made = self.rewriter.bind("local", storage.array_of_thread(kind, shape))
        size = padded(storage.array_bytes(dtype, shape))
        at = tree.expr(f"(row_start + x) * {size}", x=x)
        return tree.call(made, tree.name(f"{array}_of_all"), at)

    def _told_values(self, leaf: plan.Leaf) -> list[ast.stmt]:
        """Return the statements that tell what a thread's variables are now (recordings only)."""
        if self.options.watched != "values":
            return []
        self.rewriter.uses_thread = True
        return self._values(tree.writes(leaf.body), tree.expr("thread - first_thread"))

    def _values(self, names: set[str], thread: ast.expr) -> list[ast.stmt]:
        new: list[ast.stmt] = []
        for name in sorted(names & self.unit.spelled):
            kind = self.unit.types.get(name)
            if isinstance(kind, (types.Integer, types.Float, types.Boolean)):
                number = self.variables.setdefault(name, len(self.variables))
                call = tree.call(
                    self.rewriter.helper("hooks", "value"), tree.name("_context"), thread,
                    tree.const(number), tree.name(name),
                )  # fmt: skip
                new.append(ast.Expr(call))
        return new

    def _mask_address(self, mask: str | None, thread: ast.expr) -> ast.expr:
        if mask is None:
            return tree.const(0)
        at = self.rewriter.helper("hooks", "mask_at")
        return tree.call(at, tree.name(mask), thread)

    def _work(self, leaf: plan.Leaf, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        """Return the statements that count what a row of threads computes (profiles only)."""
        if not self.unit.detailed:
            return []
        self.rewriter.uses_thread = True
        new: list[ast.stmt] = []
        for s in leaf.body:
            by_person = not getattr(s, "made", False) or self.options.watched == "values"
            if getattr(s, "lineno", 0) and by_person:
                site = self.rewriter.site(s, "", f"{ast.unparse(s)};") >> watch.SITE_SHIFT
                self.flops[site] = self.expressions.flops(s)
                thread = tree.expr("row_start + low - first_thread", low=low)
                count = tree.expr("high - low", high=high, low=low)
                mask = self._mask_address(leaf.mask, tree.expr("row_start + low", low=low))
                parts = [tree.const(site), thread, count, mask, tree.const(0)]
                call = tree.call(
                    self.rewriter.helper("hooks", "work"), tree.name("_context"),
                    ast.Tuple(parts, ast.Load()),
                )  # fmt: skip
                new.append(ast.Expr(call))
        return new


def _rounds_of(over: ast.expr) -> tuple[ast.expr, ast.expr | None]:
    """Return the start of a range with step 1, and how often it goes round."""
    arguments = over.args if isinstance(over, ast.Call) else []
    if len(arguments) == 1:
        return tree.const(0), arguments[0]
    if len(arguments) == 2:
        return arguments[0], tree.expr("b - a", a=arguments[0], b=arguments[1])
    return tree.const(0), None


def _linear(node: ast.expr, name: str) -> bool:
    """Tell whether an expression grows by the same amount with each step of a variable.

    >>> [_linear(tree.expr(e), "k") for e in ("k", "4 * k + i", "n - k", "k * k", "k % 2")]
    [True, True, True, False, False]
    """
    if name not in tree.reads(node):
        return True
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        return _linear(node.left, name) and _linear(node.right, name)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = (node.left, node.right)
        return sum(name in tree.reads(s) for s in sides) == 1 and all(
            _linear(s, name) for s in sides
        )
    return False


def _in_order(s: ast.stmt) -> list[tuple[ast.AST, int]]:
    """Return the nodes of a statement with the kind of access that they would be, reads first."""
    value = [(n, watch.LOAD) for n in ast.walk(s.value)]  # type: ignore[attr-defined]
    if isinstance(s, ast.Expr):
        return value
    targets = s.targets if isinstance(s, ast.Assign) else [s.target]  # type: ignore[attr-defined]
    inner = [(n, watch.LOAD) for t in targets for n in _below(t)]
    stores = [(t, watch.STORE) for t in targets for t in _parts(t)]
    if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Subscript):
        return [*inner, (s.target, watch.LOAD), *value, *stores]
    return [*value, *inner, *stores]


def _parts(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, ast.Tuple) else [target]


def _below(target: ast.expr) -> list[ast.AST]:
    """Return what an assignment reads to find its target: the index and what it is made of."""
    parts = _parts(target)
    return [
        n for t in parts if isinstance(t, ast.Subscript)
        for inner in (t.slice, t.value) for n in ast.walk(inner)
    ]  # fmt: skip
