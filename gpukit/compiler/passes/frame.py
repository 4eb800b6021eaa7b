"""What stands around a kernel's loops: its arguments, its scratch memory, its blocks.

The function does blocks `first` to `last`; what it gets besides the kernel's arguments are
addresses: of the argument buffer, of the error context and of scratch memory, where shared
arrays and the values that threads keep from one loop to the next live.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from typing import Any

from numba.core import types

from gpukit.compiler import aliases, expressions, kinds, plan, tree
from gpukit.compiler.context import WIDEST
from gpukit.compiler.passes import covered, jumps, ranges, rewrite, schedule
from gpukit.compiler.passes.affine import Form
from gpukit.compiler.runtime import shuffles, storage
from gpukit.compiler.unit import Unit

PARAMETERS = ("_args", "_first", "_last", "_context", "_scratch")
GEOMETRY = [f"{n}_{a}" for n in ("gridDim", "blockDim") for a in tree.AXES]
HEADER_BYTES = 8 * 8  # six sizes, the bytes of dynamic shared memory, one spare word
_LINE = 64  # alignment of scratch arrays
_ABREAST_BYTES = 1 << 15  # of what blocks that begin abreast keep meanwhile: within a first cache


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
    watched: str = ""  # as `Unit.watched`


@dataclass(frozen=True)
class OwnRegion:
    """An array that a kernel makes itself, as a region of `watch`.

    `spelled` is what the person called it. `stride` bytes lie between the arrays of two blocks or
    threads; `granule` is the size of a cell, if it is not that of an element.
    """

    name: str
    spelled: str
    space: str
    dtype: str
    itemsize: int
    shape: tuple[int, ...]
    stride: int
    granule: int = 0


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


class Frame:
    """Knows what a kernel needs, and writes what stands before its loops."""

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
        self.rewriter.watched = options.watched
        if jumps.RETURNED in planned.slots:
            self.rewriter.returned = f"{jumps.RETURNED}_of"
        self.regions: list[OwnRegion] = []
        self.expressions = expressions.Expressions(unit)
        self.told: dict[int, str] = {}  # by leaf: a flag, 1 if its reads were told before its loop
        self.variables: dict[str, int] = {}  # of a recording: their numbers
        self.flops: dict[int, dict[str, int]] = {}  # of the statements of a profile, by own site
        self.per_thread = 0  # bytes of scratch a thread
        self.fixed = 0  # bytes of scratch a block, for shared arrays
        self.slot_types = self._slot_types()
        self.wide: set[str] = set()  # slots of the threads of all blocks that begin abreast
        self.alone: list[ast.stmt] = []  # find the slots of blocks that go on alone
        self.abreast = self._blocks_abreast()
        self.rewriter.many_blocks = planned.whole_grid or self.abreast > 1
        self.width = tree.name("blockDim_x")  # of the rows that are written
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
        # How far apart the threads of a mask lie, all the way: the variable that holds it, by mask,
        # and with the mask, by the variable that holds the first of them.
        self.combs: dict[str, str] = {}
        self.spans: dict[str, tuple[str, str]] = {}

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

    def _blocks_abreast(self) -> int:
        """Return how many neighbouring blocks begin as one wide block; 1 if none do."""
        if not self.plan.abreast:
            return 1
        width = self.options.block[0]  # type: ignore[index]
        used: set[str] = set()
        for leaf in plan.leaves(self.plan.steps[: self.plan.abreast]):
            used |= tree.reads(leaf.body) | tree.writes(leaf.body)
        self.wide = {name for name in self.slot_types if name.removesuffix("_of") in used}
        kept = sum(storage.kept_bytes(self.slot_types[name]) for name in self.wide)
        blocks = 1
        while 2 * blocks * width <= WIDEST and 2 * blocks * width * kept <= _ABREAST_BYTES:
            blocks *= 2
        if blocks == 1:
            self.wide = set()
        return blocks

    def _find_arrays(self) -> None:
        for s in tree.statements(self.unit.tree.body):
            if kinds.makes_array(s):
                for name in tree.writes(s):
                    kind, shape, dtype, _ = rewrite.request_of(self.unit, name)
                    table = self.shared if kind == "shared.array" else self.local
                    table[name] = (shape, dtype)

    def _kept_locals(self) -> set[str]:
        """Return the local arrays that live longer than one loop over threads."""
        inside = {id(leaf) for leaf in _looped_leaves(self.plan.steps)}
        kept = set(self.local) if self.options.watched else set()
        for name in self.local:
            names = aliases.of(self.unit, name)
            users = [f for f in plan.leaves(self.plan.steps) if names & tree.reads(f.body)]
            if len(users) > 1 or any(id(f) in inside for f in users):
                kept.add(name)
        return kept

    def shared_bytes(self) -> int:
        """Return the bytes of static shared memory of a block."""
        return sum(storage.array_bytes(d, s) for s, d in self.shared.values())

    def local_bytes(self) -> int:
        """Return the bytes of local arrays of a thread."""
        return sum(storage.array_bytes(d, s) for s, d in self.local.values())

    # ---- what stands before the loops -----------------------------------------------------

    def _parameters(self) -> list[str]:
        return [*self.arguments, "_first", "_last"] if self.options.readable else list(PARAMETERS)

    def _prologue(self) -> list[ast.stmt]:
        """Read geometry and arguments from the argument buffer."""
        new: list[ast.stmt] = []
        mark = self.rewriter.helper("control", "mark_stack")
        new.append(ast.Expr(tree.call(mark, tree.name("_context"))))
        header = tree.call(self.rewriter.helper("storage", "header"), tree.name("_args"))
        fixed = dict(zip(GEOMETRY[3:], self.options.block or (0, 0, 0), strict=True))
        known = {name: size for name, size in fixed.items() if size}
        names = [f"_{name}" if name in known else name for name in (*GEOMETRY, "_dynamic_bytes")]
        new.append(_unpack(names, header))
        new += [tree.assign(name, tree.const(size)) for name, size in known.items()]
        new += self._flat_axes()
        offset = HEADER_BYTES
        for name, kind in self.arguments.items():
            read = self.rewriter.bind(
                f"argument_{name}", storage.argument(kind, offset, distinct=self.options.distinct)
            )
            new.append(tree.assign(name, tree.call(read, tree.name("_args"))))
            offset += storage.slot_size(kind)
        return new

    def _flat_axes(self) -> list[ast.stmt]:
        """Set the thread indices for which there is no loop."""
        sizes = zip(tree.AXES, self.options.block or (0, 0, 0), strict=True)
        flat = [axis for axis, size in sizes if size == 1 and axis != "x"]
        return [tree.assign(f"threadIdx_{axis}", tree.const(0)) for axis in flat]

    def _arrays(self) -> list[ast.stmt]:
        """Lay out scratch memory: shared arrays, then what is kept once a thread."""
        if self.options.readable:
            threads = "threads = blockDim_x * blockDim_y * blockDim_z\nfirst_thread = 0"
            made = [tree.clone(s) for s in self.unit.tree.body if kinds.makes_array(s)]
            return [*self._flat_axes(), *tree.stmts(threads), *made]
        static = math.prod(self.options.block or (0,))
        if static and not self.plan.whole_grid:
            new = tree.stmts(f"threads = {static}\n_all_threads = {static}")
        else:
            static = 0
            new = tree.stmts("threads = blockDim_x * blockDim_y * blockDim_z")
            blocks = "gridDim_x * gridDim_y * gridDim_z" if self.plan.whole_grid else "1"
            new += tree.stmts(f"_all_threads = threads * ({blocks})\n_at = 0")
        scratch = _Scratch(static)
        new += self._margin(scratch)
        for name, kind in self.slot_types.items():
            self.rewriter.slots.add(name)
            new += self._lay_out(name, kind, storage.kept_bytes(kind), scratch)
            new += self._margin(scratch)
        for name in sorted(self.kept_locals):
            shape, dtype = self.local[name]
            new += self._place(name, scratch)
            size = padded(storage.array_bytes(dtype, shape))
            new += self._lay_out(f"{name}_of_all", types.uint8, size, scratch)
        for name, (shape, dtype) in self.shared.items():
            if shape != (0,):
                size = padded(storage.array_bytes(dtype, shape))
                new += self._place(name, scratch)
                blocks = "* (gridDim_x * gridDim_y * gridDim_z)" if self.plan.whole_grid else ""
                new += scratch.advance(size, f"{size} {blocks}")
                self.fixed += size
        new += self._place("_dynamic", scratch)
        if not self.plan.whole_grid:
            new += [*self._shared_arrays(), tree.assign("first_thread", tree.const(0))]
        return new

    def _lay_out(self, name: str, kind: types.Type, size: int, scratch: _Scratch) -> list[ast.stmt]:
        """Lay out and find what is kept once a thread, `size` bytes; it is reached by `thread`."""
        made = self.rewriter.bind("slots", storage.slots(kind))
        apart = self.abreast > 1 and name not in self.wide
        at = f"{scratch.now} - first_thread * {size}" if apart else scratch.now
        found = tree.assign(name, tree.call(made, tree.name("_scratch"), tree.expr(at)))
        new = self._clear(kind, scratch, size * (self.abreast if name in self.wide else 1))
        if apart:  # blocks that go on alone use the same memory, one after the other
            self.alone.append(found)
            return [*new, *self._reserve(scratch, size)]
        if name in self.wide:
            whole = padded(scratch.threads * size * self.abreast)
            self.fixed += whole
            return [*new, found, *scratch.advance(whole, "")]
        return [*new, found, *self._reserve(scratch, size)]

    def _clear(self, kind: types.Type, scratch: _Scratch, size: int) -> list[ast.stmt]:
        """Let variables that stand for arrays begin as arrays without elements.

        One that is set in one branch only may be fetched where it was never set.
        """
        if isinstance(kind, (types.Number, types.Boolean)):
            return []
        clear = self.rewriter.helper("storage", "clear")
        size_ = tree.expr(f"_all_threads * {size}")
        return [ast.Expr(tree.call(clear, tree.name("_scratch"), tree.expr(scratch.now), size_))]

    def _margin(self, scratch: _Scratch) -> list[ast.stmt]:
        """Leave room between slots: a shuffle reads beyond a warp (`runtime/shuffles.py`)."""
        self.fixed += shuffles.MARGIN
        return scratch.advance(shuffles.MARGIN, str(shuffles.MARGIN))

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
        return scratch.advance(padded(scratch.threads * size), rounded)

    def _shared_arrays(self) -> list[ast.stmt]:
        """Bind the shared arrays of the block that runs."""
        new: list[ast.stmt] = []
        block = "first_block" if self.plan.whole_grid else "0"
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

    def _tell_regions(self) -> list[ast.stmt]:
        """Tell the watch where the kernel's own arrays lie."""
        if not self.options.watched:
            return []
        new: list[ast.stmt] = []
        blocks = "gridDim_x * gridDim_y * gridDim_z" if self.plan.whole_grid else "1"
        for name, (shape, dtype) in {**self.shared, **self.local}.items():
            if shape == (0,):
                continue
            space = "shared" if name in self.shared else "local"
            stride = padded(storage.array_bytes(dtype, shape))
            itemsize = storage.array_bytes(dtype, (1,))
            copies = blocks if space == "shared" else "_all_threads"
            size = tree.expr(f"{stride} * ({copies})")
            self._region(name, space, str(dtype), itemsize, shape, stride)
            new += self._tell_region(self.places[name], size)
        dynamic = [(n, d) for n, (s, d) in self.shared.items() if s == (0,)]
        if dynamic:
            name, dtype = dynamic[0]
            sizes = [storage.array_bytes(d, (1,)) for _, d in dynamic]
            least = min(n & -n for n in sizes)
            self._region(name, "shared", str(dtype), sizes[0], (0,), 0, least)
            size = tree.expr(f"_dynamic_bytes * ({blocks})")
            new += self._tell_region(self.places["_dynamic"], size)
        return new

    def _region(self, name: str, *described: Any) -> None:
        self.regions.append(OwnRegion(name, self.unit.as_written(name), *described))

    def _tell_region(self, place: str, size: ast.expr) -> list[ast.stmt]:
        hook = self.rewriter.helper("hooks", "region")
        number = tree.const(len(self.regions) - 1)
        at = tree.expr(place)
        return [ast.Expr(tree.call(hook, *map(tree.name, ("_context",)), number,
                                   tree.name("_scratch"), at, size))]  # fmt: skip

    def _tell_block(self) -> list[ast.stmt]:
        """Tell the watch that a block begins."""
        if not self.options.watched:
            return []
        hook = self.rewriter.helper("hooks", "begin_block")
        block = ast.Tuple([tree.name("_block")], ast.Load())
        return [ast.Expr(tree.call(hook, tree.name("_context"), block))]

    def given(self) -> list[ast.stmt]:
        """Keep the first value of parameters that the kernel changes."""
        written = set(self.arguments) & tree.writes(self.unit.tree)
        return [tree.assign(f"_given_{n}", tree.name(n)) for n in sorted(written)]

    # ---- what stands before each block ----------------------------------------------------

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
        index = [tree.name(f"blockIdx_{a}") for a in tree.AXES]
        following = self.rewriter.helper("control", "next_block")
        size = [tree.name("gridDim_x"), tree.name("gridDim_y")]
        found = _unpack([f"blockIdx_{a}" for a in tree.AXES], tree.call(following, *index, *size))
        return [found, *self._enter_block(), *self._poison()]

    def _enter_block(self) -> list[ast.stmt]:
        """Note which block runs now, and stop if somebody asked for it."""
        poll = self.rewriter.helper("control", "poll")
        begin = self.rewriter.helper("control", "begin_block")
        index = [tree.name(f"blockIdx_{a}") for a in tree.AXES]
        return [
            ast.Expr(tree.call(poll, tree.name("_context"))),
            ast.Expr(tree.call(begin, tree.name("_context"), *index)),
        ]

    def _poison(self) -> list[ast.stmt]:
        """Give shared arrays a poison, but for those that are written as a whole."""
        new: list[ast.stmt] = []
        shapes = {n: s for n, (s, _) in self.shared.items()}
        watched = self.options.watched  # which must see the poison where nobody writes
        whole = set() if watched else covered.run(self.plan.steps, shapes, self.options.block)
        for name in self.shared:
            if name not in whole:
                poison = self.rewriter.helper("storage", "poison")
                new.append(ast.Expr(tree.call(poison, tree.name(name))))
        return new


def _unpack(names: list[str], value: ast.expr) -> ast.stmt:
    targets: list[ast.expr] = [tree.store(n) for n in names]
    return ast.Assign([ast.Tuple(targets, ast.Store())], value)


def padded(size: int) -> int:
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
