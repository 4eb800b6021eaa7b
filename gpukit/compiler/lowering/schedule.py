"""Split a kernel at its synchronisation points and plan the loops over threads between them.

Control flow that is uniform in a block stays as it is. Control flow that varies and contains a
synchronisation point runs under a mask: one flag per thread, True where the thread takes part.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from gpukit.compiler import facts, kinds, tree
from gpukit.compiler.analysis import liveness, rematerialise
from gpukit.compiler.analysis.affine import Forms
from gpukit.compiler.analysis.uniformity import Uniformity
from gpukit.compiler.frontend import jumps
from gpukit.compiler.lowering import region_tree, rows
from gpukit.compiler.unit import Unit

BRANCH = "branch"


class Schedule:
    """The plan of a kernel, and the variables each thread keeps from one loop to the next.

    `live_across` holds their names; `masks` and `values` are created by the plan itself. The first
    `coarsened` steps run for neighbouring blocks as one.
    """

    def __init__(self, unit: Unit, *, whole_grid: bool = False) -> None:
        self.unit = unit
        self.whole_grid = whole_grid
        self.masks: list[str] = []
        self.values: dict[str, region_tree.Published] = {}
        self.forced: set[str] = set()
        self._plan_whole(unit.coarsened)
        if self.coarsened and not self._may_coarsen():
            self._plan_whole(0)
        self.live_across = self._find_live_across()

    def _plan_whole(self, coarsened: int) -> None:
        """Plan all statements, the first `coarsened` of them as steps of their own."""
        while True:
            self._plan(coarsened)
            torn = self._written_in_thread_loops() & self._once_names() - self.forced
            if not torn:
                break
            self.forced |= torn

    def _plan(self, coarsened: int) -> None:
        self.masks, self.values = [], {}
        self.uniformity = Uniformity(self.unit, whole_grid=self.whole_grid, varying=self.forced)
        varying = self.uniformity.varying
        # A recording shows each statement where it is in the source.
        kept = self.unit.instrumented == "values"
        rematerialised = {} if kept else rematerialise.run(self.unit, self.uniformity)
        self.rematerialised = {n: e for n, e in rematerialised.items() if n in varying}
        fixed = {n for n in self._all_names() if n not in varying}
        self.forms = Forms(self.rematerialised, self.unit.types, fixed)
        self.planner = rows.RowPlanner(self.unit, self.uniformity.locals, self._mask)
        body = self.unit.tree.body
        head = self._steps(body[:coarsened], None)
        self.coarsened = len(head)
        self.steps = [*head, *self._steps(body[coarsened:], None)]

    def _all_names(self) -> set[str]:
        return self._own_names() | set(self.unit.globals) | set(self.unit.captured)

    # ---- from statements to steps ---------------------------------------------------------

    def _steps(self, body: list[ast.stmt], mask: str | None) -> list[region_tree.Step]:
        steps: list[region_tree.Step] = []
        pending: list[ast.stmt] = []

        def flush() -> None:
            if pending:
                found = self.planner.rows(list(pending), self.forms, mask)
                if found:
                    steps.append(region_tree.ParallelRegion(found))
                pending.clear()

        for s in body:
            if kinds.is_in_step(s):
                flush()
            elif kinds.synchronises(s):
                flush()
                steps += self._synchronising(s, mask)
            elif mask is None and self._is_once(s):
                if _must_wait(s, pending):
                    flush()
                steps.append(region_tree.Once(s))
            elif not kinds.makes_array(s):
                pending.append(s)
        flush()
        return steps

    def _is_once(self, s: ast.stmt) -> bool:
        """Tell whether a statement only sets variables that are uniform in the block."""
        if isinstance(s, (ast.Assign, ast.AugAssign)):
            targets = s.targets if isinstance(s, ast.Assign) else [s.target]
            names = [n for t in targets for n in ast.walk(t) if isinstance(n, ast.expr)]
            plain = all(isinstance(n, (ast.Name, ast.Tuple)) for n in names)
            uniform = not (tree.writes(s) & self.uniformity.varying)
            return plain and uniform and not kinds.makes_array(s)
        if isinstance(s, (ast.If, ast.For, ast.While)):
            if any(self.uniformity.varies(h) for h in tree.heads(s)):
                return False
            if isinstance(s, ast.For) and tree.writes(s.target) & self.uniformity.varying:
                return False
            return all(self._is_once(inner) for b in tree.blocks(s) for inner in b)
        return isinstance(s, (ast.Break, ast.Continue))

    def _synchronising(self, s: ast.stmt, mask: str | None) -> list[region_tree.Step]:
        if isinstance(s, ast.If):
            return self._if(s, mask)
        if isinstance(s, ast.For):
            return [region_tree.BlockFor(s, self._steps(s.body, mask), mask)]
        if isinstance(s, ast.While):
            if mask is None and not self.uniformity.varies(s.test):
                return [region_tree.BlockWhile(s.test, self._steps(s.body, mask), s)]
            return self._masked_while(s, mask)
        return self._sync_point(s, mask)

    def _if(self, s: ast.If, mask: str | None) -> list[region_tree.Step]:
        if not self.uniformity.varies(s.test) and (mask is None or self.forms.is_fixed(s.test)):
            body, orelse = self._steps(s.body, mask), self._steps(s.orelse, mask)
            return [*self._branch(s, None, mask), region_tree.BlockIf(s.test, body, orelse)]
        then = self._mask("in_if")
        steps: list[region_tree.Step] = [self._set_mask(then, s.test, mask, s, BRANCH)]
        steps += self._branch(s, then, mask)
        other = self._mask("in_else") if s.orelse else None
        if other:
            opposite = tree.expr("not m", m=flag_of(then))
            steps.append(self._set_mask(other, opposite, mask, s))
        steps.append(region_tree.AnyThread(then, self._steps(s.body, then)))
        if other:
            steps.append(region_tree.AnyThread(other, self._steps(s.orelse, other)))
        return steps

    def _masked_while(self, s: ast.While, mask: str | None) -> list[region_tree.Step]:
        inside = self._mask("in_while")
        first = self._set_mask(inside, tree.const(True), mask, s)
        gone, test = jumps.left(self.unit, s.test) if self.unit.detailed else (None, s.test)
        heads = [self._set_mask(inside, gone, inside, s, BRANCH)] if gone is not None else []
        heads += self._branch(s, inside, None, "before")
        heads.append(self._set_mask(inside, test, inside, s, BRANCH))
        heads += self._branch(s, inside, None, "after")
        return [first, region_tree.UntilNone(inside, heads, self._steps(s.body, inside), s)]

    def _branch(
        self, s: ast.stmt, taken: str | None, mask: str | None, when: str = ""
    ) -> list[region_tree.Step]:
        written = not any(jumps.is_flag(self.unit, h) for h in tree.heads(s))
        return [region_tree.Branch(s, taken, mask, when)] if self.unit.detailed and written else []

    def _mask(self, base: str) -> str:
        name = self.unit.fresh(base)
        self.masks.append(name)
        return name

    def _set_mask(
        self, mask: str, test: ast.expr, parent: str | None, like: ast.stmt, step: str = ""
    ) -> region_tree.Step:
        """Return loops that set `mask` to `test` for the threads in `parent`, else to False.

        `step` is their text in a recording.
        """
        body = [rows.flag(mask, test, like, step)]
        if parent is not None:
            clear = [] if parent == mask else [rows.flag(mask, tree.const(False), like)]
            body = [tree.at(ast.If(flag_of(parent), body, clear), like)]
            facts.note(body[0], added=True, step=step)
        return self._for_threads(body, None)

    def _for_threads(self, body: list[ast.stmt], mask: str | None) -> region_tree.ParallelRegion:
        """Return the loop over the threads in a mask that runs these statements."""
        return region_tree.ParallelRegion([region_tree.ThreadLoop(body, self.forms, mask)])

    # ---- sync points ----------------------------------------------------------------------

    def _sync_point(self, s: ast.stmt, mask: str | None) -> list[region_tree.Step]:
        call: ast.Call = s.value  # type: ignore[attr-defined]
        target = s.targets[0].id if isinstance(s, ast.Assign) else None  # type: ignore[attr-defined]
        name = tree.called(call) or ""
        seen = mask is not None or bool(self.unit.instrumented)  # else the loop's end synchronises
        if name == kinds.GRID_SYNC:
            if not self.whole_grid:
                raise NeedsWholeGrid
            call = ast.copy_location(tree.clone(call), s)
            return [region_tree.GridBarrier(call, mask)] if seen else []
        if name == "syncthreads":
            return [region_tree.Barrier(call, mask)] if seen else []
        if name == "syncwarp":
            checked = self._check_mask(call, call.args[0] if call.args else None, mask, s)
            return [*checked, region_tree.WarpBarrier(call, mask)] if self.unit.instrumented else []
        if name == kinds.LOCKSTEP:
            return []
        if name in kinds.BARRIERS:
            return self._count(name, call, target, mask)
        return self._warp(name, call, target, mask, s)

    def _publish(
        self,
        base: str,
        value: ast.expr,
        kind: region_tree.Published,
        mask: str | None,
        like: ast.AST,
    ) -> tuple[str, region_tree.Step]:
        """Return loops in which every thread stores `value` where the others can read it."""
        name = self.unit.fresh(base)
        self.values[name] = kind
        target = ast.Subscript(tree.name(name), tree.name("thread"), ast.Store())
        put = tree.at(ast.Assign([target], value), like)
        return name, self._for_threads([put], mask)

    def _count(
        self, name: str, call: ast.Call, target: str | None, mask: str | None
    ) -> list[region_tree.Step]:
        test = tree.expr("bool(v)", v=call.args[0])
        values, step = self._publish(
            "counted", test, region_tree.Published(boolean=True), mask, call
        )
        steps = [step]
        if mask is not None or self.unit.instrumented:
            steps.append(region_tree.Barrier(call, mask))
        if target is None:
            return steps
        if not self.whole_grid and mask is None and target not in self.uniformity.varying:
            return [*steps, region_tree.Count(target, name, values, mask)]
        total = self.unit.fresh("count")
        self.unit.types[total] = self.unit.types.get(target)
        steps.append(region_tree.Count(total, name, values, mask))
        take = tree.assign(target, tree.name(total), call)
        loop = region_tree.ThreadLoop([take], self.forms.with_fixed({total}), mask)
        return [*steps, region_tree.ParallelRegion([loop])]

    def _warp(
        self, name: str, call: ast.Call, target: str | None, mask: str | None, s: ast.stmt
    ) -> list[region_tree.Step]:
        """Plan a shuffle, vote or match: every thread publishes a value, then all read."""
        arguments = dict(enumerate(call.args)) | {k.arg: k.value for k in call.keywords}
        if name == "activemask":
            read = tree.call("cuda.warp.activemask", _active(mask))
            steps: list[region_tree.Step] = []
        elif name in kinds.SHUFFLES:
            at = 2 if name == "shfl_sync_intrinsic" else 1
            value = arguments[at] if at in arguments else arguments["value"]
            kind = region_tree.Published(target or "", first=name == "shfl_sync_intrinsic")
            published, step = self._publish("published", value, kind, mask, s)
            steps = [step]
            others = [a for k, a in enumerate(call.args) if k != at]
            read = tree.call(f"cuda.warp.{name}", tree.name(published), _active(mask), *others)
        else:
            value = arguments.get(1, arguments.get(2, tree.const(True)))
            if name == "vote_sync_intrinsic":
                value = arguments[2]
            kind = region_tree.Published(
                getattr(value, "id", ""), boolean=name not in kinds.MATCHES
            )
            value_ = tree.expr("bool(v)", v=value) if kind.boolean else value
            published, step = self._publish("published", value_, kind, mask, s)
            others = [a for a in call.args if a is not value]
            read = tree.call(f"cuda.warp.{name}", tree.name(published), _active(mask), *others)
            steps = [step]
        if name != "activemask":
            given = call.args[0] if call.args else arguments.get("mask")
            steps += self._check_mask(call, given, mask, s)
        if target is None:
            return steps
        take = tree.assign(target, read, s)
        return [*steps, self._for_threads([take], mask)]

    def _check_mask(
        self, call: ast.Call, given: ast.expr | None, mask: str | None, s: ast.stmt
    ) -> list[region_tree.Step]:
        """Plan the check of the mask that threads pass to a warp operation, if instrumented."""
        if not self.unit.instrumented:
            return []
        given = tree.const(0xFFFFFFFF) if given is None else given
        checks = [tree.call("cuda.warp.check_mask", _active(mask), given)]
        name = tree.called(call) or ""
        if name in kinds.SHUFFLES:
            at = 2 if name == "shfl_sync_intrinsic" else 1
            others = [a for k, a in enumerate(call.args) if k not in (0, at)]
            named = "cuda.warp.check_source"
            checks.append(tree.call(named, _active(mask), given, tree.const(name), *others))
        body: list[ast.stmt] = []
        for check in checks:
            facts.note(check, checked=call)
            body.append(tree.at(ast.Expr(check), s))
        return [self._for_threads(body, mask)]

    def _may_coarsen(self) -> bool:
        """Tell whether each block can continue separately after the first steps.

        Masks and counts, which are read for a whole block, are read from thread 0 on; and a
        variable that one block sets for all its threads must not be changed for the next block.
        """
        if self.whole_grid or self.masks:
            return False
        steps = _all_steps(self.steps)
        heads = _all_steps(self.steps[: self.coarsened])
        once = {
            n for s in heads if isinstance(s, region_tree.Once) for n in tree.writes(s.statement)
        }
        later = tree.writes(self.unit.tree.body[self.unit.coarsened :])
        return not any(isinstance(s, region_tree.Count) for s in steps) and not once & later

    # ---- variables that live from one loop to the next ------------------------------------

    def _written_in_thread_loops(self) -> set[str]:
        return {
            n
            for thread_loop in region_tree.thread_loops(self.steps)
            for n in tree.writes(thread_loop.body)
        }

    def _own_names(self) -> set[str]:
        return tree.writes(self.unit.tree) | set(self.unit.parameters)

    def _once_names(self) -> set[str]:
        return self._own_names() - self.uniformity.varying

    def _find_live_across(self) -> Set[str]:
        """Return the variables that threads keep, in the order of their appearance."""
        own = self._own_names() | self._written_in_thread_loops()
        live_across: set[str] = set()
        for thread_loop in region_tree.thread_loops(self.steps):
            exposed, _ = liveness.flow(thread_loop.body)
            forms = thread_loop.forms
            live_across |= exposed & own - set(forms.rematerialised) - forms.fixed
        barriers = region_tree.Barrier, region_tree.GridBarrier
        if self.unit.instrumented or any(isinstance(s, barriers) for s in _all_steps(self.steps)):
            if self.unit.returned in self.uniformity.varying:
                live_across.add(self.unit.returned)
        live_across -= kinds.own_arrays(self.unit.tree.body)
        ordered = [*self.unit.parameters, *tree.in_order(live_across, self._nodes())]
        return dict.fromkeys(n for n in ordered if n in live_across).keys()

    def _nodes(self) -> Iterator[ast.AST]:
        """Yield the nodes of the kernel's statements, then those that the plan has created."""
        yield self.unit.tree
        for thread_loop in region_tree.thread_loops(self.steps):
            yield from thread_loop.body


