"""The operations that a host program requests of the device, for an observer of their order.

On the CPU target each is done when its call returns. Checked mode (`checked/ordering/`) tracks what
a GPU would do later, and in which order; the target enables it, and without an observer
nothing is recorded.
"""

from __future__ import annotations

from typing import Any, Protocol

from gpukit import target


class Observer(Protocol):
    """The callbacks for every operation; a `stream` of 0 is the synchronous form of a call."""

    def copied(self, target: Any, source: Any, stream: Any, given: Any) -> None:
        """Bytes are copied from `source` to `target`; `source` may be a host copy of `given`."""

    def assigned(self, target: Any, value: Any, stream: Any) -> None:
        """Elements of a device array are set to a value or to the elements of another array."""

    def filled(self, target: Any, stream: Any) -> None:
        """Bytes of device memory are set to one value."""

    def recorded(self, event: Any, stream: Any) -> None:
        """An event is recorded in a stream."""

    def awaited(self, event: Any, stream: Any) -> None:
        """Later work in a stream waits for an event."""

    def completed(self, event: Any) -> None:
        """The host knows that all work before an event is done."""

    def synchronized(self, stream: Any) -> None:
        """The host has waited for a stream; None stands for all streams."""

    def called_back(self, callback: Any, stream: Any) -> Any:
        """Return the callback to be called when the work before it in a stream is done."""

    def watched(self, array: Any) -> Any:
        """Return new memory that host and device access, as an array that reports host accesses."""

    def locked(self, arrays: Any, kind: str) -> None:
        """Host arrays are page-locked, and mapped where the kind says so."""

    def unlocked(self, arrays: Any) -> None:
        """The page lock of host arrays is lifted."""


_OF_THE_TARGET: Any = object()
_observer: Any = _OF_THE_TARGET


def observe(observer: Observer | None) -> Observer | None:
    """Let an observer see every operation from now on, None for none; return the previous one.

    Initially it is the target's (`target.observers`).
    """
    global _observer
    before, _observer = _observer, observer
    return before  # type: ignore[no-any-return]


def observer() -> Observer | None:
    """Return the observer, or None."""
    if _observer is not _OF_THE_TARGET:
        return _observer  # type: ignore[no-any-return]
    found = target.observers()
    return None if found is None else found.order()


def copied(target: Any, source: Any, stream: Any, given: Any) -> None:
    """Report a copy, as `Observer.copied` takes it."""
    if (found := observer()) is not None:
        found.copied(target, source, stream, given)


def assigned(target: Any, value: Any, stream: Any) -> None:
    """Report an assignment to elements, as `Observer.assigned` takes it."""
    if (found := observer()) is not None:
        found.assigned(target, value, stream)
