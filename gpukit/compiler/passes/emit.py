"""Write the plan of a kernel as a Python function of loops, ready for numba.njit.

`frame` writes what stands before the loops, `nests` the loops over the threads of a block,
`leaves` the innermost of them; here the steps of a block are put together.
"""

from __future__ import annotations

import ast

from gpukit.compiler import plan, tree, watch
from gpukit.compiler.passes import jumps
from gpukit.compiler.passes.frame import Options
from gpukit.compiler.passes.nests import Nests

__all__ = ["Emitter", "Options"]
_MOST_ROUNDS = 12  # rounds of a loop that are written out; enough for 1024 threads


class Emitter(Nests):
    """Writes one kernel: `function()`."""

    def function(self) -> ast.FunctionDef:
        """Return the function of loops."""
        body: list[ast.stmt] = []
        if not self.options.readable:
            body += self._prologue()
            body += self.given()
        body += self._arrays()
        body += self._tell_regions()
        body += self._groups() if self.abreast > 1 else self._blocks()
        made = tree.function(self.unit.tree.name, self._parameters(), body)
        return ast.fix_missing_locations(tree.at(made, self.unit.tree))  # type: ignore[no-any-return]

    def _blocks(self) -> list[ast.stmt]:
        """Return the loop over blocks; in step, all blocks run in each loop over threads."""
        inner = self._begin_block() + self.steps(self.plan.steps)
        if self.plan.whole_grid:
            return inner
        over = tree.expr("range(_first, _last)")
        before = [] if self.options.readable else self._before_first_block()
        return [*before, ast.For(tree.store("_block"), over, inner or [ast.Pass()], [])]

    def _groups(self) -> list[ast.stmt]:
        """Return the loop over groups of neighbouring blocks that begin abreast.

        A group ends with its row of blocks. Until its blocks go on alone, threadIdx_x counts the
        threads of all of them, and blockIdx_x is that of the first.
        """
        width = self.options.block[0]  # type: ignore[index]
        least = self.rewriter.helper("bounds", "least").id
        ahead = f"{least}(_last - _block, gridDim_x - blockIdx_x)"
        begin = tree.stmts(
            f"_abreast = {least}({self.abreast}, {ahead})\n"
            f"_wide = _abreast * {width}\nfirst_thread = 0"
        )
        together = [*self._block_index("_block"), *begin, *self._enter_block(), *self._head()]
        alone = [
            *tree.stmts(f"first_thread = _neighbour * {width}"),
            *self.alone,
            *self._enter_block(),
            *self._poison(),
            *self.steps(self.plan.steps[self.plan.abreast :]),
            *tree.stmts("blockIdx_x = blockIdx_x + 1"),
        ]
        each = ast.For(tree.store("_neighbour"), tree.expr("range(_abreast)"), alone, [])
        group = [*together, each, *tree.stmts("_block = _block + _abreast")]
        return [*tree.stmts("_block = _first"), ast.While(tree.expr("_block < _last"), group, [])]

    def _head(self) -> list[ast.stmt]:
        """Return the first steps for a group of blocks."""
        with self.ranges.wide(self.abreast):
            self.width = tree.name("_wide")
            made = self.steps(self.plan.steps[: self.plan.abreast])
            self.width = tree.name("blockDim_x")
        return made

    def _begin_block(self) -> list[ast.stmt]:
        """Find the block's indices, give shared memory a poison and parameters their values."""
        new: list[ast.stmt] = []
        if not self.plan.whole_grid:
            if self.options.readable:
                new += self._block_index("_block")
            else:
                new += self._tell_block()
                new += self._per_block()
        written = set(self.arguments) & tree.writes(self.unit.tree)
        for name in sorted(written - self.plan.slots):
            new.append(tree.assign(name, tree.name(f"_given_{name}")))
        if written & self.plan.slots:
            puts = [
                tree.stmts(f"{n}_of[thread] = _given_{n}")[0]
                for n in sorted(written & self.plan.slots)
            ]
            for n in written & self.plan.slots:
                self.rewriter.slots.add(f"{n}_of")
            new += self.loops([plan.Leaf(puts, self.plan.forms)])
        return new

    def steps(self, steps: list[plan.Step]) -> list[ast.stmt]:
        """Return the statements for some steps."""
        return [s for step in steps for s in getattr(self, f"_{type(step).__name__}")(step)]

    def _Loops(self, step: plan.Loops) -> list[ast.stmt]:
        return self.loops(step.rows)

    def _outside(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        self.rewriter.in_thread = False
        made = self.rewriter.statements(statements)
        self.rewriter.in_thread = True
        return made

    def _test(self, test: ast.expr) -> ast.expr:
        """Rewrite a condition or range that the whole block shares."""
        self.rewriter.in_thread = False
        made = self.rewriter.expression(test)
        self.rewriter.in_thread = True
        return made

    def _Once(self, step: plan.Once) -> list[ast.stmt]:
        made = self._outside([step.statement])
        self.ranges.learn(step.statement)
        return [*self._tell_once(step.statement), *made, *self._tell_values(step.statement)]

    def _tell_once(self, s: ast.stmt) -> list[ast.stmt]:
        """Tell a statement that is done once for the whole block."""
        if not self.unit.detailed:
            return []
        site = self.rewriter.site(s, "", f"{ast.unparse(s)};") >> watch.SITE_SHIFT
        self.flops[site] = self.expressions.flops(s)
        nothing = tree.const(0)
        parts = [tree.const(site), nothing, tree.name("_all_threads"), nothing, nothing]
        return self._tell("work", s, *parts)

    def _tell_values(self, s: ast.stmt) -> list[ast.stmt]:
        if self.options.watched != "values":
            return []
        return self._values(tree.writes(s), tree.const(watch.EVERYONE))

    def _BlockIf(self, step: plan.BlockIf) -> list[ast.stmt]:
        with self.ranges.branch(_written(step.body + step.orelse)):
            body = self.steps(step.body) or [ast.Pass()]
        with self.ranges.branch(_written(step.body + step.orelse)):
            orelse = self.steps(step.orelse)
        told = []
        if self.options.watched == "values":
            told = self._tell_once(tree.at(ast.Expr(step.test), step.test))
        return [*told, ast.If(self._test(step.test), body, orelse)]

    def _polled(self, body: list[ast.stmt]) -> list[ast.stmt]:
        if self.options.readable:
            return body or [ast.Pass()]
        poll = self.rewriter.helper("control", "poll")
        return [ast.Expr(tree.call(poll, tree.name("_context"))), *body]

    def _BlockFor(self, step: plan.BlockFor) -> list[ast.stmt]:
        over = self._test(step.loop.iter)
        self.ranges.forget(_written(step.body))
        target = getattr(step.loop.target, "id", "")
        with self.ranges.loop(target, step.loop.iter):
            body = self._polled(self.steps(step.body))
        self.ranges.forget(_written(step.body))
        if self.unit.detailed:
            head = tree.assign(target, step.loop.iter, step.loop)  # only for its text and values
            body = [*self._tell_once(head), *self._tell_values(head), *body]
        if target not in self.plan.slots:
            return [ast.For(tree.clone(step.loop.target), over, body, [])]
        # The threads keep a variable of this name; let each have the loop's value.
        keep = tree.stmts(f"{target}_of[thread] = _step_{target}")
        body = [
            *tree.stmts(f"{target} = _step_{target}"),
            *self.loops([plan.Leaf(keep, self.plan.forms, step.mask)]),
            *body,
        ]
        return [ast.For(tree.store(f"_step_{target}"), over, body, [])]

    def _BlockWhile(self, step: plan.BlockWhile) -> list[ast.stmt]:
        written_out = not self.options.readable and not self.unit.detailed
        if written_out and self._rounds(step) is not None:
            return [s for _ in range(self._rounds(step) or 0) for s in self.steps(step.body)]
        self.ranges.forget(_written(step.body))
        body = self._polled(self.steps(step.body))
        self.ranges.forget(_written(step.body))
        if self.unit.detailed:
            node = tree.at(ast.While(step.test, [], []), step.test)
            told = self._Branch(plan.Branch(node, None, None))
            return [ast.While(self._test(step.test), [*told, *body], []), *tree.clone(told)]
        begin, rounds = self._waiting(step.loop)
        return [*begin, ast.While(self._test(step.test), [*rounds, *body], [])]

    def _waiting(self, loop: ast.While) -> tuple[list[ast.stmt], list[ast.stmt]]:
        self.rewriter.in_thread = False
        made = self.rewriter.waiting(loop)
        self.rewriter.in_thread = True
        return made

    def _rounds(self, step: plan.BlockWhile) -> int | None:
        """Return how often a loop such as `while half > 0: ...; half //= 2` runs, if it is known.

        Written out, each level of a tree is a loop over a known number of threads.
        """
        sets = [s for s in step.body if isinstance(s, plan.Once)]
        inner = [s for s in step.body if not isinstance(s, (plan.Once, plan.Loops))]
        if inner:
            return None
        known = self.ranges.copy()
        for rounds in range(_MOST_ROUNDS + 1):
            test = known.decide(step.test)
            if test is None:
                return None
            if not test:
                return rounds
            for s in sets:
                known.learn(s.statement)
        return None

    def _any(self, mask: str) -> ast.expr:
        if self.options.readable:
            return tree.expr(f"{mask}.any()")
        helper = self.rewriter.helper("control", "any_thread")
        return tree.call(helper, tree.name(mask), tree.name("_all_threads"))

    def _AnyThread(self, step: plan.AnyThread) -> list[ast.stmt]:
        with self.ranges.branch(_written(step.body)):
            body = self.steps(step.body) or [ast.Pass()]
        return [ast.If(self._any(step.mask), body, [])]

    def _UntilNone(self, step: plan.UntilNone) -> list[ast.stmt]:
        self.ranges.forget(_written(step.head + step.body))
        leave = ast.If(ast.UnaryOp(ast.Not(), self._any(step.mask)), [ast.Break()], [])
        body = [*self.steps(step.head), leave, *self.steps(step.body)]
        self.ranges.forget(_written(step.head + step.body))
        begin, rounds = self._waiting(step.loop)
        return [*begin, ast.While(tree.const(True), [*rounds, *self._polled(body)], [])]

    def _Barrier(self, step: plan.Barrier) -> list[ast.stmt]:
        if self.options.readable:
            return [ast.Expr(tree.expr(f"barrier({step.mask})"))]
        told = self._tell_barrier(step.call)
        if step.mask is None:
            return told
        return [self._check_barrier(step), *self._tell_returned(step.call), *told]

    def _tell_barrier(self, call: ast.Call, name: str = "barrier") -> list[ast.stmt]:
        if not self.options.watched:
            return []
        site = self.rewriter.site(call, "", ast.unparse(call)) >> watch.SITE_SHIFT
        return self._tell(name, call, tree.const(site))

    def _tell_returned(self, call: ast.Call) -> list[ast.stmt]:
        """Tell who has returned before a barrier."""
        if not (self.rewriter.returned and self.options.watched) or self.plan.whole_grid:
            return []
        site = self.rewriter.site(call, "", ast.unparse(call)) >> watch.SITE_SHIFT
        gone = self._mask_address(self.rewriter.returned, tree.const(0))
        return self._tell("after_return", call, tree.const(site), tree.name("threads"), gone)

    def _tell(self, name: str, call: ast.AST, *arguments: ast.expr) -> list[ast.stmt]:
        """Return the statement that tells the watch of something the whole block does."""
        if not self.options.watched:
            return []
        given = ast.Tuple(list(arguments), ast.Load())
        made = tree.call(self.rewriter.helper("hooks", name), tree.name("_context"), given)
        return [tree.at(ast.Expr(made), call)]

    def _WarpBarrier(self, step: plan.WarpBarrier) -> list[ast.stmt]:
        active = self._mask_address(step.mask, tree.const(0))
        site = self.rewriter.site(step.call, "", ast.unparse(step.call)) >> watch.SITE_SHIFT
        parts = [tree.const(site), tree.name("_all_threads"), active]
        return self._tell("meet_warps", step.call, *parts)

    def _GridBarrier(self, step: plan.GridBarrier) -> list[ast.stmt]:
        told = [*self._tell_grid_return(step.call), *self._tell_barrier(step.call, "grid_barrier")]
        return told if step.mask is None else [self._check_barrier(step, everywhere=True), *told]

    def _tell_grid_return(self, call: ast.Call) -> list[ast.stmt]:
        if not self.rewriter.returned:
            return []
        site = self.rewriter.site(call, "", ast.unparse(call)) >> watch.SITE_SHIFT
        gone = self._mask_address(self.rewriter.returned, tree.const(0))
        count = tree.name("_all_threads")
        return self._tell("grid_return", call, tree.const(site), count, gone)

    def _Branch(self, step: plan.Branch) -> list[ast.stmt]:
        site = self.rewriter.site(step.node, "", "") >> watch.SITE_SHIFT
        self.flops[site] = self.expressions.flops(tree.heads(step.node)[0])
        taken = self._mask_address(step.taken, tree.const(0))
        here = self._mask_address(step.parent, tree.const(0))
        if step.when == "before":
            here, taken = taken, tree.const(watch.BEFORE)
        elif step.when == "after":
            here = tree.const(watch.BEFORE)
        count = tree.name("_all_threads")
        return self._tell("branch", step.node, tree.const(site), count, taken, here, tree.const(0))

    def _check_barrier(
        self, step: plan.Barrier | plan.GridBarrier, *, everywhere: bool = False
    ) -> ast.stmt:
        """Return the statement that stops the kernel where not all threads reach a barrier."""
        self.rewriter.in_thread = False
        place = self.rewriter.place(step.call, "", ast.unparse(step.call))
        self.rewriter.in_thread = True
        returned = jumps.RETURNED in self.plan.slots
        name = "barrier_with_returned" if returned else "barrier"
        arguments: list[ast.expr] = [place, tree.name(step.mask or "")]
        if returned:
            arguments.append(tree.name(f"{jumps.RETURNED}_of"))
        arguments += [tree.name("threads"), tree.name("_all_threads")]
        if everywhere:
            name = f"grid_{name}"
            arguments += [tree.name("gridDim_x"), tree.name("gridDim_y")]
        return ast.Expr(tree.call(self.rewriter.helper("control", name), *arguments))

    def _Count(self, step: plan.Count) -> list[ast.stmt]:
        if self.options.readable:
            return tree.stmts(f"{step.target} = {step.kind}({step.values})")
        self.ranges.forget({step.target or ""})
        name = step.kind + ("" if step.mask is None else "_masked")
        arguments = [tree.name(step.values)]
        arguments += [] if step.mask is None else [tree.name(step.mask)]
        helper = self.rewriter.helper("control", name)
        return [
            tree.assign(
                step.target or "_", tree.call(helper, *arguments, tree.name("_all_threads"))
            )
        ]


def _written(steps: list[plan.Step]) -> set[str]:
    """Return the variables that steps set once for the block."""
    names: set[str] = set()
    for step in steps:
        if isinstance(step, plan.Once):
            names |= tree.writes(step.statement)
        elif isinstance(step, plan.BlockFor):
            names |= tree.writes(step.loop.target)
        elif isinstance(step, plan.Count) and step.target:
            names.add(step.target)
        if not isinstance(step, plan.Loops):
            for name in ("head", "body", "orelse"):
                names |= _written(getattr(step, name, []))
    return names
