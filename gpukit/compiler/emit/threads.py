"""Emit the loops over the threads of a block: over rows along z and y, innermost over threadIdx.x.

The innermost loop is emitted twice: one without checks, taken if both ends of every index range
of the row are in bounds, and one that checks each access. If block, constants and guards prove
the range, only the first is emitted; if a long loop checks some accesses in any case, only the
second.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any

from gpukit.compiler import conditions, tree
from gpukit.compiler.analysis import liveness
from gpukit.compiler.emit import accesses, entry, unroll_and_jam
from gpukit.compiler.emit.bounds import Bounds
from gpukit.compiler.emit.instruments import Instruments
from gpukit.compiler.emit.kernel import Kernel
from gpukit.compiler.emit.kernel_memory import Memory
from gpukit.compiler.emit.work import Work
from gpukit.compiler.lowering import region_tree, schedule, warps
from gpukit.compiler.runtime import shuffles

# With this many statements, a loop that keeps checks anyway is not worth compiling twice.
_LONG = 64
_INDEX = tuple(f"threadIdx_{a}" for a in tree.AXES)


class ThreadLoops:
    """Emits the loops over the threads of a block."""

    def __init__(
        self, kernel: Kernel, memory: Memory, instruments: Instruments, work: Work
    ) -> None:
        self.kernel, self.memory, self.instruments = kernel, memory, instruments
        self.work = work
        self.unit, self.schedule, self.options = kernel.unit, kernel.schedule, kernel.options
        self.rewriter, self.ranges = kernel.rewriter, kernel.ranges
        self.bounds = Bounds(kernel, memory)

    def of_block(self, rows: list[region_tree.Row]) -> list[ast.stmt]:
        """Return the loops over threadIdx.z and threadIdx.y around rows."""
        self.rewriter.uses_thread = False
        inner = self._rows(rows, tree.const(0), self.kernel.width)
        uses_thread = self.rewriter.uses_thread
        block = self.options.block
        if uses_thread:
            inner = [*self._row_start(block), *inner]
        for axis, size in (("y", 1), ("z", 2)):
            if block is None or block[size] != 1:
                over = tree.expr(f"range(blockDim_{axis})")
                body = inner or [ast.Pass()]
                inner = [ast.For(tree.store(f"threadIdx_{axis}"), over, body, [])]
        if self.schedule.whole_grid:
            inner = self._all_blocks(inner)
        inner = [*self.instruments.tick(), *inner]
        own = {"threadIdx_y", "threadIdx_z", "row_start"} & tree.writes(inner)
        return self._own_names(inner, own)

    def _row_start(self, block: tuple[int, int, int] | None) -> list[ast.stmt]:
        """Return the linear index of the row's first thread."""
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
        body = entry.block_index("_block") + tree.stmts("first_thread = _block * threads")
        if not self.options.readable:
            body += [entry.note(self.kernel), *self.instruments.record_block()]
            body += [*tree.stmts("first_block = _block"), *self.memory.shared_arrays()]
        over = tree.expr("range(_first, _last)")
        return [ast.For(tree.store("_block"), over, [*body, *inner], [])]

    # ---- rows -----------------------------------------------------------------------------

    def _rows(self, rows: list[region_tree.Row], low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        return [s for row in rows for s in getattr(self, f"_{type(row).__name__}")(row, low, high)]

    def _RowIf(self, row: region_tree.RowIf, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        tests = [self.rewriter.expression(t) for t in row.tests]
        if row.orelse:
            return self._with_else(row, tests, low, high)
        body = self._narrowed(row, low, high)
        return [ast.If(conditions.conjunction(tests), body or [ast.Pass()], [])] if tests else body

    def _narrowed(self, row: region_tree.RowIf, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        """Return the body for the part of the row within the limits."""
        if not row.bounds:
            with self.bounds.behind(row.guards):
                return self._rows(row.body, low, high)
        lows = [low, *(b.lower for b in row.bounds if b.lower)]
        highs = [high, *(b.upper for b in row.bounds if b.upper)]
        start, stop = self._limit("max", lows), self._limit("min", highs)
        least = [k[0] for k in map(self.ranges.of, lows) if k is not None]
        most = [k[1] for k in map(self.ranges.of, highs) if k is not None]
        names = {"start": start, "stop": stop}
        new: list[ast.stmt] = []
        for base, value in names.items():
            if not isinstance(value, (ast.Constant, ast.Name)):
                name = self.unit.fresh(base)
                new.append(tree.assign(name, value))
                names[base] = tree.name(name)
                if least and most:  # where the body runs, start < stop
                    self.ranges.known[name] = (max(least), min(most))
        first, last = names["start"], names["stop"]
        if isinstance(first, ast.Constant) and isinstance(last, ast.Constant):
            if int(first.value) >= int(last.value):  # type: ignore[arg-type]
                return []
        with self.bounds.behind(row.guards):
            body = self._rows(row.body, first, last) or [ast.Pass()]
        if isinstance(first, ast.Constant) and isinstance(last, ast.Constant):
            return body
        return [*new, ast.If(ast.Compare(first, [ast.Lt()], [last]), body, [])]

    def _limit(self, function: str, values: list[ast.expr]) -> ast.expr:
        """Return the `max` or `min` of limits of a row, as a constant if it is known."""
        found = [self.ranges.of(v) for v in values]
        exact = [k[0] for k in found if k is not None and k[0] == k[1]]
        if len(exact) == len(values):
            return tree.const({"max": max, "min": min}[function](exact))
        return self._extreme(
            function, [values[0], *(self.rewriter.expression(v) for v in values[1:])]
        )

    def _extreme(self, function: str, values: list[ast.expr]) -> ast.expr:
        """Return the `min` or `max` of integers."""
        result = values[0]
        for value in values[1:]:
            name = {"min": "least", "max": "greatest"}[function]
            readable = self.options.readable
            called = tree.name(function) if readable else self.rewriter.helper("bounds", name)
            result = tree.call(called, result, value)
        return result

    def _RowSpan(self, row: region_tree.RowSpan, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        ends: list[ast.expr] = []
        new: list[ast.stmt] = []
        least, most = self.ranges.of(low), self.ranges.of(high)
        for base, function in (("start", "first_in"), ("stop", "end_of")):
            name = self.unit.fresh(base)
            helper = self.rewriter.helper("control", function)
            found = tree.call(helper, tree.name(row.mask), tree.name("row_start"), low, high)
            new.append(tree.assign(name, found))
            ends.append(tree.name(name))
            if least is not None and most is not None:
                self.ranges.known[name] = (least[0], most[1])
        self.rewriter.uses_thread = True
        body = self._rows(row.body, *ends) or [ast.Pass()]
        return [*new, ast.If(ast.Compare(ends[0], [ast.Lt()], [ends[1]]), body, [])]

    def _with_else(
        self, row: region_tree.RowIf, tests: list[ast.expr], low: ast.expr, high: ast.expr
    ) -> list[ast.stmt]:
        """Return both branches; the second runs before and after the part of the first."""
        if not row.bounds:
            with self.bounds.behind(row.guards):
                body = self._rows(row.body, low, high) or [ast.Pass()]
            orelse = self._rows(row.orelse, low, high) or [ast.Pass()]
            return [ast.If(conditions.conjunction(tests), body, orelse)]
        names = self.unit.fresh("start"), self.unit.fresh("stop")
        start, stop = (tree.name(n) for n in names)
        least, most = self.ranges.of(low), self.ranges.of(high)
        if least is not None and most is not None:
            for name in names:
                self.ranges.known[name] = (least[0], most[1])
        lowers = [self.rewriter.expression(b.lower) for b in row.bounds if b.lower]
        uppers = [self.rewriter.expression(b.upper) for b in row.bounds if b.upper]
        # Keep low <= start <= stop <= high, so that the three parts cover the row.
        first = self._extreme("min", [high, self._extreme("max", [low, *lowers])])
        inside: list[ast.stmt] = [
            tree.assign(names[0], first if lowers else low),
            tree.assign(
                names[1], self._extreme("max", [start, self._extreme("min", [high, *uppers])])
            ),
        ]
        if tests:
            nowhere: list[ast.stmt] = [tree.assign(names[0], low), tree.assign(names[1], low)]
            inside = [ast.If(conditions.conjunction(tests), inside, nowhere)]
        with self.bounds.behind(row.guards):
            new = [*inside, *self._rows(row.body, start, stop)]
        if lowers:
            new += self._rows(row.orelse, low, start)
        return [*new, *self._rows(row.orelse, stop, high)]

    def _RowCount(self, row: region_tree.RowCount, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        return self.work.recomputed(row, low, high)

    def _RowFor(self, row: region_tree.RowFor, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        before = self.instruments.loop(row, low, high)
        if self.options.readable:
            before = [tree.comment(f"outside the loop over threads: {row.why}")]
        if unroll_and_jam.pays(self.kernel, row):
            return [*before, *self._whole_rounds_first(row, low, high)]
        over = self.rewriter.expression(row.iter)
        with self.bounds.behind([], without=row.target):
            return [*before, *self._rounds_of(row, over, row.body, low, high)]

    def _rounds_of(
        self,
        row: region_tree.RowFor,
        over: ast.expr,
        rows: list[region_tree.Row],
        low: ast.expr,
        high: ast.expr,
    ) -> list[ast.stmt]:
        """Return the loop over a range, or over a part of it, with these rows in it."""
        with self.ranges.loop(row.target, row.iter):
            body = self._rows(rows, low, high) or [ast.Pass()]
        loop = ast.For(tree.store(row.target), over, body, [])
        return self.rewriter.polled(loop)

    def _whole_rounds_first(
        self, row: region_tree.RowFor, low: ast.expr, high: ast.expr
    ) -> list[ast.stmt]:
        """Return a loop over groups of iterations that every thread runs, and the remainder."""
        whole = unroll_and_jam.whole(self.kernel, row, high)
        with self.bounds.behind([], without=row.target):
            last = self._rounds_of(row, whole.others, row.body, low, high)
            with self.bounds.behind(whole.guards):
                first = self._rounds_of(row, whole.range, whole.rows, low, high)
        return [*whole.before, *first, *last]

    # ---- the innermost loop ---------------------------------------------------------------

    def _ThreadLoop(
        self, thread_loop: region_tree.ThreadLoop, low: ast.expr, high: ast.expr
    ) -> list[ast.stmt]:
        if self.instruments.is_surely_whole(thread_loop):
            return []
        shuffled = None if self.unit.detailed else self._shuffled(thread_loop, low, high)
        if shuffled is not None:
            return [shuffled]
        before = self.work.row(thread_loop, low, high)
        instrumented = self.options.instrumented
        recorded = accesses.of_row(self.kernel, thread_loop) if instrumented else []
        if recorded is None:
            return [*before, self._thread_loop(thread_loop, low, high)]
        short, few = (set(), {}) if instrumented else self.bounds.short_loops(thread_loop)
        known = accesses.InLoops(self.kernel, thread_loop, short)
        if self.options.readable:
            texts = ", ".join(known.texts[key] for key in known.found)
            note = ast.Expr(tree.call("check_range", tree.const(texts), low, high))
            loop = self._thread_loop(thread_loop, low, high, known.found)
            return [note, loop] if texts else [loop]
        if not instrumented and self._stays_checked(thread_loop, known.found):
            return [*before, self._thread_loop(thread_loop, low, high)]
        indices = [index for found in known.found.values() for index in found]
        tests = [
            *few.values(),
            *self.bounds.small(known.factors.values()),
            *self.bounds.tests(indices, low, high),
        ]
        calls, free = self.instruments.row(recorded, thread_loop, low, high)
        fast = [*calls, self._thread_loop(thread_loop, low, high, known.found, short)]
        self.rewriter.uses_thread |= bool(recorded)
        if not tests and not free:
            return [*before, *fast]
        slow = self._thread_loop(thread_loop, low, high)
        return [*before, ast.If(conditions.conjunction([*tests, *free]), fast, [slow])]

    def _stays_checked(self, thread_loop: region_tree.ThreadLoop, known: Collection[Any]) -> bool:
        """Tell whether a loop is long and keeps checks, so that LLVM cannot vectorize it."""
        return (
            self.options.boundscheck
            and sum(1 for _ in tree.statements(thread_loop.body)) >= _LONG
            and accesses.checked_one_by_one(self.kernel, thread_loop, known)
        )

    def _shuffled(
        self, thread_loop: region_tree.ThreadLoop, low: ast.expr, high: ast.expr
    ) -> ast.stmt | None:
        """Return the call that shuffles a whole row, if the offset is the same for all threads."""
        s = thread_loop.body[0]
        if self.options.readable or len(thread_loop.body) != 1:
            return None
        if not isinstance(s, ast.Assign) or not isinstance(s.targets[0], ast.Name):
            return None
        name, target = tree.called(s.value) or "", s.targets[0].id
        mode = warps.MODES.get(name.removeprefix("warp."))
        kept = target in self.schedule.live_across - thread_loop.forms.fixed
        if (
            mode is None
            or not kept
            or self.memory.thread_arrays[self.kernel.kept(target)] not in shuffles.KINDS
        ):
            return None
        published, _active, _mask, offset = s.value.args  # type: ignore[attr-defined]
        if not thread_loop.forms.is_fixed(offset) or not thread_loop.forms.is_integer(offset):
            return None
        self.rewriter.uses_thread = True
        mask = self.instruments.mask_address(thread_loop.mask, tree.const(0))
        ends = [tree.expr("row_start + x", x=x) for x in (low, high)]
        steps = self.rewriter.expression(thread_loop.forms.written_out(offset))
        parts = [
            published,
            tree.name(self.kernel.kept(target)),
            mask,
            *ends,
            tree.name("first_thread"),
            tree.name("threads"),
            tree.const(mode),
            steps,
        ]
        call = tree.call(self.rewriter.helper("shuffles", "row"), *parts)
        return tree.at(ast.Expr(call), s)  # type: ignore[no-any-return]

    def _thread_loop(
        self,
        thread_loop: region_tree.ThreadLoop,
        low: ast.expr,
        high: ast.expr,
        hoisted: Collection[Any] = (),
        short: Collection[Any] = (),
    ) -> ast.stmt:
        """Return the loop; `hoisted` accesses need no checks, `short` loops no polls."""
        rewriter = self.rewriter
        used_before = rewriter.uses_thread
        rewriter.uses_thread = rewriter.uses_origin = False
        rewriter.hoisted, rewriter.short = hoisted, short
        loads, stores = self._kept(thread_loop)
        body = rewriter.statements(
            [*self._rematerialised(thread_loop), *loads, *thread_loop.body, *stores]
        )
        body += self.instruments.values_of_thread(thread_loop)
        if thread_loop.mask is not None:
            body = [ast.If(rewriter.expression(schedule.flag_of(thread_loop.mask)), body, [])]
        if self.options.readable and "thread" in tree.reads(body):
            rewriter.uses_thread = True
        if rewriter.uses_origin and not self.options.readable:
            body = [*tree.stmts(f"_thread_index = ({', '.join(_INDEX)})"), *body]
        if not self.options.readable:
            body = [*self.memory.local_arrays(tree.reads(thread_loop.body)), *body]
        if rewriter.uses_thread:
            body = [*tree.stmts("thread = row_start + threadIdx_x"), *body]
        rewriter.uses_thread |= used_before
        rewriter.hoisted = rewriter.short = ()
        over = tree.expr("range(low, high)", low=low, high=high)
        loop = ast.For(tree.store("threadIdx_x"), over, body or [ast.Pass()], [])
        named = self._own_names([loop], tree.writes(loop))[0]
        return tree.at(named, thread_loop.body[0])  # type: ignore[no-any-return]

    def _own_names(self, body: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
        """Give variables that are live only in these statements unique names.

        Numba takes long to separate the variables if many loops share a name.
        """
        if self.options.readable:
            return body
        own = {name: self.unit.renamed(name) for name in tree.in_order(names, body)}
        made: list[ast.stmt] = tree.clone(body)
        tree.rename(made, own)
        return made

    def _kept(self, thread_loop: region_tree.ThreadLoop) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """Return statements that load and store the variables kept between loops."""
        exposed, sure = liveness.flow(thread_loop.body)
        written = tree.writes(thread_loop.body)
        thread_arrays = self.schedule.live_across - thread_loop.forms.fixed
        loads = exposed | (written - sure)
        kept = {n: self.kernel.kept(n) for n in self.schedule.live_across if n in thread_arrays}
        return (
            [tree.stmts(f"{n} = {array}[thread]")[0] for n, array in kept.items() if n in loads],
            [tree.stmts(f"{array}[thread] = {n}")[0] for n, array in kept.items() if n in written],
        )

    def _rematerialised(self, thread_loop: region_tree.ThreadLoop) -> list[ast.stmt]:
        """Return definitions of the rematerialised variables that a loop reads, in order."""
        rematerialised = thread_loop.forms.rematerialised
        exposed, _ = liveness.flow(thread_loop.body)
        needed: set[str] = set()
        todo = [n for n in exposed if n in rematerialised]
        while todo:
            name = todo.pop()
            if name not in needed:
                needed.add(name)
                todo += [n for n in tree.reads(rematerialised[name]) if n in rematerialised]
        return [
            tree.assign(n, e, thread_loop.body[0]) for n, e in rematerialised.items() if n in needed
        ]
