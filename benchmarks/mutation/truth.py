"""The faults of a mutant, found without checked mode: by the oracle and brute force.

The oracle (tests/oracle) runs the kernel's own Python, one generator per thread, and shares no code
with the compiler. Here it records every access: thread, address, and synchronization epoch. The
faults follow from comparing all pairs of accesses.

This decides which mutants a perfect checker could find: those with at least one fault. The others
only compute wrong values.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.mutation import cases, mutants
from gpukit import launch
from tests import oracle
from tests.oracle import arithmetic, interpreter, memory, transform

# The faults, and the classes of findings that report them.
FAULTS = {
    "outside": {"out-of-bounds"},
    "negative": {"negative-index"},
    "race": {"shared-race", "global-race", "warp-race", "atomic-race", "same-value-race"},
    "unset": {"uninitialised-shared", "uninitialised-local", "uninitialised-global"},
    "unwritten": {"never-written"},
    "diverged": {"barrier-divergence", "warp-mask"},
    # A thread that leaves a loop with a barrier has returned, or diverged.
    "returned": {"barrier-after-return", "barrier-divergence"},
    # A shuffle's source lane has left the kernel, or is at another point.
    "absent": {"shuffle-source", "warp-mask", "barrier-after-return"},
    "wide": {"float64"},
}


@dataclass(frozen=True)
class Access:
    """One access: `epoch` counts barriers of the block, `turn` synchronizations of the warp."""

    block: tuple[int, ...]
    thread: int
    epoch: int
    turn: int
    writes: bool
    atomic: bool

    def clashes(self, other: Access) -> bool:
        """Tell whether two accesses are unordered, at least one writes, and not both are atomic."""
        if not (self.writes or other.writes) or (self.atomic and other.atomic):
            return False
        if self.block != other.block:
            return True
        warp = self.thread // 32 == other.thread // 32
        ordered = self.epoch != other.epoch or (warp and self.turn != other.turn)
        return self.thread != other.thread and not ordered


@dataclass
class Record:
    """The record of one launch."""

    narrow: bool
    thread: Any = None
    atomic: bool = False
    faults: set[str] = field(default_factory=set)
    touched: dict[int, set[Access]] = field(default_factory=lambda: defaultdict(set))
    unset: set[int] = field(default_factory=set)
    kept: list[Any] = field(default_factory=list)
    epochs: dict[Any, int] = field(default_factory=lambda: defaultdict(int))
    turns: dict[Any, int] = field(default_factory=lambda: defaultdict(int))

    def made(self, array: Any) -> None:
        """Record an uninitialized array and keep it alive, so that no address is reused."""
        self.kept.append(array)
        start = array.__array_interface__["data"][0]
        self.unset.update(range(start, start + array.nbytes))

    def access(self, array: Any, index: Any, *, writes: bool) -> None:
        """Record one load or store."""
        if any(isinstance(i, int) and i < 0 for i in index):
            self.faults.add("negative")
        at = _address(array, index)
        if at is None or self.thread is None:
            return
        if writes:
            self.unset.difference_update(range(at, at + array.itemsize))
        elif at in self.unset:
            self.faults.add("unset")
        block, warp = self.thread.block, (self.thread.block.index, self.thread.warp)
        self.touched[at].add(
            Access(
                block.index,
                self.thread.number,
                self.epochs[block.index],
                self.turns[warp],
                writes,
                self.atomic,
            )
        )

    def races(self) -> bool:
        """Tell whether any two accesses to one address clash."""
        return any(
            first.clashes(second)
            for accesses in self.touched.values()
            for first in accesses
            if first.writes
            for second in accesses
        )

    def unwritten(self, array: Any) -> bool:
        """Tell whether an array that is only written has an unwritten element."""
        seen = [self.touched.get(at, set()) for at in _addresses(array)]
        read = any(not access.writes or access.atomic for places in seen for access in places)
        return not read and not all(seen)


def _address(array: Any, index: tuple[Any, ...]) -> int | None:
    """Return the address of an element; None for a slice."""
    if len(index) < array.ndim or any(isinstance(i, slice) for i in index):
        return None
    steps = zip(index, array.shape, array.strides, strict=True)
    start = array.__array_interface__["data"][0]
    return int(start + sum((i % size) * stride for i, size, stride in steps))


def _addresses(array: Any) -> Iterator[int]:
    start = array.__array_interface__["data"][0]
    return iter(range(start, start + array.nbytes, array.itemsize))


@contextlib.contextmanager
def _observing(record: Record) -> Iterator[None]:
    """Let the oracle record its accesses inside a `with` block."""
    step, release = interpreter.Thread.step, interpreter.Block._release
    answer, poisoned, atomic = interpreter._answer, memory.poisoned, memory.atomic
    binary = arithmetic.binary

    class Watched(memory.View):
        def __getitem__(self, key: Any) -> Any:
            record.access(self.array, self._index(key), writes=False)
            return super().__getitem__(key)

        def __setitem__(self, key: Any, value: Any) -> None:
            index = self._index(key)
            record.access(self.array, index, writes=True)
            if record.narrow and isinstance(value, float) and self.dtype == np.float32:
                record.faults.add("wide")
            super().__setitem__(key, value)

    def watched_step(self: Any) -> None:
        record.thread = self
        step(self)

    def watched_release(self: Any, name: str, live: list[Any]) -> None:
        record.epochs[self.index] += 1
        if len(live) < len(self.threads):
            record.faults.add("returned")
        release(self, name, live)

    def watched_answer(name: str, group: list[Any]) -> None:
        record.turns[group[0].block.index, group[0].warp] += 1
        answer(name, group)

    def watched_poisoned(shape: Any, dtype: Any) -> Any:
        view = poisoned(shape, dtype)
        record.made(view.array)
        return Watched(view.array)

    def watched_atomic(*args: Any) -> Any:
        record.atomic = True
        try:
            return atomic(*args)
        finally:
            record.atomic = False

    def watched_binary(op: str, a: Any, b: Any) -> Any:
        result = binary(op, a, b)
        if record.narrow and isinstance(result, float):  # np.float64 is a float, float32 is not
            record.faults.add("wide")
        return result

    with contextlib.ExitStack() as stack:
        for place, name, new in (
            (interpreter, "View", Watched),
            (memory, "View", Watched),
            (transform, "View", Watched),
            (interpreter.Thread, "step", watched_step),
            (memory, "poisoned", watched_poisoned),
            (interpreter.Block, "_release", watched_release),
            (memory, "atomic", watched_atomic),
            (interpreter, "_answer", watched_answer),
            (arithmetic, "binary", watched_binary),
        ):
            stack.enter_context(mock.patch.object(place, name, new))
        yield


def of_launch(kernel: Any, case: cases.Case) -> set[str]:
    """Return the faults of a launch."""
    given = case.make()
    arguments = tuple(a.copy_to_host() if launch.is_device_array(a) else a for a in given)
    floats = [a.dtype for a in arguments if isinstance(a, np.ndarray) and a.dtype.kind == "f"]
    record = Record(narrow=bool(floats) and all(dtype == np.float32 for dtype in floats))
    for before, after in zip(given, arguments, strict=True):
        if before is not after:  # device arrays of a case are uninitialized
            record.made(after)
    grid, block, *rest = case.shape
    with _observing(record):
        try:
            shared = rest[1] if len(rest) > 1 else 0
            oracle.launch(kernel, grid, block, *arguments, shared_bytes=shared)
        except oracle.OutOfBounds:
            record.faults.add("outside")
        except oracle.UndefinedValue:
            record.faults.add("absent")
        except oracle.OracleError:
            record.faults.add("diverged")
        else:
            if any(record.unwritten(arguments[at]) for at in case.expected):
                record.faults.add("unwritten")
    if record.races():
        record.faults.add("race")
    return record.faults


def of(mutant: mutants.Mutant) -> tuple[str, ...]:
    """Return the faults of a mutant in the launches of its kernel that the oracle can run."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = mutants.build(mutant, Path(folder))
        launches = cases.find(mutant.kernel)
        found = set().union(*(of_launch(kernel, case) for case in launches if case.interpreted))
    return tuple(fault for fault in FAULTS if fault in found)
