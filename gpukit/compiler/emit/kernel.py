"""The state that the emitters of one kernel share: plan, options, rewriter, known ranges."""

from __future__ import annotations

from dataclasses import dataclass

from numba.core import types

from gpukit.compiler import tree
from gpukit.compiler.analysis import ranges
from gpukit.compiler.lowering import rewrite, schedule
from gpukit.compiler.unit import Unit


@dataclass(frozen=True)
class Options:
    """What a kernel is specialised for besides the types of its arguments.

    `block` is the block shape if it is fixed, `distinct` promises that no two array arguments
    overlap.
    """

    block: tuple[int, int, int] | None
    distinct: bool
    boundscheck: bool = True
    readable: bool = False
    instrumented: str = ""  # as `Unit.instrumented`


class Kernel:
    """One kernel being emitted from its plan; `width` is that of the current rows."""

    def __init__(
        self,
        unit: Unit,
        schedule: schedule.Schedule,
        arguments: dict[str, types.Type],
        options: Options,
    ) -> None:
        self.unit = unit
        self.schedule = schedule
        self.arguments = arguments
        self.options = options
        self.rewriter = rewrite.Rewriter(
            unit, readable=options.readable, boundscheck=options.boundscheck
        )
        self.rewriter.instrumented = options.instrumented
        if unit.returned in schedule.live_across:
            self.rewriter.returned = self.kept(unit.returned)
        kept = {n: t for n, t in arguments.items() if n not in tree.writes(unit.tree)}
        axes = {n: t.ndim for n, t in kept.items() if isinstance(t, types.Array)}
        self.ranges = ranges.Ranges(options.block, axes)
        self.width = tree.name("blockDim_x")

    def kept(self, name: str) -> str:
        """Return the name of the thread array that stores a variable for each thread."""
        return self.unit.named("{}_of", name)
