"""Tracks the operations of a program, and finds conflicting ones that are not ordered.

An operation happens before later ones in the same stream, before those that wait for an event
recorded after it, and before all that the host does after it has waited for it. Two operations
that access the same bytes, at least one of them writing, must be in order.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpukit.checked.finding import Finding
from gpukit.checked.ordering import call_sites, host_arrays, races
from gpukit.checked.ordering.call_sites import Place
from gpukit.checked.ordering.clocks import LEGACY, Clock, Clocks, join
from gpukit.checked.ordering.contents import Contents
from gpukit.checked.ordering.memory import (
    BOTH,
    HOST_KINDS,
    READ,
    UPDATE,
    WRITE,
    Bytes,
    Kinds,
    of_array,
)
from gpukit.cpu import streams
from gpukit.cpu.memory import allocations

_MOST = 1024  # accesses that are kept per allocation
_HELD = (allocations.PINNED, allocations.MAPPED)  # cuMemFree of other memory waits for the device
_SHARED = (allocations.PINNED, allocations.MAPPED, allocations.MANAGED)


@dataclass(frozen=True, eq=False)
class Operation:
    """Work in a stream: its number there, its description, and the line that enqueued it."""

    key: int
    number: int
    what: str
    stream: int  # its number in the order of creation, 0 for a default stream
    handle: Any  # a weak reference to the stream
    place: Place


class Access(NamedTuple):
    """An operation's access to bytes of one allocation; `name` is what it calls the array."""

    root: int
    use: str
    bytes: Bytes
    kind: str
    name: str = ""
    operation: Any = None


