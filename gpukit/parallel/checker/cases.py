"""The gradient of one parameter in one update: on every rank, in one process, and its exchanges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpukit.parallel.checker import memory
from gpukit.parallel.checker.findings import Place
from gpukit.parallel.checker.memory import Host, Slot
from gpukit.parallel.checker.operations import Operation
from gpukit.parallel.checker.recording import Trace
from gpukit.parallel.checker.steps import Update

# How far a float32 gradient may be from that of one process, relative to its largest element: sums
# are added in another order there.
TOLERANCE = 1e-3


@dataclass
class Case:
    """What is known of the gradient of one parameter in one update.

    `found` has the gradient that the optimizer used by rank, `expected` is that of one process;
    `local` the gradients before the first exchange, where all ranks have them. A parameter that is
    `split` over the ranks is put together, as that of rank 0. Below `floor` a gradient is rounding
    errors: that of a bias of attention keys is zero, were it not for these.
    """

    name: str
    step: int
    found: dict[int, Host]
    expected: Host | None
    places: dict[int, Place]
    exchanges: dict[int, list[Operation]] = field(default_factory=dict)
    later: dict[int, list[Operation]] = field(default_factory=dict)
    local: dict[int, Host] | None = None
    previous: dict[int, Host] = field(default_factory=dict)
    slots: dict[int, Slot] = field(default_factory=dict)
    split: bool = False
    floor: float = 0.0

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that hold the parameter."""
        return tuple(self.slots)

    @property
    def scale(self) -> float:
        """What differences are relative to."""
        known = [*(self.local or self.found).values()]
        known += [self.expected] if self.expected is not None else []
        return max(self.floor, *(float(np.abs(each).max(initial=0)) for each in known))

    def close(self, a: Host, b: Host) -> bool:
        """Return whether two gradients are equal up to rounding."""
        return memory.close(a, b, self.scale, TOLERANCE)

    @property
    def agree(self) -> bool:
        """Whether all ranks have the same gradient."""
        first, *others = self.found.values()
        return all(self.close(first, other) for other in others)

    @property
    def place(self) -> Any:
        """The line of the last exchange, or else of the update."""
        made = self.reductions(self.ranks[0])
        return made[-1][2] if made else self.update

    @property
    def update(self) -> Place:
        """The line of the update."""
        return next(iter(self.places.values()))

    @property
    def at_update(self) -> str:
        """Where the update is, as ` in line 12`; nothing where it was not seen."""
        return f" in line {self.update.line}" if self.update.line else ""

    def part(self, operation: Operation, numbers: Host | None) -> Host | None:
        """Return the parameter's part of what an operation exchanged."""
        region, slot = operation.region, self.slots[operation.rank]
        if numbers is None or region is None or region.first > slot.first or region.end < slot.end:
            return None
        first = slot.first - region.first
        return numbers.ravel()[first : first + slot.end - slot.first].reshape(slot.shape)

    def reductions(self, rank: int) -> list[tuple[Host, Host, Operation]]:
        """Return the numbers before and after each whole exchange on a rank, in order."""
        made = []
        for operation in self.exchanges.get(rank, []):
            before = self.part(operation, operation.before)
            after = self.part(operation, operation.after)
            if before is not None and after is not None:
                if operation.call.operation == "all_reduce":
                    made.append((before, after, operation))
        return made


def history(trace: Trace, model: int) -> list[Update]:
    """Return the updates of a model that were followed; without any, its state at the end."""
    made = [update for update in trace.updates[model] if update.grad is not None]
    return made or trace.ends[model : model + 1]


def case(
    name: str,
    step: int,
    slots: dict[int, Slot],
    traces: list[Trace],
    expected: Host | None,
    axis: int | None,
) -> Case:
    """Return the case of a parameter in update number `step`, from 0."""
    found, places, previous = {}, {}, {}
    exchanges, later = {}, {}
    for rank, slot in slots.items():
        updates = history(traces[rank], slot.model)
        update = updates[step]
        assert update.grad is not None
        found[rank], places[rank] = slot.of(update.grad), update.place
        begin = 0
        if step:
            before = updates[step - 1]
            begin = before.mark
            if before.grad is not None:
                previous[rank] = slot.of(before.grad)
        end = updates[step + 1].mark if step + 1 < len(updates) else None
        operations = traces[rank].operations
        exchanges[rank] = _of(operations[begin : update.mark], slot)
        later[rank] = _of(operations[update.mark : end], slot)
    if axis is not None:
        whole = np.concatenate(list(found.values()), axis=axis)
        first = min(found)
        return Case(name, step + 1, {first: whole}, expected, places, slots=slots, split=True)
    made = Case(name, step + 1, found, expected, places, exchanges, later, None, previous, slots)
    local = {rank: _local(made, rank) for rank in slots}
    if all(each is not None for each in local.values()):
        made.local = {rank: each for rank, each in local.items() if each is not None}
    return made


def _of(operations: list[Operation], slot: Slot) -> list[Operation]:
    return [o for o in operations if o.region is not None and slot.grad.holds(o.region)]


def _local(made: Case, rank: int) -> Host | None:
    """Return the gradient of a rank before its first exchange."""
    if not made.exchanges[rank]:
        return made.found[rank]
    first = made.exchanges[rank][0]
    if first.flat is not None:
        return made.slots[rank].of(first.flat)
    return made.part(first, first.before)
