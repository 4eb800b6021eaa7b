"""What a launch reads and writes, as an operation in its stream.

Device, mapped and managed arrays are accessed by the kernel, element by element. A NumPy array is
copied to the device before the launch and back after it, as Numba does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpukit.checked.finding import Finding
from gpukit.checked.instrumented import Launch
from gpukit.checked.ordering.clocks import LEGACY
from gpukit.checked.ordering.memory import HOST_KINDS, READ, UPDATE, WRITE, of_flags
from gpukit.checked.ordering.tracker import Access, Tracker, key_of
from gpukit.checked.segments import Segment
from gpukit.checked.state import Seen
from gpukit.compiler import checker_state
from gpukit.cpu import operations
from gpukit.cpu.memory import allocations


def notes_reads(stream: Any, segment: Segment) -> bool:
    """Tell whether a segment's reads are wanted, even where the launch writes nothing in it."""
    tracker = operations.observer()
    if not isinstance(tracker, Tracker) or segment.space != "global":
        return False
    kind = tracker.kinds.of(segment.arrays[0].host)
    shared = kind in (allocations.MAPPED, allocations.MANAGED)
    return shared or (kind == allocations.DEVICE and key_of(stream) != LEGACY)


def add(launch: Launch, seen: Seen) -> list[Finding]:
    """Add a checked launch to the operations of the program; return its races."""
    tracker = operations.observer()
    if not isinstance(tracker, Tracker):
        return []
    stream = launch.shape.stream
    copies = list(_copies(tracker, launch))
    if copies and not stream:
        tracker.synchronized(stream)  # each is copied in before the launch
    accesses = [a for r in seen.segments for a in _accesses(tracker, r, seen)]
    accesses += [a for copy in copies for a in copy.accesses(tracker)]
    what = f"the launch of `{launch.kernel.py_func.__name__}`"
    found = tracker.enqueue(what, stream, accesses)
    waits = any(c.out and (not stream or c.kind == allocations.PAGEABLE) for c in copies)
    if waits or launch.kernel.targetoptions.get("debug"):
        tracker.synchronized(stream)
    return found


class _Copy(NamedTuple):
    """A NumPy argument, and whether it is copied to the device and back."""

    name: str
    host: NDArray[Any]
    kind: str
    to: bool
    out: bool

    def accesses(self, tracker: Tracker) -> list[Access]:
        uses = ((WRITE, self.out), (READ, self.to))
        return [
            a
            for use, is_so in uses
            if is_so
            for a in tracker.accesses(self.host, use, self.kind, self.name)
        ]


def _copies(tracker: Tracker, launch: Launch) -> Iterator[_Copy]:
    outputs = launch.kernel.outputs
    for name, value in zip(launch.names, launch.arguments, strict=False):
        back = outputs is None or name in outputs
        yield from _copies_of(tracker, name, value, True, back)


def _copies_of(tracker: Tracker, name: str, value: Any, to: bool, back: bool) -> Iterator[_Copy]:
    if isinstance(value, tuple):
        for k, part in enumerate(value):
            yield from _copies_of(tracker, f"{name}[{k}]", part, to, back)
    elif hasattr(value, "copy_out") and hasattr(value, "value"):  # cuda.In, Out, InOut
        yield from _copies_of(tracker, name, value.value, value.copy_in, value.copy_out)
    elif isinstance(value, np.ndarray) and value.size:
        kind = tracker.kinds.of(value)
        if kind in HOST_KINDS:
            yield _Copy(name, np.asarray(value), kind, to, back)


def _accesses(tracker: Tracker, segment: Segment, seen: Seen) -> Iterator[Access]:
    """Yield a launch's accesses to a segment of device memory."""
    if segment.space != "global":
        return
    first, array = segment.arrays[0], segment.arrays[0].host
    kind = tracker.kinds.of(array)
    if kind == allocations.PAGEABLE and first.on_device:  # a copy that Python made
        kind = allocations.DEVICE
    if kind in HOST_KINDS:
        return
    if kind == allocations.DEVICE and key_of(seen.shape.stream) == LEGACY:
        return
    for use, flags in _uses(segment, seen.first_epoch << checker_state.EPOCH):
        touched = of_flags(flags, segment.begin, segment.granule)
        if touched is not None:
            yield tracker.access(array, use, touched, kind, first.name)


def _uses(segment: Segment, begin: int) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield, for each kind of use, which cells of a segment the launch used that way."""
    writes, reads = segment.cells[:, : segment.cell_count]
    written = writes >= begin
    plain = checker_state.ATOMIC | checker_state.PLAIN
    atomic = written & ((writes & plain) == checker_state.ATOMIC)
    yield WRITE, written & ~atomic
    yield UPDATE, atomic
    yield READ, reads >= begin
