"""The loops around the loop over threadIdx.x: threads along y and z, and what guards leave."""

from __future__ import annotations

import ast

from gpukit.compiler import plan, tree
from gpukit.compiler.passes.rounds import Rounds


class Nests(Rounds):
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
