"""The plan of a kernel: its loops over threads, before code is emitted.

A plan is a list of block steps. Most are `ParallelRegion`: a sequence of statements without a sync
point, run by all threads of the block, row by row (a row: the threads that differ in threadIdx.x).
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
    """Statements that each thread of a row completes before the next thread starts."""

    body: list[ast.stmt]
    forms: Forms
    mask: str | None = None


@dataclass
class RowIf:
    """A condition that is fixed along a row, and limits on threadIdx.x.

    `guards` are its parts `index < size`, which prove bounds.
    """

    tests: list[ast.expr]
    bounds: list[Bound]
    forms: Forms
    body: list[Row]
    orelse: list[Row] = field(default_factory=list)
    guards: list[tuple[Form, ast.expr]] = field(default_factory=list)


@dataclass
class RowFor:
    """A loop that all threads of a row run in lockstep, with threadIdx.x innermost; `why` says why.

    With `stride`, its body is a RowIf: the thread at x takes part if target + stride * x is
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
    """Rows for the range from first to last thread of a mask (instrumented kernels only)."""

    mask: str
    body: list[Row]


@dataclass
class RowCount:
    """A statement that is recomputed wherever its value is needed: a profile counts it here."""

    statement: ast.stmt
    mask: str | None


Row = ThreadLoop | RowIf | RowFor | RowSpan | RowCount

# ---- what is done by a block ------------------------------------------------------------------


@dataclass
class ParallelRegion:
    """Loops over the threads of the block."""

    rows: list[Row]


@dataclass
class Once:
    """A statement that is uniform in the block and runs once for it."""

    statement: ast.stmt


@dataclass
class BlockIf:
    """An `if` whose condition is uniform in the block."""

    test: ast.expr
    body: list[Step]
    orelse: list[Step] = field(default_factory=list)


@dataclass
class BlockFor:
    """A `for` loop that all threads of the block run in lockstep."""

    loop: ast.For
    body: list[Step]
    mask: str | None = None


@dataclass
class BlockWhile:
    """A `while` loop that all threads of the block run in lockstep."""

    test: ast.expr
    body: list[Step]
    loop: ast.While


@dataclass
class AnyThread:
    """Steps that are skipped if no thread is in a mask."""

    mask: str
    body: list[Step]


@dataclass
class UntilNone:
    """A loop that ends when its mask is empty; `head` removes threads from the mask."""

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
    """A syncwarp or a threadfence, which an instrumented kernel records."""

    call: ast.Call
    mask: str | None


@dataclass
class GridBarrier:
    """A barrier of the whole grid, which an instrumented kernel records."""

    call: ast.Call
    mask: str | None


@dataclass
class Branch:
    """A condition that a profile counts: the threads of `parent` in `taken`, None for all."""

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
    """A value per thread that others read: a boolean, or of the type of a variable.

    With `first` it has the type of that variable's first element.
    """

    of: str = ""
    boolean: bool = False
    first: bool = False


Step = (
    ParallelRegion
    | Once
    | BlockIf
    | BlockFor
    | BlockWhile
    | AnyThread
    | UntilNone
    | Barrier
    | Count
    | WarpBarrier
    | GridBarrier
    | Branch
)


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
        elif not isinstance(row, RowCount):
            yield from thread_loops_of(row.body)
            yield from thread_loops_of(getattr(row, "orelse", []))
