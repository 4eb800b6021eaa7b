"""Emit the plan of a kernel as a Python function of loops."""

from __future__ import annotations

import ast

from gpukit.compiler import kinds, refuse, tree
from gpukit.compiler.emit import entry
from gpukit.compiler.emit.instruments import Instruments
from gpukit.compiler.emit.kernel import Kernel
from gpukit.compiler.emit.kernel_memory import Memory
from gpukit.compiler.emit.threads import ThreadLoops
from gpukit.compiler.emit.work import Work
from gpukit.compiler.lowering import region_tree


class Emitter:
    """Writes one kernel: `function()`."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.memory = Memory(kernel)
        self.instruments = Instruments(kernel, self.memory)
        self.work = Work(self.instruments)
        self.threads = ThreadLoops(kernel, self.memory, self.instruments, self.work)
        self.unit, self.schedule, self.options = kernel.unit, kernel.schedule, kernel.options
        self.rewriter, self.ranges = kernel.rewriter, kernel.ranges

    def function(self) -> ast.FunctionDef:
        """Return the function of loops."""
        body = self._begin()
        body += self.instruments.record_segments()
        body += self._groups() if self.memory.coarsened > 1 else self._blocks()
        made = tree.function(self.unit.tree.name, entry.parameters(self.kernel), body)
        return ast.fix_missing_locations(tree.at(made, self.unit.tree))  # type: ignore[no-any-return]

    def _begin(self) -> list[ast.stmt]:
        if self.options.readable:
            threads = "threads = blockDim_x * blockDim_y * blockDim_z\nfirst_thread = 0"
            arrays = [tree.clone(s) for s in self.unit.tree.body if kinds.makes_array(s)]
            return [*entry.flat_axes(self.kernel), *tree.stmts(threads), *arrays]
        return [*entry.prologue(self.kernel), *self.memory.lay_out()]

    def _blocks(self) -> list[ast.stmt]:
        """Return the loop over blocks; in lockstep, each loop over threads covers all blocks."""
        inner = self._begin_block() + self.steps(self.schedule.steps)
        if self.schedule.whole_grid:
            return inner
        over = tree.expr("range(_first, _last)")
        before = [] if self.options.readable else entry.before_first_block()
        return [*before, ast.For(tree.store("_block"), over, inner or [ast.Pass()], [])]

    def _groups(self) -> list[ast.stmt]:
        """Return the loop over groups of neighbouring blocks that start coarsened.

        A group ends with its row of blocks. Until its blocks continue separately, threadIdx_x
        counts the threads of all of them, and blockIdx_x is that of the first.
        """
        width = self.options.block[0]  # type: ignore[index]
        least = self.rewriter.helper("bounds", "least").id
        ahead = f"{least}(_last - _block, gridDim_x - blockIdx_x)"
        begin = tree.stmts(
            f"_coarsened = {least}({self.memory.coarsened}, {ahead})\n"
            f"_wide = _coarsened * {width}\nfirst_thread = 0"
        )
        enter = [] if self.options.readable else entry.enter_block(self.kernel)
        together = [*entry.block_index("_block"), *begin, *enter, *self._head()]
        alone = [
            *tree.stmts(f"first_thread = _neighbour * {width}"),
            *self.memory.alone,
            *tree.clone(enter),
            *([] if self.options.readable else self.memory.poison()),
            *self.steps(self.schedule.steps[self.schedule.coarsened :]),
            *tree.stmts("blockIdx_x = blockIdx_x + 1"),
        ]
        each = ast.For(tree.store("_neighbour"), tree.expr("range(_coarsened)"), alone, [])
        group = [*together, each, *tree.stmts("_block = _block + _coarsened")]
        return [*tree.stmts("_block = _first"), ast.While(tree.expr("_block < _last"), group, [])]

    def _head(self) -> list[ast.stmt]:
        """Return the first steps for a group of blocks."""
        with self.ranges.wide(self.memory.coarsened):
            self.kernel.width = tree.name("_wide")
            made = self.steps(self.schedule.steps[: self.schedule.coarsened])
            self.kernel.width = tree.name("blockDim_x")
        return made

    def _begin_block(self) -> list[ast.stmt]:
        """Compute the block's indices, poison shared memory and set the parameters."""
        new: list[ast.stmt] = []
        if not self.schedule.whole_grid:
            if self.options.readable:
                new += entry.block_index("_block")
            else:
                new += self.instruments.record_block()
                new += [*entry.next_block(self.kernel), *self.memory.poison()]
        written = entry.written_parameters(self.kernel)
        kept = [name for name in written if name in self.schedule.live_across]
        given = {n: entry.given(self.kernel, n) for n in written}
        new += [tree.assign(n, tree.name(given[n])) for n in written if n not in kept]
        if kept:
            arrays = {name: self.kernel.kept(name) for name in kept}
            puts = [tree.stmts(f"{a}[thread] = {given[n]}")[0] for n, a in arrays.items()]
            self.rewriter.thread_arrays |= set(arrays.values())
            new += self.threads.of_block([region_tree.ThreadLoop(puts, self.schedule.forms)])
        return new

    def steps(self, steps: list[region_tree.Step]) -> list[ast.stmt]:
        """Return the statements for a list of steps."""
        return [s for step in steps for s in getattr(self, f"_{type(step).__name__}")(step)]

    def _ParallelRegion(self, step: region_tree.ParallelRegion) -> list[ast.stmt]:
        return self.threads.of_block(step.rows)

    def _test(self, test: ast.expr) -> ast.expr:
        """Rewrite a condition or range that is uniform in the block."""
        with self.rewriter.for_block():
            return self.rewriter.expression(test)

    def _Once(self, step: region_tree.Once) -> list[ast.stmt]:
        s = step.statement
        with self.rewriter.for_block():
            made = self.rewriter.statements([s])
        self.ranges.learn(s)
        return [*self.work.once(s), *made, *self.instruments.values_of_block(s)]

    def _BlockIf(self, step: region_tree.BlockIf) -> list[ast.stmt]:
        with self.ranges.branch(_written(step.body + step.orelse)):
            body = self.steps(step.body) or [ast.Pass()]
        with self.ranges.branch(_written(step.body + step.orelse)):
            orelse = self.steps(step.orelse)
        recorded = self.work.test(step.test)
        return [*recorded, ast.If(self._test(step.test), body, orelse)]

    def _polled(self, body: list[ast.stmt]) -> list[ast.stmt]:
        if self.options.readable:
            return body or [ast.Pass()]
        return [entry.poll(self.kernel), *body]

    def _BlockFor(self, step: region_tree.BlockFor) -> list[ast.stmt]:
        over = self._test(step.loop.iter)
        self.ranges.forget(_written(step.body))
        target = getattr(step.loop.target, "id", "")
        with self.ranges.loop(target, step.loop.iter):
            body = self._polled(self.steps(step.body))
        self.ranges.forget(_written(step.body))
        if self.unit.detailed:
            body = [*self.work.round(step), *body]
        before = self.work.range(step)
        if target not in self.schedule.live_across:
            return [*before, ast.For(tree.clone(step.loop.target), over, body, [])]
        # Each thread keeps its own variable of this name: store the loop's value in all of them.
        round_ = self.unit.named("_step_{}", target)
        keep = tree.stmts(f"{self.kernel.kept(target)}[thread] = {round_}")
        body = [
            *tree.stmts(f"{target} = {round_}"),
            *self.threads.of_block([region_tree.ThreadLoop(keep, self.schedule.forms, step.mask)]),
            *body,
        ]
        return [*before, ast.For(tree.store(round_), over, body, [])]

    def _BlockWhile(self, step: region_tree.BlockWhile) -> list[ast.stmt]:
        self.ranges.forget(_written(step.body))
        body = self._polled(self.steps(step.body))
        self.ranges.forget(_written(step.body))
        if self.unit.detailed:
            node = tree.at(ast.While(step.test, [], []), step.test)
            recorded = self.work.branch(region_tree.Branch(node, None, None))
            return [ast.While(self._test(step.test), [*recorded, *body], []), *tree.clone(recorded)]
        begin, rounds = self._waiting(step.loop)
        return [*begin, ast.While(self._test(step.test), [*rounds, *body], [])]

    def _waiting(self, loop: ast.While) -> tuple[list[ast.stmt], list[ast.stmt]]:
        with self.rewriter.for_block():
            return self.rewriter.waiting(loop)

    def _any(self, mask: str) -> ast.expr:
        if self.options.readable:
            return tree.expr(f"{mask}.any()")
        helper = self.rewriter.helper("control", "any_thread")
        return tree.call(helper, tree.name(mask), tree.name("_all_threads"))

    def _AnyThread(self, step: region_tree.AnyThread) -> list[ast.stmt]:
        with self.ranges.branch(_written(step.body)):
            body = self.steps(step.body) or [ast.Pass()]
        return [ast.If(self._any(step.mask), body, [])]

    def _UntilNone(self, step: region_tree.UntilNone) -> list[ast.stmt]:
        self.ranges.forget(_written(step.head + step.body))
        leave = ast.If(ast.UnaryOp(ast.Not(), self._any(step.mask)), [ast.Break()], [])
        body = [*self.steps(step.head), leave, *self.steps(step.body)]
        self.ranges.forget(_written(step.head + step.body))
        begin, rounds = self._waiting(step.loop)
        return [*begin, ast.While(tree.const(True), [*rounds, *self._polled(body)], [])]

    def _Barrier(self, step: region_tree.Barrier) -> list[ast.stmt]:
        if self.options.readable:
            return [ast.Expr(tree.expr(f"barrier({step.mask})"))]
        recorded = self.instruments.record_barrier(step.call)
        if step.mask is None:
            return recorded
        returned = self.instruments.record_returned(step.call)
        return [self._check_barrier(step), *returned, *recorded]

    def _WarpBarrier(self, step: region_tree.WarpBarrier) -> list[ast.stmt]:
        return self.instruments.record_warps(step)

    def _GridBarrier(self, step: region_tree.GridBarrier) -> list[ast.stmt]:
        if self.options.readable:
            return [ast.Expr(tree.expr(f"grid_barrier({step.mask})"))]
        recorded = [
            *self.instruments.record_returned(step.call, "grid_return"),
            *self.instruments.record_barrier(step.call, "grid_barrier"),
        ]
        if step.mask is None:
            return recorded
        return [self._check_barrier(step, everywhere=True), *recorded]

    def _Branch(self, step: region_tree.Branch) -> list[ast.stmt]:
        return self.work.branch(step)

    def _check_barrier(
        self, step: region_tree.Barrier | region_tree.GridBarrier, *, everywhere: bool = False
    ) -> ast.stmt:
        """Return the statement that stops the kernel where not all threads reach a barrier."""
        with self.rewriter.for_block():
            what = refuse.written(step.call, self.rewriter.unit)
            origin = self.rewriter.origin(step.call, "", what)
        returned = self.unit.returned in self.schedule.live_across
        name = "barrier_with_returned" if returned else "barrier"
        arguments: list[ast.expr] = [origin, tree.name(step.mask or "")]
        if returned:
            arguments.append(tree.name(self.rewriter.returned))
        arguments += [tree.name("threads"), tree.name("_all_threads")]
        if everywhere:
            name = f"grid_{name}"
            arguments += [tree.name("gridDim_x"), tree.name("gridDim_y")]
        return ast.Expr(tree.call(self.rewriter.helper("control", name), *arguments))

    def _Count(self, step: region_tree.Count) -> list[ast.stmt]:
        if self.options.readable:
            return tree.stmts(f"{step.target} = {step.kind}({step.values})")
        self.ranges.forget({step.target})
        name = step.kind + ("" if step.mask is None else "_masked")
        arguments = [tree.name(step.values)]
        arguments += [] if step.mask is None else [tree.name(step.mask)]
        helper = self.rewriter.helper("control", name)
        return [tree.assign(step.target, tree.call(helper, *arguments, tree.name("_all_threads")))]


def _written(steps: list[region_tree.Step]) -> set[str]:
    """Return the variables that steps set once per block."""
    names: set[str] = set()
    for step in steps:
        if isinstance(step, region_tree.Once):
            names |= tree.writes(step.statement)
        elif isinstance(step, region_tree.BlockFor):
            names |= tree.writes(step.loop.target)
        elif isinstance(step, region_tree.Count):
            names.add(step.target)
        if not isinstance(step, region_tree.ParallelRegion):
            for name in ("head", "body", "orelse"):
                names |= _written(getattr(step, name, []))
    return names
