"""Happens-before of streams, events and the host, kept as vector clocks.

A clock holds for each stream how many of its operations are known to be done. What the host knows
holds for everything that it enqueues later. The legacy default stream waits for all other streams,
and they wait for it: Numba creates no non-blocking streams.
"""

from __future__ import annotations

Clock = dict[int, int]
LEGACY = 0  # the key of the legacy default stream


def join(clock: Clock, other: Clock) -> None:
    """Merge another clock into this one.

    >>> clock = {1: 4, 2: 1}; join(clock, {2: 3, 5: 1}); clock
    {1: 4, 2: 3, 5: 1}
    """
    for key, number in list(other.items()):  # memory may be freed meanwhile, and a stream forgotten
        if number > clock.get(key, 0):
            clock[key] = number


class Clocks:
    """The clock of the host and, by its key, that of each stream."""

    def __init__(self) -> None:
        self.host: Clock = {}
        self._streams: dict[int, Clock] = {}

    def before(self, key: int) -> Clock:
        """Return what is done before the next operation of a stream begins."""
        clock = self._streams.setdefault(key, {})
        join(clock, self.host)
        for other, known in list(self._streams.items()):
            if LEGACY in (key, other) and known is not clock:
                join(clock, known)
        return clock

    def enqueue(self, key: int) -> int:
        """Add an operation to a stream; return its number there."""
        clock = self.before(key)
        clock[key] = clock.get(key, 0) + 1
        return clock[key]

    def wait(self, key: int, clock: Clock) -> None:
        """Let later operations of a stream wait for the operations in a clock."""
        join(self.before(key), clock)

    def synchronize(self, key: int) -> None:
        """Let the host wait for a stream."""
        join(self.host, self.before(key))

    def synchronize_all(self) -> None:
        """Let the host wait for all streams."""
        for clock in list(self._streams.values()):
            join(self.host, clock)

    def forget(self, key: int) -> None:
        """Drop a stream that can no longer be used, if the host has waited for all of it."""
        clock = self._streams.get(key, {})
        if key != LEGACY and clock.get(key, 0) <= self.host.get(key, 0):
            self._streams.pop(key, None)
            for known in (self.host, *self._streams.values()):
                known.pop(key, None)
