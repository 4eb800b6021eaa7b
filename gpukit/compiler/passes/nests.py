"""The loops around the loop over threadIdx.x: threads along y and z, guards, loops in step."""

from __future__ import annotations

import ast

from gpukit.compiler import plan, tree
from gpukit.compiler.passes.affine import Form
from gpukit.compiler.passes.watched import Watched

# Threads of a row, up to which whole rounds of a loop have a loop of their own: a few vectors.
_NARROW = 64


class Nests(Watched):
    """Writes the loops over the threads of a block."""

    def loops(self, rows: list[plan.Row]) -> list[ast.stmt]:
        """Return the loops over threadIdx.z and .y around some rows."""
        self.rewriter.uses_thread = False
        inner = self._rows(rows, tree.const(0), self.width)
        uses_thread = self.rewriter.uses_thread
        block = self.options.block
        if uses_thread:
            inner = [*self._row_start(block), *inner]
        for axis, size in (("y", 1), ("z", 2)):
            if block is None or block[size] != 1:
                over = tree.expr(f"range(blockDim_{axis})")
                body = inner or [ast.Pass()]
                inner = [ast.For(tree.store(f"threadIdx_{axis}"), over, body, [])]
        if self.plan.whole_grid:
            inner = self._all_blocks(inner)
        if self.unit.detailed and not self.options.readable:
            nothing = ast.Tuple([], ast.Load())
            tick = tree.call(self.rewriter.helper("hooks", "tick"), tree.name("_context"), nothing)
            inner = [ast.Expr(tick), *inner]
        own = {"threadIdx_y", "threadIdx_z", "row_start"} & tree.writes(inner)
        return self._own_names(inner, own)

    def _row_start(self, block: tuple[int, int, int] | None) -> list[ast.stmt]:
        """Return the number of the row's first thread."""
        width, height, depth = block or (0, 0, 0)
        row = (
            "threadIdx_y"
            if depth == 1
            else f"(threadIdx_z * {height or 'blockDim_y'} + threadIdx_y)"
        )
        first = "first_thread + " if self.rewriter.many_blocks else ""
        start = "0" if (height, depth) == (1, 1) else f"{row} * {width or 'blockDim_x'}"
        return tree.stmts(f"row_start = {first}{start}")

    def _all_blocks(self, inner: list[ast.stmt]) -> list[ast.stmt]:
        body = self._block_index("_block") + tree.stmts("first_thread = _block * threads")
        if not self.options.readable:
            begin = self.rewriter.helper("control", "begin_block")
            index = [tree.name(f"blockIdx_{a}") for a in tree.AXES]
            body.append(ast.Expr(tree.call(begin, tree.name("_context"), *index)))
            body += self._tell_block()
            body += tree.stmts("first_block = _block")
            body += self._shared_arrays()
        over = tree.expr("range(_first, _last)")
        return [ast.For(tree.store("_block"), over, [*body, *inner], [])]

    def _rows(self, rows: list[plan.Row], low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        return [s for row in rows for s in getattr(self, f"_{type(row).__name__}")(row, low, high)]

    def _RowFor(self, row: plan.RowFor, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        before = self._areas(row, low, high)
        if self._is_narrow(row, low, high):
            return [*before, *self._whole_rounds_first(row, low, high)]
        over = self.rewriter.expression(row.iter)
        with self._behind([], without=row.target):
            return [*before, self._rounds_of(row, over, row.body, low, high)]

    def _rounds_of(
        self, row: plan.RowFor, over: ast.expr, rows: list[plan.Row], low: ast.expr, high: ast.expr
    ) -> ast.stmt:
        """Return the loop over a range, or over a part of it, with these rows in it."""
        with self.ranges.loop(row.target, row.iter):
            body = self._rows(rows, low, high) or [ast.Pass()]
        loop = ast.For(tree.store(row.target), over, body, [])
        return loop if self.options.readable else self.rewriter.polled(loop)

    def _is_narrow(self, row: plan.RowFor, low: ast.expr, high: ast.expr) -> bool:
        """Tell whether a round is so short that finding its end would take as long as itself."""
        ends = [self.ranges.of(low), self.ranges.of(high)]
        known = all(e is not None and e[0] == e[1] for e in ends)
        return row.stride > 0 and not self.unit.watched and known and ends[1][0] <= _NARROW  # type: ignore[index]

    def _whole_rounds_first(
        self, row: plan.RowFor, low: ast.expr, high: ast.expr
    ) -> list[ast.stmt]:
        """Return a loop over the rounds in which every thread takes part, and one over the rest."""
        guard = row.body[0]
        assert isinstance(guard, plan.RowIf)
        start, stop, *step = map(self.rewriter.expression, row.iter.args)  # type: ignore[attr-defined]
        by = step[0] if step else tree.const(1)
        width = self.ranges.of(high)[1]  # type: ignore[index]
        end, rest = self.unit.fresh("end"), self.unit.fresh("rest")
        ahead_of = self.rewriter.helper("bounds", "ahead_of")
        behind = self.rewriter.helper("bounds", "first_behind")
        proved, tests = self._proved_for_all(row, guard, width, end)
        others = tree.call("range", tree.name(rest), stop, by)
        with self._behind([], without=row.target):
            last = self._rounds_of(row, others, row.body, low, high)
            with self._behind([*guard.guards, *proved]):
                whole = tree.call("range", start, tree.name(end), by)
                first = self._rounds_of(row, whole, guard.body, low, high)
        ahead = tree.call(ahead_of, stop, tree.const(row.stride * (width - 1)))
        none = tree.assign(end, start)  # where an index might leave its array, all are checked
        return [
            tree.assign(end, ahead),
            *(ast.If(ast.UnaryOp(ast.Not(), test), [none], []) for test in tests),
            first,
            tree.assign(rest, tree.call(behind, start, tree.name(end), by)),
            last,
        ]

    def _proved_for_all(
        self, row: plan.RowFor, guard: plan.RowIf, width: int, end: str
    ) -> tuple[list[tuple[Form, ast.expr]], list[ast.expr]]:
        """Return indices that stay below a size in all whole rounds if some tests hold.

        They grow with the loop's variable, one by one: a larger step could go round the 64 bits.
        """
        proved: list[tuple[Form, ast.expr]] = []
        tests: dict[str, ast.expr] = {}
        inside = self.rewriter.helper("bounds", "inside")
        thread, last = tree.expr("cuda.threadIdx.x"), tree.expr(f"{end} - 1")
        for leaf in plan.row_leaves(guard.body):
            for array, forms in self._hoistable(leaf).values():
                for axis, form in enumerate(forms):
                    size = tree.expr(f"{array}.shape[{axis}]")
                    along = row.forms.of(tree.fill(form.rest, **{row.target: thread}))
                    if self.ranges.size(size) is None or along is None or along.factor != 1:
                        continue
                    if any(ast.unparse(size) == ast.unparse(n) for _, n in guard.guards):
                        continue
                    proved.append((form, size))
                    most = tree.fill(form.at(tree.const(width - 1)), **{row.target: last})
                    test = tree.call(inside, *map(self.rewriter.expression, (size, most)))
                    tests.setdefault(ast.unparse(test), test)
        return proved, list(tests.values())

    def _RowIf(self, row: plan.RowIf, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        tests = [self.rewriter.expression(t) for t in row.tests]
        if row.orelse:
            return self._with_else(row, tests, low, high)
        body = self._narrowed(row, low, high)
        return [ast.If(tree.conjunction(tests), body or [ast.Pass()], [])] if tests else body

    def _narrowed(self, row: plan.RowIf, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        """Return the body for the part of the row that lies within the limits."""
        if not row.bounds:
            with self._behind(row.guards):
                return self._rows(row.body, low, high)
        lows = [low, *(b.lower for b in row.bounds if b.lower)]
        highs = [high, *(b.upper for b in row.bounds if b.upper)]
        start, stop = self._limit("max", lows), self._limit("min", highs)
        least = [k[0] for k in map(self.ranges.of, lows) if k is not None]
        most = [k[1] for k in map(self.ranges.of, highs) if k is not None]
        names = {"start": start, "stop": stop}
        new: list[ast.stmt] = []
        for stem, value in names.items():
            if not isinstance(value, (ast.Constant, ast.Name)):
                name = self.unit.fresh(stem)
                new.append(tree.assign(name, value))
                names[stem] = tree.name(name)
                if least and most:  # where the body runs, start < stop
                    self.ranges.known[name] = (max(least), min(most))
        first, last = names["start"], names["stop"]
        if isinstance(first, ast.Constant) and isinstance(last, ast.Constant):
            if int(first.value) >= int(last.value):  # type: ignore[arg-type]
                return []
        with self._behind(row.guards):
            body = self._rows(row.body, first, last) or [ast.Pass()]
        if isinstance(first, ast.Constant) and isinstance(last, ast.Constant):
            return body
        return [*new, ast.If(ast.Compare(first, [ast.Lt()], [last]), body, [])]

    def _limit(self, function: str, values: list[ast.expr]) -> ast.expr:
        """Return the `max` or `min` of limits of a row, as a number if it is known."""
        found = [self.ranges.of(v) for v in values]
        exact = [k[0] for k in found if k is not None and k[0] == k[1]]
        if len(exact) == len(values):
            return tree.const({"max": max, "min": min}[function](exact))
        return self._extreme(
            function, [values[0], *(self.rewriter.expression(v) for v in values[1:])]
        )

    def _RowSpan(self, row: plan.RowSpan, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        ends: list[ast.expr] = []
        new: list[ast.stmt] = []
        least, most = self.ranges.of(low), self.ranges.of(high)
        for stem, function in (("start", "first_in"), ("stop", "end_of")):
            name = self.unit.fresh(stem)
            helper = self.rewriter.helper("control", function)
            found = tree.call(helper, tree.name(row.mask), tree.name("row_start"), low, high)
            new.append(tree.assign(name, found))
            ends.append(tree.name(name))
            if least is not None and most is not None:
                self.ranges.known[name] = (least[0], most[1])
        self.rewriter.uses_thread = True
        if row.mask in self.combs:
            self.spans[ends[0].id] = (row.mask, self.combs[row.mask])  # type: ignore[attr-defined]
        body = self._rows(row.body, *ends) or [ast.Pass()]
        return [*new, ast.If(ast.Compare(ends[0], [ast.Lt()], [ends[1]]), body, [])]

    def _with_else(
        self, row: plan.RowIf, tests: list[ast.expr], low: ast.expr, high: ast.expr
    ) -> list[ast.stmt]:
        """Return both branches; the second runs before and behind the part of the first."""
        if not row.bounds:
            with self._behind(row.guards):
                body = self._rows(row.body, low, high) or [ast.Pass()]
            orelse = self._rows(row.orelse, low, high) or [ast.Pass()]
            return [ast.If(tree.conjunction(tests), body, orelse)]
        names = self.unit.fresh("start"), self.unit.fresh("stop")
        start, stop = (tree.name(n) for n in names)
        least, most = self.ranges.of(low), self.ranges.of(high)
        if least is not None and most is not None:
            for name in names:
                self.ranges.known[name] = (least[0], most[1])
        lowers = [self.rewriter.expression(b.lower) for b in row.bounds if b.lower]
        uppers = [self.rewriter.expression(b.upper) for b in row.bounds if b.upper]
        # Keep low <= start <= stop <= high, so that the three parts make up the row.
        first = self._extreme("min", [high, self._extreme("max", [low, *lowers])])
        inside: list[ast.stmt] = [
            tree.assign(names[0], first if lowers else low),
            tree.assign(
                names[1], self._extreme("max", [start, self._extreme("min", [high, *uppers])])
            ),
        ]
        if tests:
            nowhere: list[ast.stmt] = [tree.assign(names[0], low), tree.assign(names[1], low)]
            inside = [ast.If(tree.conjunction(tests), inside, nowhere)]
        with self._behind(row.guards):
            new = [*inside, *self._rows(row.body, start, stop)]
        if lowers:
            new += self._rows(row.orelse, low, start)
        return [*new, *self._rows(row.orelse, stop, high)]
