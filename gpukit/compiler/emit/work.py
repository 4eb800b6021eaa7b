"""Emit the calls of instrumented kernels that count the statements that threads execute."""

from __future__ import annotations

import ast

from gpukit.compiler import checker_state, facts, tree
from gpukit.compiler.analysis import expressions, operations
from gpukit.compiler.emit.instruments import Instruments
from gpukit.compiler.lowering import region_tree


class Work:
    """Emits the calls that count statements; nothing for kernels that are not `Unit.detailed`.

    `operations` are those of the statements of a profile by their own location, `steps` the text of
    a statement in a recording by its own location.
    """

    def __init__(self, instruments: Instruments) -> None:
        self.instruments, self.unit = instruments, instruments.unit
        self.expressions = expressions.Expressions(instruments.unit)
        self.operations: dict[int, dict[str, int]] = {}
        self.steps: dict[int, str] = {}

    def once(self, s: ast.stmt) -> list[ast.stmt]:
        """Return the statements that record a statement that runs once per block."""
        if not self.unit.detailed or self._is_added(s):
            return []
        self._keep(s, operations.of(self.expressions, s))
        return self._work_of_block(s, None)

    def round(self, step: region_tree.BlockFor) -> list[ast.stmt]:
        """Return the statements that record an iteration of a loop."""
        loop = step.loop
        head = tree.assign(getattr(loop.target, "id", ""), loop.iter, loop)  # for text and values
        self._keep(head, operations.of_round(self.expressions, loop))
        return [*self._work_of_block(head, step.mask), *self.instruments.values_of_block(head)]

    def range(self, step: region_tree.BlockFor) -> list[ast.stmt]:
        """Return the statements that count the operations in the range of a loop (profiles)."""
        head = tree.at(ast.Expr(step.loop.iter), step.loop)
        found = operations.of(self.expressions, head) if self.unit.instrumented == "every" else {}
        if not found:
            return []
        self._keep(head, found)
        return self._work_of_block(head, step.mask, recomputed=True)

    def _is_added(self, s: ast.stmt) -> bool:
        """Tell whether a profile does not count a statement, because the compiler added it."""
        return facts.of(s).added and self.unit.instrumented != "values"

    def _keep(self, s: ast.stmt, found: dict[str, int]) -> None:
        """Keep the operations of a statement, and its text in a recording."""
        location = self.instruments.location(s, f"{ast.unparse(s)};")
        self.operations[location] = found
        self.steps[location] = self._step(s)

    def _work_of_block(
        self, s: ast.stmt, mask: str | None, *, recomputed: bool = False
    ) -> list[ast.stmt]:
        """Return the statements that count a statement of the whole block, or of a mask."""
        location = tree.const(self.instruments.location(s, f"{ast.unparse(s)};"))
        flags, none = self.instruments.mask_address(mask, tree.const(0)), tree.const(0)
        count, alone = tree.name("_all_threads"), tree.const(int(recomputed))
        return self.instruments.record("work", s, location, none, count, flags, alone)

    def _step(self, s: ast.stmt) -> str:
        """Return the text of a statement in a recording; "" for one that the compiler added."""
        if self.unit.returned in tree.writes(s):
            leaves = isinstance(s, ast.Assign) and getattr(s.value, "value", False)
            return "return" if leaves else ""
        step = facts.of(s).step
        return "run" if step is None else step

    def test(self, test: ast.expr) -> list[ast.stmt]:
        """Return the statements that record a condition uniform in the block (recordings)."""
        if self.unit.instrumented != "values":
            return []
        return self.once(tree.at(ast.Expr(test), test))

    def branch(self, step: region_tree.Branch) -> list[ast.stmt]:
        """Return the statements that record which threads take a branch (profiles)."""
        location = self.instruments.location(step.node, "")
        self.operations[location] = operations.of(self.expressions, tree.heads(step.node)[0])
        taken = self.instruments.mask_address(step.taken, tree.const(0))
        here = self.instruments.mask_address(step.parent, tree.const(0))
        if step.when == "before":
            here, taken = taken, tree.const(checker_state.BEFORE)
        elif step.when == "after":
            here = tree.const(checker_state.BEFORE)
        count = tree.name("_all_threads")
        return self.instruments.record(
            "branch", step.node, tree.const(location), count, taken, here, tree.const(0)
        )

    def row(
        self, thread_loop: region_tree.ThreadLoop, low: ast.expr, high: ast.expr
    ) -> list[ast.stmt]:
        """Return the statements that count what a row of threads computes (profiles only)."""
        if not self.unit.detailed:
            return []
        self.instruments.rewriter.uses_thread = True
        new: list[ast.stmt] = []
        for s in thread_loop.body:
            if getattr(s, "lineno", 0) and not self._is_added(s):
                self._keep(s, operations.of(self.expressions, s))
                new += self._work_of_row(s, thread_loop.mask, low, high)
        return new

    def recomputed(
        self, row: region_tree.RowCount, low: ast.expr, high: ast.expr
    ) -> list[ast.stmt]:
        """Return the statements that count the operations of a row for a statement that is gone."""
        found = operations.of(self.expressions, row.statement)
        if not found or self._is_added(row.statement):
            return []
        self.instruments.rewriter.uses_thread = True
        self._keep(row.statement, found)
        return self._work_of_row(row.statement, row.mask, low, high, recomputed=True)

    def _work_of_row(
        self,
        s: ast.stmt,
        mask: str | None,
        low: ast.expr,
        high: ast.expr,
        *,
        recomputed: bool = False,
    ) -> list[ast.stmt]:
        location = tree.const(self.instruments.location(s, f"{ast.unparse(s)};"))
        thread = tree.expr("row_start + low - first_thread", low=low)
        count = tree.expr("high - low", high=high, low=low)
        flags = self.instruments.mask_address(mask, tree.expr("row_start + low", low=low))
        return self.instruments.record(
            "work", None, location, thread, count, flags, tree.const(int(recomputed))
        )
