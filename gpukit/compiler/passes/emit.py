"""Write the plan of a kernel as a Python function of loops, ready for numba.njit.

The function does blocks `first` to `last`; what it gets besides the kernel's arguments are
addresses: of the argument buffer, of the error context and of scratch memory, where shared
arrays and the values that threads keep from one loop to the next live.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numba.core import types

from gpukit.compiler import aliases, kinds, plan, tree
from gpukit.compiler.passes import jumps, ranges, rewrite, schedule
from gpukit.compiler.passes.affine import Form
from gpukit.compiler.runtime import memory
from gpukit.compiler.unit import Unit

PARAMETERS = ("_args", "_first", "_last", "_context", "_scratch")
GEOMETRY = [f"{n}_{a}" for n in ("gridDim", "blockDim") for a in tree.AXES]
_INDEX = tuple(f"threadIdx_{a}" for a in tree.AXES)
HEADER_BYTES = 8 * 8  # six sizes, the bytes of dynamic shared memory, one spare word
_LINE = 64  # alignment of scratch arrays
_MOST_ROUNDS = 12  # rounds of a loop that are written out; enough for 1024 threads


@dataclass(frozen=True)
class Options:
    """What a kernel is specialised for, besides the types of its arguments.

    `block` is the block shape if it is fixed, `distinct` promises that no two array arguments
    overlap.
    """

    block: tuple[int, int, int] | None
    distinct: bool
    boundscheck: bool = True
    readable: bool = False


@dataclass
class _Scratch:
    """How much scratch memory is laid out; known now if the number of `threads` is."""

    threads: int
    used: int = 0

    @property
    def now(self) -> str:
        """What is used, as an expression."""
        return str(self.used) if self.threads else "_at"

    def advance(self, size: int, expression: str) -> list[ast.stmt]:
        """Use `size` bytes more; return the statement that a size known only later needs."""
        self.used += size
        return [] if self.threads else tree.stmts(f"_at = _at + {expression}")


class Emitter:
    """Writes one kernel. `scratch_bytes(threads, shared)` tells how much scratch it needs."""

    def __init__(
        self,
        unit: Unit,
        planned: schedule.Schedule,
        arguments: dict[str, types.Type],
        options: Options,
    ) -> None:
        self.unit = unit
        self.plan = planned
        self.arguments = arguments
        self.options = options
        self.rewriter = rewrite.Rewriter(
            unit, readable=options.readable, boundscheck=options.boundscheck
        )
        self.rewriter.whole_grid = planned.whole_grid
        self.per_thread = 0  # bytes of scratch a thread
        self.fixed = 0  # bytes of scratch a block, for shared arrays
        self.slot_types = self._slot_types()
        self.rewriter.slots = set(planned.masks) | set(planned.values)
        self.shared: dict[str, tuple[tuple[int, ...], Any]] = {}
        self.local: dict[str, tuple[tuple[int, ...], Any]] = {}
        self._find_arrays()
        self.rewriter.shared = set(self.shared)
        self.kept_locals = self._kept_locals()
        self.places: dict[str, str] = {}  # where arrays begin in scratch memory
        kept = {n: t for n, t in arguments.items() if n not in tree.writes(unit.tree)}
        axes = {n: t.ndim for n, t in kept.items() if isinstance(t, types.Array)}
        self.ranges = ranges.Ranges(options.block, axes)
        self.guards: list[tuple[Form, str]] = []  # indices known to be below a size

    # ---- what is needed -------------------------------------------------------------------

    def _slot_types(self) -> dict[str, types.Type]:
        """Return the type of everything that is kept once a thread."""
        found: dict[str, types.Type] = dict.fromkeys(self.plan.masks, types.boolean)
        for name in self.plan.slots:
            # Numba gives no types to code that it finds can never run.
            found[f"{name}_of"] = self.unit.types.get(name, types.int64)
        for name, kind in self.plan.values.items():
            found[name] = self._value_type(kind)
        return found

    def _value_type(self, kind: str) -> types.Type:
        if kind == "boolean":
            return types.boolean
        how, _, of = kind.partition(" of ")
        known = self.unit.types.get(of)
        if how == "first":
            return known[0] if known is not None else types.int64
        if how == "type" and known is not None:
            return known
        return known if known is not None else types.int64

    def _find_arrays(self) -> None:
        for s in tree.statements(self.unit.tree.body):
            if isinstance(s, ast.Assign) and tree.called(s.value) in kinds.ARRAYS:
                for name in tree.writes(s):
                    kind, shape, dtype, _ = rewrite.request_of(self.unit, name)
                    table = self.shared if kind == "shared.array" else self.local
                    table[name] = (shape, dtype)

    def _kept_locals(self) -> set[str]:
        """Return the local arrays that live longer than one loop over threads."""
        inside = {id(leaf) for leaf in _looped_leaves(self.plan.steps)}
        kept = set()
        for name in self.local:
            names = aliases.of(self.unit, name)
            users = [f for f in plan.leaves(self.plan.steps) if names & tree.reads(f.body)]
            if len(users) > 1 or any(id(f) in inside for f in users):
                kept.add(name)
        return kept

    # ---- the function ---------------------------------------------------------------------

    def function(self) -> ast.FunctionDef:
        """Return the function of loops."""
        body: list[ast.stmt] = []
        if not self.options.readable:
            body += self._prologue()
            body += self.given()
        body += self._arrays()
        inner = self._begin_block() + self.steps(self.plan.steps)
        if self.plan.whole_grid:
            body += inner
        else:
            over = tree.expr("range(_first, _last)")
            if not self.options.readable:
                body += self._before_first_block()
            body.append(ast.For(tree.store("_block"), over, inner or [ast.Pass()], []))
        arguments = ast.arguments(
            posonlyargs=[], kwonlyargs=[], kw_defaults=[], defaults=[],
            args=[ast.arg(p) for p in self._parameters()],
        )  # fmt: skip
        made = ast.FunctionDef(self.unit.tree.name, arguments, body, [], None)
        if "type_params" in ast.FunctionDef._fields:
            setattr(made, "type_params", [])  # noqa: B010  (Python 3.12)
        return ast.fix_missing_locations(tree.at(made, self.unit.tree))  # type: ignore[no-any-return]

    def _parameters(self) -> list[str]:
        return [*self.arguments, "_first", "_last"] if self.options.readable else list(PARAMETERS)

    def _prologue(self) -> list[ast.stmt]:
        """Read geometry and arguments from the argument buffer."""
        new: list[ast.stmt] = []
        mark = self.rewriter.helper("control", "mark_stack")
        new.append(ast.Expr(tree.call(mark, tree.name("_context"))))
        header = tree.call(self.rewriter.helper("memory", "header"), tree.name("_args"))
        fixed = dict(zip(GEOMETRY[3:], self.options.block or (0, 0, 0), strict=True))
        known = {name: size for name, size in fixed.items() if size}
        names = [f"_{name}" if name in known else name for name in (*GEOMETRY, "_dynamic_bytes")]
        new.append(_unpack(names, header))
        new += [tree.assign(name, tree.const(size)) for name, size in known.items()]
        offset = HEADER_BYTES
        for name, kind in self.arguments.items():
            read = self.rewriter.bind(
                f"argument_{name}", memory.argument(kind, offset, distinct=self.options.distinct)
            )
            new.append(tree.assign(name, tree.call(read, tree.name("_args"))))
            offset += memory.slot_size(kind)
        return new

    def _arrays(self) -> list[ast.stmt]:
        """Lay out scratch memory: shared arrays, then what is kept once a thread."""
        if self.options.readable:
            return tree.stmts("threads = blockDim_x * blockDim_y * blockDim_z")
        static = math.prod(self.options.block or (0,))
        if static and not self.plan.whole_grid:
            new = tree.stmts(f"threads = {static}\n_all_threads = {static}")
        else:
            static = 0
            new = tree.stmts("threads = blockDim_x * blockDim_y * blockDim_z")
            blocks = "gridDim_x * gridDim_y * gridDim_z" if self.plan.whole_grid else "1"
            new += tree.stmts(f"_all_threads = threads * ({blocks})\n_at = 0")
        scratch = _Scratch(static)
        for name, kind in self.slot_types.items():
            made = self.rewriter.bind("slots", memory.slots(kind))
            at = tree.expr(scratch.now)
            new.append(tree.assign(name, tree.call(made, tree.name("_scratch"), at)))
            new += self._reserve(scratch, memory.slot_bytes(kind))
            self.rewriter.slots.add(name)
        for name in sorted(self.kept_locals):
            shape, dtype = self.local[name]
            new += self._place(name, scratch)
            new += self._reserve(scratch, _padded(memory.array_bytes(dtype, shape)))
        for name, (shape, dtype) in self.shared.items():
            if shape != (0,):
                size = _padded(memory.array_bytes(dtype, shape))
                new += self._place(name, scratch)
                blocks = "* (gridDim_x * gridDim_y * gridDim_z)" if self.plan.whole_grid else ""
                new += scratch.advance(size, f"{size} {blocks}")
                self.fixed += size
        new += self._place("_dynamic", scratch)
        if not self.plan.whole_grid:
            new += self._shared_arrays()
        return new

    def _place(self, name: str, scratch: _Scratch) -> list[ast.stmt]:
        """Remember where an array begins in scratch memory."""
        if scratch.threads:
            self.places[name] = scratch.now
            return []
        self.places[name] = f"{name}_at"
        return tree.stmts(f"{name}_at = {scratch.now}")

    def _reserve(self, scratch: _Scratch, size: int) -> list[ast.stmt]:
        """Reserve `size` bytes a thread."""
        self.per_thread += size
        self.fixed += _LINE
        rounded = f"(_all_threads * {size} + {_LINE - 1}) // {_LINE} * {_LINE}"
        return scratch.advance(_padded(scratch.threads * size), rounded)

    def _shared_arrays(self) -> list[ast.stmt]:
        """Bind the shared arrays of the block that runs."""
        new: list[ast.stmt] = []
        block = "first_block" if self.plan.whole_grid else "0"
        for name, (shape, dtype) in self.shared.items():
            dynamic = shape == (0,)
            kind = types.Array(dtype, len(shape), "C")
            made = self.rewriter.bind("shared", memory.scratch_array(kind, distinct=not dynamic))
            size = memory.array_bytes(dtype, shape)
            if dynamic:
                itemsize = memory.array_bytes(dtype, (1,))
                at = tree.expr(f"{self.places['_dynamic']} + {block} * _dynamic_bytes")
                extent: ast.expr = tree.expr(f"(_dynamic_bytes // {itemsize},)")
            else:
                at = tree.expr(f"{self.places[name]} + {block} * {_padded(size)}")
                extent = ast.Tuple([tree.const(n) for n in shape], ast.Load())
            new.append(tree.assign(name, tree.call(made, tree.name("_scratch"), at, extent)))
        return new

    def shared_bytes(self) -> int:
        """Return the bytes of static shared memory of a block."""
        return sum(memory.array_bytes(d, s) for s, d in self.shared.values())

    def local_bytes(self) -> int:
        """Return the bytes of local arrays of a thread."""
        return sum(memory.array_bytes(d, s) for s, d in self.local.values())

    def _begin_block(self) -> list[ast.stmt]:
        """Find the block's indices, give shared memory a poison and parameters their values."""
        new: list[ast.stmt] = []
        if not self.plan.whole_grid:
            if self.options.readable:
                new += self._block_index("_block")
            else:
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

    def given(self) -> list[ast.stmt]:
        """Keep the first value of parameters that the kernel changes."""
        written = set(self.arguments) & tree.writes(self.unit.tree)
        return [tree.assign(f"_given_{n}", tree.name(n)) for n in sorted(written)]

    def _before_first_block(self) -> list[ast.stmt]:
        """Begin one before the first block; counting on is cheaper than dividing each time."""
        return [*self._block_index("_first"), *tree.stmts("blockIdx_x = blockIdx_x - 1")]

    def _block_index(self, block: str) -> list[ast.stmt]:
        return tree.stmts(
            f"blockIdx_x = {block} % gridDim_x\n"
            f"blockIdx_y = {block} // gridDim_x % gridDim_y\n"
            f"blockIdx_z = {block} // (gridDim_x * gridDim_y)"
        )

    def _per_block(self) -> list[ast.stmt]:
        poll = self.rewriter.helper("control", "poll")
        begin = self.rewriter.helper("control", "begin_block")
        index = [tree.name(f"blockIdx_{a}") for a in tree.AXES]
        following = self.rewriter.helper("control", "next_block")
        size = [tree.name("gridDim_x"), tree.name("gridDim_y")]
        new: list[ast.stmt] = [
            _unpack([f"blockIdx_{a}" for a in tree.AXES], tree.call(following, *index, *size)),
            ast.Expr(tree.call(poll, tree.name("_context"))),
            ast.Expr(tree.call(begin, tree.name("_context"), *index)),
        ]
        poison = self.rewriter.helper("memory", "poison") if self.shared else None
        for name in self.shared:
            new.append(ast.Expr(tree.call(poison, tree.name(name))))  # type: ignore[arg-type]
        return new

    # ---- block steps ----------------------------------------------------------------------

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
        return made

    def _BlockIf(self, step: plan.BlockIf) -> list[ast.stmt]:
        with self.ranges.branch(_written(step.body + step.orelse)):
            body = self.steps(step.body) or [ast.Pass()]
        with self.ranges.branch(_written(step.body + step.orelse)):
            orelse = self.steps(step.orelse)
        return [ast.If(self._test(step.test), body, orelse)]

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
        if not self.options.readable and self._rounds(step) is not None:
            return [s for _ in range(self._rounds(step) or 0) for s in self.steps(step.body)]
        self.ranges.forget(_written(step.body))
        body = self._polled(self.steps(step.body))
        self.ranges.forget(_written(step.body))
        return [ast.While(self._test(step.test), body, [])]

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
        return [ast.If(self._any(step.mask), self.steps(step.body) or [ast.Pass()], [])]

    def _UntilNone(self, step: plan.UntilNone) -> list[ast.stmt]:
        self.ranges.forget(_written(step.body))
        leave = ast.If(ast.UnaryOp(ast.Not(), self._any(step.mask)), [ast.Break()], [])
        body = [*self.steps(step.head), leave, *self.steps(step.body)]
        return [ast.While(tree.const(True), self._polled(body), [])]

    def _Barrier(self, step: plan.Barrier) -> list[ast.stmt]:
        if self.options.readable:
            return [ast.Expr(tree.expr(f"barrier({step.mask})"))]
        self.rewriter.in_thread = False
        place = self.rewriter.place(step.call, "", ast.unparse(step.call))
        self.rewriter.in_thread = True
        returned = jumps.RETURNED in self.plan.slots
        name = "barrier_with_returned" if returned else "barrier"
        arguments: list[ast.expr] = [place, tree.name(step.mask or "")]
        if returned:
            arguments.append(tree.name(f"{jumps.RETURNED}_of"))
        arguments += [tree.name("threads"), tree.name("_all_threads")]
        return [ast.Expr(tree.call(self.rewriter.helper("control", name), *arguments))]

    def _Count(self, step: plan.Count) -> list[ast.stmt]:
        if self.options.readable:
            return tree.stmts(f"{step.target} = {step.kind}({step.values})")
        name = step.kind + ("" if step.mask is None else "_masked")
        arguments = [tree.name(step.values)]
        arguments += [] if step.mask is None else [tree.name(step.mask)]
        helper = self.rewriter.helper("control", name)
        return [
            tree.assign(
                step.target or "_", tree.call(helper, *arguments, tree.name("_all_threads"))
            )
        ]

    # ---- loops over threads ---------------------------------------------------------------

    def loops(self, rows: list[plan.Row]) -> list[ast.stmt]:
        """Return the loops over threadIdx.z and .y around some rows."""
        self.rewriter.uses_thread = False
        inner = self._rows(rows, tree.const(0), tree.name("blockDim_x"))
        uses_thread = self.rewriter.uses_thread
        block = self.options.block
        if uses_thread:
            inner = [*self._row_start(block), *inner]
        for axis, size in (("y", 1), ("z", 2)):
            if block is not None and block[size] == 1:
                inner = [tree.assign(f"threadIdx_{axis}", tree.const(0)), *inner]
            else:
                over = tree.expr(f"range(blockDim_{axis})")
                inner = [ast.For(tree.store(f"threadIdx_{axis}"), over, inner, [])]
        if self.plan.whole_grid:
            inner = self._all_blocks(inner)
        return inner

    def _row_start(self, block: tuple[int, int, int] | None) -> list[ast.stmt]:
        first = "first_thread" if self.plan.whole_grid else "0"
        if block is not None and block[1:] == (1, 1):
            new = tree.stmts(f"row_start = {first}")
        else:
            new = tree.stmts(
                f"row_start = {first} + (threadIdx_z * blockDim_y + threadIdx_y) * blockDim_x"
            )
        if not self.plan.whole_grid:
            new += tree.stmts("first_thread = 0")
        return new

    def _all_blocks(self, inner: list[ast.stmt]) -> list[ast.stmt]:
        body = self._block_index("_block") + tree.stmts("first_thread = _block * threads")
        if not self.options.readable:
            begin = self.rewriter.helper("control", "begin_block")
            index = [tree.name(f"blockIdx_{a}") for a in tree.AXES]
            body.append(ast.Expr(tree.call(begin, tree.name("_context"), *index)))
            body += tree.stmts("first_block = _block")
            body += self._shared_arrays()
        over = tree.expr("range(_first, _last)")
        return [ast.For(tree.store("_block"), over, [*body, *inner], [])]

    def _rows(self, rows: list[plan.Row], low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        return [s for row in rows for s in getattr(self, f"_{type(row).__name__}")(row, low, high)]

    def _RowFor(self, row: plan.RowFor, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        over = self.rewriter.expression(row.iter)
        with self.ranges.loop(row.target, row.iter), self._behind([], without=row.target):
            body = self._rows(row.body, low, high) or [ast.Pass()]
        loop = ast.For(tree.store(row.target), over, body, [])
        return [loop if self.options.readable else self.rewriter.polled(loop)]

    def _RowIf(self, row: plan.RowIf, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        start, stop = self.unit.fresh("start"), self.unit.fresh("stop")
        narrowed: list[ast.stmt] = []
        if row.bounds:
            lowers = [low, *(self.rewriter.expression(b.lower) for b in row.bounds if b.lower)]
            uppers = [high, *(self.rewriter.expression(b.upper) for b in row.bounds if b.upper)]
            narrowed.append(tree.assign(start, self._extreme("max", lowers)))
            narrowed.append(tree.assign(stop, self._extreme("min", uppers)))
            first, last = self._part(start, stop, low, high)
        else:
            first, last = low, high  # type: ignore[assignment]
        with self._behind(row.guards):
            body = self._rows(row.body, first, last) or [ast.Pass()]
        if row.bounds:
            body = [*narrowed, ast.If(ast.Compare(first, [ast.Lt()], [last]), body, [])]
        tests = [self.rewriter.expression(t) for t in row.tests]
        if not row.orelse:
            return [ast.If(tree.conjunction(tests), body, [])] if tests else body
        return self._with_else(row, tests, low, high, (start, stop))

    def _with_else(
        self,
        row: plan.RowIf,
        tests: list[ast.expr],
        low: ast.expr,
        high: ast.expr,
        names: tuple[str, str],
    ) -> list[ast.stmt]:
        """Return both branches; the second runs before and behind the part of the first."""
        if not row.bounds:
            with self._behind(row.guards):
                body = self._rows(row.body, low, high) or [ast.Pass()]
            orelse = self._rows(row.orelse, low, high) or [ast.Pass()]
            return [ast.If(tree.conjunction(tests), body, orelse)]
        start, stop = self._part(*names, low, high)
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
        if lowers or tests:
            new += self._rows(row.orelse, low, start) if lowers else []
        return [*new, *self._rows(row.orelse, stop, high)]

    def _part(
        self, start: str, stop: str, low: ast.expr, high: ast.expr
    ) -> tuple[ast.Name, ast.Name]:
        """Return the names of where a part of the row begins and ends."""
        least, most = self.ranges.of(low), self.ranges.of(high)
        if least is not None and most is not None:
            self.ranges.known[start] = self.ranges.known[stop] = (least[0], most[1])
        return tree.name(start), tree.name(stop)

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

    # ---- the loop over threadIdx.x --------------------------------------------------------

    def _Leaf(self, leaf: plan.Leaf, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
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

    def _hoistable(self, leaf: plan.Leaf) -> dict[str, tuple[str, list[Form]]]:
        """Return the accesses whose range over the row is known before the loop."""
        found: dict[str, tuple[str, list[Form]]] = {}
        written = tree.writes(leaf.body)
        for node in (n for s in leaf.body for n in ast.walk(s)):
            if not isinstance(node, ast.Subscript) or not rewrite.is_whole(self.unit, node):
                continue
            name = node.value.id  # type: ignore[attr-defined]
            if name in written or name in self.rewriter.slots or name in leaf.forms.remade:
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
        if leaf.mask is not None:
            body = [ast.If(rewriter.expression(schedule._of(leaf.mask)), body, [])]
        if rewriter.uses_place and not self.options.readable:
            body = [*tree.stmts(f"_thread_index = ({', '.join(_INDEX)})"), *body]
        body = [*self._local_arrays(leaf), *body]
        if rewriter.uses_thread:
            body = [*tree.stmts("thread = row_start + threadIdx_x"), *body]
        rewriter.uses_thread |= used_before
        rewriter.hoisted = frozenset()
        over = tree.expr("range(low, high)", low=low, high=high)
        loop = ast.For(tree.store("threadIdx_x"), over, body or [ast.Pass()], [])
        return tree.at(loop, leaf.body[0])  # type: ignore[no-any-return]

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
                made = self.rewriter.bind("local", memory.local_array(kind, shape))
                new.append(tree.assign(name, tree.call(made)))
                continue
            self.rewriter.uses_thread = True
            made = self.rewriter.bind("local", memory.scratch_array(kind, distinct=False))
            size = _padded(memory.array_bytes(dtype, shape))
            at = tree.expr(f"{self.places[name]} + thread * {size}")
            extent = ast.Tuple([tree.const(n) for n in shape], ast.Load())
            new.append(tree.assign(name, tree.call(made, tree.name("_scratch"), at, extent)))
        return new


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


def _unpack(names: list[str], value: ast.expr) -> ast.stmt:
    targets: list[ast.expr] = [tree.store(n) for n in names]
    return ast.Assign([ast.Tuple(targets, ast.Store())], value)


def _padded(size: int) -> int:
    return (size + _LINE - 1) // _LINE * _LINE


def _looped_leaves(steps: list[plan.Step], inside: bool = False) -> list[plan.Leaf]:
    """Return the leaves that run more than once a block."""
    found: list[plan.Leaf] = []
    for step in steps:
        loop = inside or isinstance(step, (plan.BlockFor, plan.BlockWhile, plan.UntilNone))
        if isinstance(step, plan.Loops):
            for row in step.rows:
                inner = [row] if isinstance(row, plan.Leaf) else list(plan.row_leaves(row.body))
                inner += (
                    []
                    if isinstance(row, plan.Leaf)
                    else list(plan.row_leaves(getattr(row, "orelse", [])))
                )
                found += inner if loop or isinstance(row, plan.RowFor) else []
        for name in ("head", "body", "orelse"):
            if not isinstance(step, plan.Loops):
                found += _looped_leaves(getattr(step, name, []), loop)
    return found
