"""The plan of a kernel: which loops over threads it becomes, before any code is written.

A plan is a list of block steps. Most are `ParallelRegion`: a run of statements without a sync
point, done by all threads of the block, row by row (a row: the threads that differ in threadIdx.x).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from gpukit.compiler.analysis.affine import Bound, Form, Forms

# ---- what is done along one row ---------------------------------------------------------------


@dataclass
class ThreadLoop:
    """Statements that each thread of a row runs to the end before the next thread starts."""

    body: list[ast.stmt]
    forms: Forms
    mask: str | None = None


@dataclass
class RowIf:
    """A condition that is fixed along a row, and limits on threadIdx.x.

    `guards` are the parts `index < size` of it, for what they prove.
    """

    tests: list[ast.expr]
    bounds: list[Bound]
    forms: Forms
    body: list[Row]
    orelse: list[Row] = field(default_factory=list)
    guards: list[tuple[Form, ast.expr]] = field(default_factory=list)


@dataclass
class RowFor:
    """A loop that all threads of a row run in step: threadIdx.x is the inner loop, for `why`.

    With `stride`, its body is a RowIf: the thread at x takes part where target + stride * x is
    below the end of the range.
    """

    target: str
    iter: ast.expr
    forms: Forms
    body: list[Row]
    stride: int = 0
    why: str = ""


@dataclass
class RowSpan:
    """What the threads of a mask do, first to last (instrumented kernels only)."""

    mask: str
    body: list[Row]


Row = ThreadLoop | RowIf | RowFor | RowSpan

# ---- what is done by a block ------------------------------------------------------------------


@dataclass
class ParallelRegion:
    """Loops over the threads of the block."""

    rows: list[Row]


@dataclass
class Once:
    """A statement that gives the same for all threads and is run once for the block."""

    statement: ast.stmt


@dataclass
class BlockIf:
    """An `if` whose condition is the same for all threads of the block."""

    test: ast.expr
    body: list[Step]
    orelse: list[Step] = field(default_factory=list)


@dataclass
class BlockFor:
    """A `for` loop that all threads of the block run in step."""

    loop: ast.For
    body: list[Step]
    mask: str | None = None


@dataclass
class BlockWhile:
    """A `while` loop that all threads of the block run in step."""

    test: ast.expr
    body: list[Step]
    loop: ast.While


@dataclass
class AnyThread:
    """Steps that are skipped when no thread is left in a mask."""

    mask: str
    body: list[Step]


@dataclass
class UntilNone:
    """A loop that ends when no thread is left in its mask; `head` takes threads out of it."""

    mask: str
    head: list[Step]
    body: list[Step]
    loop: ast.While


@dataclass
class Barrier:
    """A barrier; with a mask, all threads that have not returned must be in it."""

    call: ast.Call
    mask: str | None


@dataclass
class WarpBarrier:
    """A syncwarp, or a threadfence, of which an instrumented kernel takes note."""

    call: ast.Call
    mask: str | None


@dataclass
class GridBarrier:
    """A barrier of the whole grid, of which an instrumented kernel takes note."""

    call: ast.Call
    mask: str | None


@dataclass
class Branch:
    """A condition that a profile counts: who of `parent` is in `taken`; None for all or alike."""

    node: ast.stmt
    taken: str | None
    parent: str | None
    when: str = ""  # of a loop, whose mask is both: "before" or "after" its condition


@dataclass
class Count:
    """syncthreads_count, _and or _or over published values."""

    target: str
    kind: str
    values: str
    mask: str | None


class Published(NamedTuple):
    """What threads put where others can see it: a boolean, or a value of the type of a variable.

    With `first` it is of the type of that variable's first part.
    """

    of: str = ""
    boolean: bool = False
    first: bool = False


Step = (
    ParallelRegion | Once | BlockIf | BlockFor | BlockWhile | AnyThread | UntilNone | Barrier |
    Count | WarpBarrier | GridBarrier | Branch
)  # fmt: skip


def thread_loops(steps: list[Step]) -> Iterator[ThreadLoop]:
    """Yield every thread loop of a plan."""
    for step in steps:
        if isinstance(step, ParallelRegion):
            yield from thread_loops_of(step.rows)
        for name in ("head", "body", "orelse"):
            yield from thread_loops(getattr(step, name, []))


def thread_loops_of(rows: list[Row]) -> Iterator[ThreadLoop]:
    """Yield every thread loop below some rows."""
    for row in rows:
        if isinstance(row, ThreadLoop):
            yield row
        else:
            yield from thread_loops_of(row.body)
            yield from thread_loops_of(getattr(row, "orelse", []))
