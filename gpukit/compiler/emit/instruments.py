"""Emit the calls of instrumented kernels that record accesses, barriers, branches and values.

Where all indices of a thread loop are affine in threadIdx.x, one call records each access of the
whole row, and the loop after it runs without checks. Otherwise every thread records its own.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from numba.core import types

from gpukit.compiler import checker_state, refuse, tree
from gpukit.compiler.emit import accesses
from gpukit.compiler.emit.kernel import Kernel
from gpukit.compiler.emit.kernel_memory import Memory, padded
from gpukit.compiler.lowering import region_tree, warps
from gpukit.compiler.runtime import shuffles, storage


@dataclass(frozen=True)
class OwnSegment:
    """An array that a kernel creates itself, as a segment of `checker_state`.

    `spelled` is its name in the source. `stride` is the bytes from one block's or thread's array to
    the next; `granule` is the size of a cell, if it is not that of an element. An array that tracks
    whether a variable is assigned (`frontend.unassigned`) names this `variable`.
    """

    name: str
    spelled: str
    space: str
    dtype: str
    itemsize: int
    shape: tuple[int, ...]
    stride: int
    granule: int = 0
    variable: str = ""


class Instruments:
    """Emits the calls that record what an instrumented kernel does; nothing for other kernels.

    `segments` are the kernel's own arrays, `variables` those of a recording with their numbers.
    """

    def __init__(self, kernel: Kernel, memory: Memory) -> None:
        self.kernel, self.memory = kernel, memory
        self.unit, self.schedule, self.rewriter = kernel.unit, kernel.schedule, kernel.rewriter
        self.instrumented = kernel.options.instrumented
        self.segments: list[OwnSegment] = []
        self.variables: dict[str, int] = {}
        self.recorded: dict[
            int, str
        ] = {}  # by thread loop: a flag, 1 if its reads were recorded before its loop

    # ---- where the kernel's own arrays lie, and which block runs --------------------------

    def record_segments(self) -> list[ast.stmt]:
        """Return the statements that record the addresses of the kernel's own arrays."""
        if not self.instrumented:
            return []
        new: list[ast.stmt] = []
        shared, local = self.memory.shared, self.memory.local
        blocks = "gridDim_x * gridDim_y * gridDim_z" if self.schedule.whole_grid else "1"
        for name, (shape, dtype) in {**shared, **local}.items():
            if shape == (0,):
                continue
            space = "shared" if name in shared else "local"
            stride = padded(storage.array_bytes(dtype, shape))
            itemsize = storage.array_bytes(dtype, (1,))
            copies = blocks if space == "shared" else "_all_threads"
            self._segment(name, space, str(dtype), itemsize, shape, stride)
            new.append(self._record_segment(name, f"{stride} * ({copies})"))
        dynamic = [(n, d) for n, (s, d) in shared.items() if s == (0,)]
        if dynamic:
            name, dtype = dynamic[0]
            sizes = [storage.array_bytes(d, (1,)) for _, d in dynamic]
            least = min(n & -n for n in sizes)
            self._segment(name, "shared", str(dtype), sizes[0], (0,), 0, least)
            new.append(self._record_segment("_dynamic", f"_dynamic_bytes * ({blocks})"))
        return new

    def _segment(self, name: str, *described: Any) -> None:
        segment = OwnSegment(name, self.unit.as_written(name), *described)
        variable = self.unit.assigned.get(name, "")
        self.segments.append(dataclasses.replace(segment, variable=variable))

    def _record_segment(self, name: str, size: str) -> ast.stmt:
        hook = self.rewriter.helper("hooks", "segment")
        number = tree.const(len(self.segments) - 1)
        places = tree.expr(self.memory.places[name]), tree.expr(size)
        words = tree.name("_context"), number, tree.name("_scratch")
        return ast.Expr(tree.call(hook, *words, *places))

    def record_block(self) -> list[ast.stmt]:
        """Return the statements that record the start of a block."""
        return self.record("begin_block", None, tree.name("_block"))

    def tick(self) -> list[ast.stmt]:
        """Return the statements that record the start of loops over threads (`detailed` only)."""
        return self.record("tick", None) if self.unit.detailed else []

    # ---- what the whole block does --------------------------------------------------------

    def record(self, name: str, like: ast.AST | None, *arguments: ast.expr) -> list[ast.stmt]:
        """Return the statements that record something the whole block does."""
        if not self.instrumented:
            return []
        given = ast.Tuple(list(arguments), ast.Load())
        made = tree.call(self.rewriter.helper("hooks", name), tree.name("_context"), given)
        statement = ast.Expr(made)
        return [statement if like is None else tree.at(statement, like)]

    def location(self, node: ast.AST, what: str) -> int:
        return self.rewriter.location(node, "", what) >> checker_state.LOCATION_SHIFT

    def record_barrier(self, call: ast.Call, name: str = "barrier") -> list[ast.stmt]:
        """Return the statements that record a barrier of the block or, `grid_barrier`, the grid."""
        if not self.instrumented:
            return []
        return self.record(
            name, call, tree.const(self.location(call, refuse.written(call, self.unit)))
        )

    def record_returned(self, call: ast.Call, name: str = "after_return") -> list[ast.stmt]:
        """Return the statements that record which threads returned before a barrier."""
        everywhere = name == "grid_return"
        if (
            not (self.rewriter.returned and self.instrumented)
            or everywhere != self.schedule.whole_grid
        ):
            return []
        location = tree.const(self.location(call, refuse.written(call, self.unit)))
        count = tree.name("_all_threads" if everywhere else "threads")
        gone = self.mask_address(self.rewriter.returned, tree.const(0))
        return self.record(name, call, location, count, gone)

    def record_warps(self, step: region_tree.WarpBarrier) -> list[ast.stmt]:
        """Return the statements that record a syncwarp or a fence."""
        active = self.mask_address(step.mask, tree.const(0))
        location = tree.const(self.location(step.call, refuse.written(step.call, self.unit)))
        return self.record("sync_warps", step.call, location, tree.name("_all_threads"), active)

    def mask_address(self, mask: str | None, thread: ast.expr) -> ast.expr:
        """Return the address of a thread's flag in a mask; 0 without a mask."""
        if mask is None:
            return tree.const(0)
        at = self.rewriter.helper("hooks", "mask_at")
        return tree.call(at, tree.name(mask), thread)

    # ---- values, for recordings -----------------------------------------------------------

    def values_of_block(self, s: ast.stmt) -> list[ast.stmt]:
        """Return the statements that record what a statement has set for all threads."""
        if self.instrumented != "values":
            return []
        return self._values(tree.writes(s), tree.const(checker_state.EVERYONE))

    def values_of_thread(self, thread_loop: region_tree.ThreadLoop) -> list[ast.stmt]:
        """Return the statements that record a thread's variables after a thread loop."""
        if self.instrumented != "values":
            return []
        self.rewriter.uses_thread = True
        return self._values(tree.writes(thread_loop.body), tree.expr("thread - first_thread"))

    def _values(self, names: set[str], thread: ast.expr) -> list[ast.stmt]:
        new: list[ast.stmt] = []
        for name in tree.in_order(names, self.unit.tree):
            if not self.unit.is_written(name):
                continue
            kind = self.unit.types.get(name)
            if isinstance(kind, (types.Integer, types.Float, types.Boolean)):
                written = self.unit.as_written(name)
                number = self.variables.setdefault(written, len(self.variables))
                call = tree.call(
                    self.rewriter.helper("hooks", "value"),
                    tree.name("_context"),
                    thread,
                    tree.const(number),
                    tree.name(name),
                )
                new.append(ast.Expr(call))
        return new

    # ---- what a row of threads does -------------------------------------------------------

    def is_surely_whole(self, thread_loop: region_tree.ThreadLoop) -> bool:
        """Tell whether a loop only checks the mask of a warp operation that surely passes.

        Where all threads of whole warps take part and the mask has every lane, none is missing.
        """
        threads = math.prod(self.kernel.options.block or (0,))
        if self.instrumented != "access" or threads == 0 or threads % shuffles.WARP:
            return False
        return all(map(_names_all_lanes, thread_loop.body))

    def row(
        self,
        recorded: list[accesses.RowAccess],
        thread_loop: region_tree.ThreadLoop,
        low: ast.expr,
        high: ast.expr,
    ) -> tuple[list[ast.stmt], list[ast.expr]]:
        """Return the calls that record the accesses of a row, and the tests that allow it."""
        own = self.memory.local
        stores = [t for t in recorded if t[1] == checker_state.STORE and t[0].value.id not in own]  # type: ignore[attr-defined]
        claim = self.instrumented == "access" and len(stores) == 1
        calls: list[ast.stmt] = []
        for access in recorded:
            kind = checker_state.CLAIM if claim and access[1] == checker_state.STORE else access[1]
            call = ast.Expr(self._row_call("row", access, thread_loop, low, high, kind))
            is_own = access[0].value.id in own  # type: ignore[attr-defined]
            calls += [call] if is_own else self._unless_recorded(thread_loop, call)
        free = (self._row_call("row_free", t, thread_loop, low, high, 0) for t in stores)
        return calls, [tree.expr("f != 0", f=call) for call in free]

    def _row_call(
        self,
        name: str,
        recorded: accesses.RowAccess,
        thread_loop: region_tree.ThreadLoop,
        low: ast.expr,
        high: ast.expr,
        kind: int,
    ) -> ast.expr:
        """Return the call that records one access of all threads of a row."""
        node, how, forms = recorded
        array = node.value.id  # type: ignore[attr-defined]
        if how == checker_state.LOAD:  # in `a[i] += v`, whose write is another access
            node = copy.copy(node)
            node.ctx = ast.Load()
        location = self.rewriter.location(node, array, refuse.written(node, self.unit))
        following = tree.expr("low + 1", low=low)
        ends = [
            ast.Tuple([self.rewriter.expression(f.at(x)) for f in forms], ast.Load())
            for x in (low, following)
        ]
        thread = tree.expr("row_start + low - first_thread", low=low)
        count = tree.expr("high - low", high=high, low=low)
        mask = self.mask_address(thread_loop.mask, tree.expr("row_start + low", low=low))
        arrays = [self._of_thread(array, x) for x in (low, following)]
        parts = [tree.const(location), *arrays, *ends, thread, count, mask, tree.const(kind)]
        return tree.call(self.rewriter.helper("hooks", name), tree.name("_context"), *parts)

    def _of_thread(self, array: str, x: ast.expr) -> ast.expr:
        """Return an array; for a local array, that of the thread at x."""
        if array not in self.memory.local:
            return tree.name(array)
        return self.memory.of_thread(array, tree.expr("row_start + x", x=x))

    def _unless_recorded(
        self, thread_loop: region_tree.ThreadLoop, call: ast.stmt
    ) -> list[ast.stmt]:
        flag = self.recorded.get(id(thread_loop))
        return [ast.If(tree.expr("f == 0", f=tree.name(flag)), [call], [])] if flag else [call]

    # ---- all iterations of a loop at once -------------------------------------------------

    def loop(self, row: region_tree.RowFor, low: ast.expr, high: ast.expr) -> list[ast.stmt]:
        """Return what records the reads of all iterations before a lockstep loop.

        This needs a loop that writes nothing that other threads see. A flag says whether it was
        possible; else each iteration records its own reads.
        """
        if self.instrumented != "access":
            return []
        recorded = accesses.of_loop(self.kernel, row, set(self.memory.local))
        start, rounds = accesses.rounds_of(row.iter)
        if not recorded or rounds is None:
            return []
        flag = self.unit.fresh("recorded")
        self.recorded |= {
            id(thread_loop): flag for thread_loop in region_tree.thread_loops_of(row.body)
        }
        self.rewriter.uses_thread = True
        new: list[ast.stmt] = [tree.assign(flag, tree.const(1))]
        following = tree.expr("low + 1", low=low)
        for node, _, forms in recorded:
            places = [(low, 0), (following, 0), (low, 1)]
            ends = [
                ast.Tuple(
                    [self._at_round(f.at(x), row.target, start, k) for f in forms], ast.Load()
                )
                for x, k in places
            ]
            array = node.value.id  # type: ignore[attr-defined]
            location = self.rewriter.location(node, array, refuse.written(node, self.unit))
            thread = tree.expr("row_start + low - first_thread", low=low)
            count = tree.expr("high - low", high=high, low=low)
            parts = [tree.const(location), tree.name(array), *ends, thread, count, tree.const(0)]
            hook = self.rewriter.helper("hooks", "area")
            call = tree.call(hook, tree.name("_context"), *parts, self.rewriter.expression(rounds))
            new.append(tree.assign(flag, ast.BinOp(tree.name(flag), ast.BitAnd(), call)))
        return new

    def _at_round(self, e: ast.expr, target: str, start: ast.expr, k: int) -> ast.expr:
        value = tree.expr("s + k", s=start, k=tree.const(k))
        return self.rewriter.expression(tree.fill(e, **{target: value}))


def _names_all_lanes(s: ast.stmt) -> bool:
    """Tell whether a statement checks a mask of all 32 lanes, or the lane that is read from."""
    if not isinstance(s, ast.Expr):
        return False
    name = tree.called(s.value)
    if name not in ("warp.check_mask", "warp.check_source"):
        return False
    active, mask, *others = s.value.args  # type: ignore[attr-defined]
    known = isinstance(active, ast.Constant) and getattr(mask, "value", 0) == 0xFFFFFFFF
    return known and (not others or others[0].value in warps.MODES)