class Tracker:
    """The observer of a program's operations; `deliver` gets what is found outside of launches."""

    def __init__(self, deliver: Callable[[Finding], None]) -> None:
        self.kinds = Kinds()
        self._clocks = Clocks()
        self._deliver = deliver
        self._accesses: dict[int, list[Access]] = {}
        self._events: weakref.WeakKeyDictionary[Any, Clock] = weakref.WeakKeyDictionary()
        self._reported: set[Any] = set()
        self._racing: set[Operation] = set()
        self._late: list[Finding] = []
        self._known: set[int] = set()  # streams whose end is tracked
        self._contents = Contents()
        self.streams = 0  # how many besides the default ones had work
        self._lock = threading.RLock()
        self._local = threading.local()

    # ---- calls of the host ----------------------------------------------------------------------

    def copied(
        self, target: NDArray[Any], source: NDArray[Any], stream: Any, given: NDArray[Any]
    ) -> None:
        """Add a copy. The host waits as CUDA's documentation of `cuMemcpyAsync` says."""
        if not target.size:
            return
        to, of = self.kinds.of(target), self.kinds.of(source)
        if allocations.root(given) is not allocations.root(source):
            self.host_access(given, READ)  # NumPy has made it contiguous for the copy
        accesses = [*self.accesses(target, WRITE, to), *self.accesses(source, READ, of)]
        self._changed(lambda access: _overwrites(accesses, access))
        self._report(self.enqueue(_copy_in_words(to, of), stream, accesses))
        among_device = to not in HOST_KINDS and of not in HOST_KINDS
        if to == allocations.PAGEABLE or (not stream and not among_device):
            self.synchronized(stream)

    def assigned(self, target: NDArray[Any], value: Any, stream: Any) -> None:
        """Add an assignment to elements of a device array."""
        accesses = self.accesses(target, WRITE, self.kinds.of(target))
        if isinstance(value, np.ndarray):
            accesses += self.accesses(value, READ, self.kinds.of(value))
        self._report(self.enqueue("the assignment", stream, accesses))
        if not stream:
            self.synchronized(stream)

    def filled(self, target: NDArray[Any], stream: Any) -> None:
        """Add a memset, for which the host does not wait."""
        accesses = self.accesses(target, WRITE, self.kinds.of(target))
        self._report(self.enqueue("the memset", stream, accesses))

    def recorded(self, event: Any, stream: Any) -> None:
        """Record an event: it stands for the work in a stream so far."""
        with self._lock:
            self._events[event] = dict(self._clocks.before(key_of(stream)))

    def awaited(self, event: Any, stream: Any) -> None:
        """Let a stream wait for an event; one that was never recorded is done."""
        with self._lock:
            self._clocks.wait(key_of(stream), self._events.get(event, {}))

    def completed(self, event: Any) -> None:
        """Mark an event as done for the host."""
        with self._lock:
            join(self._clocks.host, self._events.get(event, {}))
        self._settle()

    def synchronized(self, stream: Any) -> None:
        """Let the host wait for a stream; for all where it is None."""
        with self._lock:
            if stream is None:
                self._clocks.synchronize_all()
            else:
                self._clocks.synchronize(key_of(stream))
        self._settle()

    def called_back(self, callback: Any, stream: Any) -> Any:
        """Return a callback ordered after the work before it, and the host after the callback.

        Later work of the stream waits for it, which here it may already have overtaken.
        """
        key = key_of(stream)
        with self._lock:
            known = dict(self._clocks.before(key))

        def run(*arguments: Any) -> None:
            self._changed(lambda access: _is_known(access, known))
            self._local.callback = key, known
            try:
                callback(*arguments)
            finally:
                self._local.callback = None
                with self._lock:
                    join(self._clocks.host, known)
                    self._contents.changed(lambda access: access.operation.key == key)

        return run

    # ---- memory of the host ---------------------------------------------------------------------

    def watched(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array whose reads and writes by the host are reported."""
        return host_arrays.watched(array)

    def locked(self, arrays: Iterable[NDArray[Any]], kind: str) -> None:
        """Remember that host memory is page-locked."""
        for array in arrays:
            if array.size:
                self.kinds.lock(array, kind)

    def unlocked(self, arrays: Iterable[NDArray[Any]]) -> None:
        """Check whether work in flight still needs the page lock."""
        for array in arrays:
            if array.size:
                self._against_host(array, races.UNLOCK)
                self.kinds.unlock(array)

    def _settle(self) -> None:
        """Check the memory of the copies that the host has just waited for."""
        self._changed(lambda access: _is_known(access, self._clocks.host))
        self.finish()

    def _changed(self, is_over: Callable[[Access], bool]) -> None:
        """Report accesses that are over if their bytes have changed meanwhile."""
        with self._lock:
            changed = self._contents.changed(is_over)
            left = [a for a in changed if a.operation not in self._racing]
            frame = call_sites.caller() if left else None
            found = [self._finding(races.host_race, a, races.CHANGE, frame) for a in left]
        self._late += filter(None, found)

    def host_access(self, array: NDArray[Any], use: str) -> None:
        """Check whether the host reads or writes what work in flight needs."""
        if array.size:
            self._against_host(array, use)

    def _against_host(self, array: NDArray[Any], use: str) -> None:
        with self._lock:
            root = _address(allocations.root(array))
            if not self._accesses.get(root):
                return
            mine, frame = of_array(array), call_sites.caller()
            clashes = [a for a in self._in_flight(root) if _clash(a.use, use, a.bytes, mine)]
            found = [self._finding(races.host_race, a, use, frame) for a in clashes]
        self._report(found)

    def _freed(self, root: int) -> None:
        """Check whether work in flight still needs host memory that was freed."""
        with self._lock:
            frame = call_sites.caller()
            self._contents.changed(lambda access: access.root == root)
            left = [a for a in self._in_flight(root) if a.kind in _HELD]
            self._accesses.pop(root, None)
            left = [a for a in left if frame is not None and a.operation not in self._racing]
            found = [self._finding(races.host_race, a, races.FREE, frame) for a in left]
        self._late += filter(None, found)  # a finalizer cannot raise

    def _in_flight(self, root: int) -> list[Access]:
        """Return the accesses of an allocation that the host has not waited for."""
        host = self._clocks.host
        left = [a for a in self._accesses.get(root, []) if not _is_known(a, host)]
        self._accesses[root] = left
        key, known = getattr(self._local, "callback", None) or (None, {})
        return [a for a in left if a.operation.key != key and not _is_known(a, known)]

    # ---- operations in streams ------------------------------------------------------------------

    def accesses(self, array: NDArray[Any], use: str, kind: str, name: str = "") -> list[Access]:
        """Return the access to all of an array; none where it can conflict with nothing."""
        if not array.size or kind == allocations.PAGEABLE:
            return []
        return [self.access(array, use, of_array(array), kind, name)]

    def access(
        self, array: NDArray[Any], use: str, touched: Bytes, kind: str, name: str = ""
    ) -> Access:
        """Return the access to some bytes of the memory that an array lies in."""
        owner = allocations.root(array)
        root = _address(owner)
        if root not in self._accesses:
            self._accesses[root] = []
            weakref.finalize(owner, self._freed, root).atexit = False
        return Access(root, use, touched, kind, name)

    def enqueue(self, what: str, stream: Any, accesses: list[Access]) -> list[Finding]:
        """Add an operation to a stream; return its races with those before it."""
        frame, key = call_sites.caller(), key_of(stream)
        with self._lock:
            clock = dict(self._clocks.before(key))
            number = self._clocks.enqueue(key)
            operation = Operation(key, number, what, *_known_by(stream), call_sites.of_frame(frame))
            mine = [a._replace(operation=operation) for a in accesses if _matters(a, key)]
            clashes = [
                (other, access)
                for access in mine
                for other in self._in_flight(access.root)
                if not _is_known(other, clock)
                and _clash(other.use, access.use, other.bytes, access.bytes)
            ]
            found = [self._finding(races.stream_race, *pair, frame) for pair in _joined(clashes)]
            self._contents.changed(lambda access: _overwrites(mine, access))
            for access in mine:
                self._keep(access)
            self._follow(key, stream)
        return [f for f in found if f is not None]

    def _keep(self, access: Access) -> None:
        """Add an access, replacing one that it subsumes."""
        kept = self._accesses[access.root]
        kept[:] = [a for a in kept if not _is_outdone(a, access)][-_MOST + 1 :]
        kept.append(access)
        if (access.use, access.kind) == (READ, allocations.PINNED):
            self._contents.keep(access)

    def _follow(self, key: int, stream: Any) -> None:
        if key > streams.PER_THREAD and key not in self._known:
            self._known.add(key)
            self.streams += 1
            weakref.finalize(stream, self._destroyed, key).atexit = False

    def _destroyed(self, key: int) -> None:
        """Forget a stream whose end the host has waited for."""
        with self._lock:
            for root in list(self._accesses):
                self._in_flight(root)
            self._clocks.forget(key)

    # ---- findings -------------------------------------------------------------------------------

    def _finding(self, make: Any, other: Access, mine: Any, frame: Any) -> Finding | None:
        """Return the finding for two accesses, once per pair of lines."""
        lines = make, other.operation.place, call_sites.of_frame(frame)
        self._racing.add(other.operation)
        if lines in self._reported:
            return None
        self._reported.add(lines)
        found: Finding = make(other, mine, frame)
        return found

    def finish(self) -> None:
        """Deliver what was found when memory was freed."""
        self._report([])

    def _report(self, found: Iterable[Finding | None]) -> None:
        late, self._late = self._late, []
        for finding in (*late, *found):
            if finding is not None:
                self._deliver(finding)


def key_of(stream: Any) -> int:
    """Return the key of a stream; the default stream has the same one under both its names."""
    handle = int(stream or streams.DEFAULT)
    if handle == streams.PER_THREAD:
        return -1 - threading.get_ident()
    return LEGACY if handle in (streams.DEFAULT, streams.LEGACY) else handle


def _known_by(stream: Any) -> tuple[int, Any]:
    """Return the number of a stream and a weak reference to it."""
    if not isinstance(stream, streams.Stream):
        return 0, lambda: None
    return stream.number, weakref.ref(stream)


def _address(owner: NDArray[Any]) -> int:
    return int(owner.__array_interface__["data"][0])


def _is_known(access: Access, clock: Clock) -> bool:
    operation = access.operation
    return bool(clock.get(operation.key, 0) >= operation.number)


def _matters(access: Access, key: int) -> bool:
    """Tell whether anything can conflict: device memory is safe in the default stream."""
    return key != LEGACY or access.kind in _SHARED


def _clash(early: str, late: str, early_bytes: Bytes, late_bytes: Bytes) -> bool:
    """Tell whether two accesses must be in order; two atomics need not be."""
    both = {early, late}
    return both not in ({READ}, {UPDATE}) and early_bytes.overlap(late_bytes)


def _overwrites(accesses: list[Access], old: Access) -> bool:
    """Tell whether an operation writes what an earlier one reads."""
    return any(_clash(old.use, a.use, old.bytes, a.bytes) for a in accesses)


def _joined(clashes: list[tuple[Access, Access]]) -> list[tuple[Access, Access]]:
    """Merge the conflicts of two operations in one allocation into one, with all uses of each."""
    pairs: dict[Any, list[tuple[Access, Access]]] = {}
    for one, two in clashes:
        pairs.setdefault((one.operation, one.root), []).append((one, two))
    return [
        tuple(
            side[0]._replace(use=_together({a.use for a in side}))
            for side in zip(*found, strict=True)
        )
        for found in pairs.values()
    ]


def _together(uses: set[str]) -> str:
    return next(iter(uses)) if len(uses) == 1 else BOTH


def _is_outdone(old: Access, new: Access) -> bool:
    """Tell whether a later access of the same line has all conflicts that an access has."""
    same = (old.operation.key, old.operation.place, old.use) == (
        new.operation.key,
        new.operation.place,
        new.use,
    )
    return same and new.bytes.covers(old.bytes)


def _copy_in_words(to: str, of: str) -> str:
    if of in HOST_KINDS:
        return "the copy to the device"
    return "the copy to the host" if to in HOST_KINDS else "the copy on the device"


__all__ = ["READ", "UPDATE", "WRITE", "Tracker"]