class NeedsWholeGrid(Exception):
    """The kernel synchronises the whole grid; it must be planned for all blocks in lockstep."""


def run(unit: Unit) -> Schedule:
    """Return the plan of a kernel; its control flow needs no types yet."""
    return _planned(unit, whole_grid=False)


def _planned(unit: Unit, *, whole_grid: bool) -> Schedule:
    try:
        return Schedule(unit, whole_grid=whole_grid)
    except NeedsWholeGrid:
        return Schedule(unit, whole_grid=True)


def _must_wait(s: ast.stmt, pending: list[ast.stmt]) -> bool:
    """Tell whether a block statement must come after the pending thread statements."""
    if tree.writes(s) & (tree.reads(pending) | tree.writes(pending)):
        return True
    reads_memory = any(isinstance(n, (ast.Subscript, ast.Call)) for n in ast.walk(s))
    return reads_memory and bool(pending)


def flag_of(mask: str) -> ast.expr:
    """Return the thread's flag in a mask."""
    return ast.Subscript(tree.name(mask), tree.name("thread"), ast.Load())


def _active(mask: str | None) -> ast.expr:
    return tree.const(None) if mask is None else tree.name(mask)


def _all_steps(steps: list[region_tree.Step]) -> list[region_tree.Step]:
    found = list(steps)
    for step in steps:
        for name in ("head", "body", "orelse"):
            if not isinstance(step, region_tree.ParallelRegion):
                found += _all_steps(getattr(step, name, []))
    return found
