"""Lay out the memory of a kernel: shared arrays, local arrays, variables kept between loops.

It is one piece of scratch memory, with each array at an offset. Offsets are constants if the
number of threads per block is known, else they are computed when the kernel starts.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from typing import Any

from numba.core import types

from gpukit.compiler import kinds, tree
from gpukit.compiler.analysis import aliases, arrays
from gpukit.compiler.context import WIDEST
from gpukit.compiler.emit.kernel import Kernel
from gpukit.compiler.lowering import region_tree
from gpukit.compiler.runtime import shuffles, storage

_LINE = 64  # alignment of scratch arrays
_COARSENED_BYTES = 1 << 15  # of variables kept by blocks that start coarsened: fits the L1 cache


@dataclass
class _Scratch:
    """How much scratch memory is used so far; a constant if the number of `threads` is known."""

    threads: int
    used: int = 0

    @property
    def now(self) -> str:
        """The bytes used so far, as an expression."""
        return str(self.used) if self.threads else "_at"

    def advance(self, size: int, expression: str) -> list[ast.stmt]:
        """Use `size` bytes more; return the statement that adds a size known only at run time."""
        self.used += size
        return [] if self.threads else tree.stmts(f"_at = _at + {expression}")


class Memory:
    """Lays out a kernel's scratch memory.

    `per_thread` and `per_block` are the bytes that it takes, `thread_arrays` the types of what is
    kept once per thread, `shared` and `local` shapes and dtypes of arrays, `places` their offsets,
    `coarsened` how many neighbouring blocks start as one wide block.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.unit, self.schedule = kernel, kernel.unit, kernel.schedule
        self.options, self.rewriter = kernel.options, kernel.rewriter
        self.per_thread = 0
        self.per_block = 0
        self.thread_arrays = self._types_of_thread_arrays()
        self.wide: set[str] = set()  # thread arrays for all blocks that start coarsened together
        self.alone: list[ast.stmt] = []  # bind the thread arrays of blocks continuing separately
        self.coarsened = self._coarsened_blocks()
        self.rewriter.many_blocks = self.schedule.whole_grid or self.coarsened > 1
        self.rewriter.thread_arrays = set(self.schedule.masks) | set(self.schedule.values)
        self.shared: dict[str, tuple[tuple[int, ...], Any]] = {}
        self.local: dict[str, tuple[tuple[int, ...], Any]] = {}
        self._find_arrays()
        self.rewriter.shared = set(self.shared)
        self.stored_locals = self._stored_locals()
        self.places: dict[str, str] = {}

    # ---- what is needed -------------------------------------------------------------------

    def _types_of_thread_arrays(self) -> dict[str, types.Type]:
        """Return the type of everything that is kept once per thread."""
        found: dict[str, types.Type] = dict.fromkeys(self.schedule.masks, types.boolean)
        for name in self.schedule.live_across:
            # Numba infers no types in unreachable code.
            found[self.kernel.kept(name)] = self.unit.types.get(name, types.int64)
        for name, value in self.schedule.values.items():
            found[name] = self._value_type(value)
        return found

    def _value_type(self, value: region_tree.Published) -> types.Type:
        if value.boolean:
            return types.boolean
        known = self.unit.types.get(value.of)
        if known is None:
            return types.int64
        return known[0] if value.first else known

    def _coarsened_blocks(self) -> int:
        """Return how many neighbouring blocks start as one wide block; 1 if none do."""
        if not self.schedule.coarsened:
            return 1
        width = self.options.block[0]  # type: ignore[index]
        used: set[str] = set()
        for thread_loop in region_tree.thread_loops(self.schedule.steps[: self.schedule.coarsened]):
            used |= tree.reads(thread_loop.body) | tree.writes(thread_loop.body)
        kept = {self.kernel.kept(name): name for name in self.schedule.live_across}
        self.wide = {array for array in self.thread_arrays if kept.get(array, array) in used}
        size = sum(storage.thread_bytes(self.thread_arrays[name]) for name in self.wide)
        blocks = 1
        while 2 * blocks * width <= WIDEST and 2 * blocks * width * size <= _COARSENED_BYTES:
            blocks *= 2
        if blocks == 1:
            self.wide = set()
        return blocks

    def _find_arrays(self) -> None:
        for s in tree.statements(self.unit.tree.body):
            if kinds.makes_array(s):
                for name in tree.writes(s):
                    kind, shape, dtype, _ = arrays.request_of(self.unit, name)
                    table = self.shared if kind == "shared.array" else self.local
                    table[name] = (shape, dtype)

    def _stored_locals(self) -> set[str]:
        """Return the local arrays that are live across loops over threads."""
        inside = {id(thread_loop) for thread_loop in _looped_thread_loops(self.schedule.steps)}
        kept = set(self.local) if self.options.instrumented else set()
        for name in self.local:
            names = aliases.of(self.unit, name)
            users = [
                f
                for f in region_tree.thread_loops(self.schedule.steps)
                if names & tree.reads(f.body)
            ]
            if len(users) > 1 or any(id(f) in inside for f in users):
                kept.add(name)
        return kept

    def shared_bytes(self) -> int:
        """Return the bytes of static shared memory per block."""
        return sum(storage.array_bytes(d, s) for s, d in self.shared.values())

    def local_bytes(self) -> int:
        """Return the bytes of local arrays per thread."""
        return sum(storage.array_bytes(d, s) for s, d in self.local.values())

    # ---- the layout -----------------------------------------------------------------------

    def lay_out(self) -> list[ast.stmt]:
        """Return the statements that compute all offsets, before any block runs."""
        static = math.prod(self.options.block or (0,))
        if static and not self.schedule.whole_grid:
            new = tree.stmts(f"threads = {static}\n_all_threads = {static}")
        else:
            static = 0
            new = tree.stmts("threads = blockDim_x * blockDim_y * blockDim_z")
            blocks = "gridDim_x * gridDim_y * gridDim_z" if self.schedule.whole_grid else "1"
            new += tree.stmts(f"_all_threads = threads * ({blocks})\n_at = 0")
        scratch = _Scratch(static)
        new += self._margin(scratch)
        for name, kind in self.thread_arrays.items():
            self.rewriter.thread_arrays.add(name)
            new += self._find_thread_array(name, kind, storage.thread_bytes(kind), scratch)
            new += self._margin(scratch)
        for name in (n for n in self.local if n in self.stored_locals):
            shape, dtype = self.local[name]
            new += self._place(name, scratch)
            size = padded(storage.array_bytes(dtype, shape))
            new += self._find_thread_array(self._of_all(name), types.uint8, size, scratch)
        for name, (shape, dtype) in self.shared.items():
            if shape != (0,):
                size = padded(storage.array_bytes(dtype, shape))
                new += self._place(name, scratch)
                blocks = "* (gridDim_x * gridDim_y * gridDim_z)" if self.schedule.whole_grid else ""
                new += scratch.advance(size, f"{size} {blocks}")
                self.per_block += size
        new += self._place("_dynamic", scratch)
        if not self.schedule.whole_grid:
            new += [*self.shared_arrays(), tree.assign("first_thread", tree.const(0))]
        return new

    def _find_thread_array(
        self, name: str, kind: types.Type, size: int, scratch: _Scratch
    ) -> list[ast.stmt]:
        """Bind an array with `size` bytes per thread; it is indexed by `thread`."""
        made = self.rewriter.bind("thread_arrays", storage.thread_array(kind))
        apart = self.coarsened > 1 and name not in self.wide
        at = f"{scratch.now} - first_thread * {size}" if apart else scratch.now
        found = tree.assign(name, tree.call(made, tree.name("_scratch"), tree.expr(at)))
        new = self._clear(kind, scratch, size * (self.coarsened if name in self.wide else 1))
        if apart:  # blocks continuing separately use the same memory, one after the other
            self.alone.append(found)
            return [*new, *self._reserve(scratch, size)]
        if name in self.wide:
            whole = padded(scratch.threads * size * self.coarsened)
            self.per_block += whole
            return [*new, found, *scratch.advance(whole, "")]
        return [*new, found, *self._reserve(scratch, size)]

    def _clear(self, kind: types.Type, scratch: _Scratch, size: int) -> list[ast.stmt]:
        """Initialise variables that refer to arrays as arrays without elements.

        A variable that is set in one branch only may be loaded where it was never set.
        """
        if isinstance(kind, (types.Number, types.Boolean)):
            return []
        clear = self.rewriter.helper("storage", "clear")
        size_ = tree.expr(f"_all_threads * {size}")
        return [ast.Expr(tree.call(clear, tree.name("_scratch"), tree.expr(scratch.now), size_))]

    def _margin(self, scratch: _Scratch) -> list[ast.stmt]:
        """Leave a margin between arrays: a shuffle reads beyond a warp (`runtime/shuffles.py`)."""
        self.per_block += shuffles.MARGIN
        return scratch.advance(shuffles.MARGIN, str(shuffles.MARGIN))

    def _place(self, name: str, scratch: _Scratch) -> list[ast.stmt]:
        """Store the offset of an array in scratch memory."""
        if scratch.threads:
            self.places[name] = scratch.now
            return []
        self.places[name] = self.unit.named("{}_at", name)
        return tree.stmts(f"{self.places[name]} = {scratch.now}")

    def _reserve(self, scratch: _Scratch, size: int) -> list[ast.stmt]:
        """Reserve `size` bytes per thread."""
        self.per_thread += size
        self.per_block += _LINE
        rounded = f"(_all_threads * {size} + {_LINE - 1}) // {_LINE} * {_LINE}"
        return scratch.advance(padded(scratch.threads * size), rounded)

    # ---- arrays ---------------------------------------------------------------------------

    def shared_arrays(self) -> list[ast.stmt]:
        """Return the statements that bind the shared arrays of the running block."""
        new: list[ast.stmt] = []
        block = "first_block" if self.schedule.whole_grid else "0"
        for name, (shape, dtype) in self.shared.items():
            dynamic = shape == (0,)
            kind = types.Array(dtype, len(shape), "C")
            made = self.rewriter.bind("shared", storage.scratch_array(kind, distinct=not dynamic))
            size = storage.array_bytes(dtype, shape)
            if dynamic:
                itemsize = storage.array_bytes(dtype, (1,))
                at = tree.expr(f"{self.places['_dynamic']} + {block} * _dynamic_bytes")
                extent: ast.expr = tree.expr(f"(_dynamic_bytes // {itemsize},)")
            else:
                at = tree.expr(f"{self.places[name]} + {block} * {padded(size)}")
                extent = ast.Tuple([tree.const(n) for n in shape], ast.Load())
            new.append(tree.assign(name, tree.call(made, tree.name("_scratch"), at, extent)))
        return new

    def poison(self) -> list[ast.stmt]:
        """Return the statements that poison shared arrays, so that a missing store shows."""
        poison = self.rewriter.helper("storage", "poison")
        return [ast.Expr(tree.call(poison, tree.name(name))) for name in self.shared]

    def local_arrays(self, names: set[str]) -> list[ast.stmt]:
        """Return the statements that bind those local arrays of a thread that have these names."""
        new: list[ast.stmt] = []
        for name in (n for n in self.local if n in names):
            if name in self.stored_locals:
                self.rewriter.uses_thread = True
                new.append(tree.assign(name, self.of_thread(name, tree.name("thread"))))
            else:
                shape, dtype = self.local[name]
                kind = types.Array(dtype, len(shape), "C")
                made = self.rewriter.bind("local", storage.local_array(kind, shape))
                new.append(tree.assign(name, tree.call(made)))
        return new

    def of_thread(self, name: str, thread: ast.expr) -> ast.expr:
        """Return a thread's part of a local array that is kept between loops."""
        shape, dtype = self.local[name]
        kind = types.Array(dtype, len(shape), "C")
        made = self.rewriter.bind("local", storage.array_of_thread(kind, shape))
        size = padded(storage.array_bytes(dtype, shape))
        at = tree.expr(f"t * {size}", t=thread)
        return tree.call(made, tree.name(self._of_all(name)), at)

    def _of_all(self, name: str) -> str:
        """Return the name of the memory that holds a local array for all threads."""
        return self.unit.named("{}_of_all", name)

    def fixed_shape(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of one of the kernel's own arrays, unless its size is dynamic."""
        known = self.shared.get(name) or self.local.get(name)
        return known[0] if known is not None and known[0] != (0,) else None


def padded(size: int) -> int:
    """Return a size in bytes rounded up to the alignment of arrays."""
    return (size + _LINE - 1) // _LINE * _LINE


def _looped_thread_loops(
    steps: list[region_tree.Step], inside: bool = False
) -> list[region_tree.ThreadLoop]:
    """Return the thread loops that run more than once per block."""
    found: list[region_tree.ThreadLoop] = []
    for step in steps:
        loop = inside or isinstance(
            step, (region_tree.BlockFor, region_tree.BlockWhile, region_tree.UntilNone)
        )
        if isinstance(step, region_tree.ParallelRegion):
            for row in step.rows:
                if loop or isinstance(row, region_tree.RowFor):
                    found += region_tree.thread_loops_of([row])
            continue
        for name in ("head", "body", "orelse"):
            found += _looped_thread_loops(getattr(step, name, []), loop)
    return found
