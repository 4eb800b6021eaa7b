"""Race detection by brute force: every access is compared with every earlier one.

Each thread has a vector clock: for every thread of the grid, how many of its accesses happen before
this thread's next one. A barrier joins the clocks of the threads that synchronize. An atomic
acquires the clocks that earlier atomics on the same element released, and releases its thread's
clock as of the last fence.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

LOAD, STORE, UPDATE = range(3)
NONE, WARP, FULL = range(3)  # no race; only with lanes of the same warp; with other threads
Clock = "np.ndarray[tuple[int], np.dtype[np.int64]]"


class Access(NamedTuple):
    """An access: its thread, the number of the thread's accesses so far, and its kind."""

    actor: int
    count: int
    kind: int


class Grid:
    """Blocks of threads, the vector clocks of each thread, and every access so far."""

    def __init__(self, blocks: int, threads: int) -> None:
        self.threads = threads
        self.clocks = np.zeros((blocks * threads, blocks * threads), np.int64)
        self.synced = np.zeros_like(self.clocks)  # the clocks by barriers alone, without atomics
        self.fenced = np.zeros_like(self.clocks)
        self.released: dict[int, Clock] = {}
        self.seen: dict[int, list[Access]] = defaultdict(list)

    def synchronize(self, block: int, threads: list[int]) -> None:
        """Synchronize some threads of a block."""
        actors = [block * self.threads + t for t in threads]
        for known in (self.clocks, self.synced, self.fenced):
            known[actors] = known[actors].max(axis=0)

    def fence(self, block: int, thread: int) -> None:
        """Let a thread's next atomics release its present clock."""
        actor = block * self.threads + thread
        self.fenced[actor] = np.maximum(self.fenced[actor], self.clocks[actor])

    def access(
        self, block: int, thread: int, element: int, kind: int, *, depends: bool = False
    ) -> int:
        """Add an access and return how it races: NONE, WARP or FULL.

        Atomics order only an access that `depends` on the result of one.
        """
        actor = block * self.threads + thread
        self.clocks[actor, actor] += 1
        self.synced[actor, actor] += 1
        worst = NONE
        for k, other in enumerate(self.seen[element]):
            clash = STORE in (kind, other.kind) or {kind, other.kind} == {LOAD, UPDATE}
            if clash and not self._in_order(element, k, actor, depends):
                near = other.actor // self.threads == block
                near &= other.actor % self.threads // 32 == thread // 32
                worst = max(worst, WARP if near else FULL)
        self.seen[element].append(Access(actor, int(self.clocks[actor, actor]), kind))
        if kind == UPDATE:
            released = self.released.get(element, self.fenced[actor])
            self.clocks[actor] = np.maximum(self.clocks[actor], self.released.get(element, 0))
            self.released[element] = np.maximum(released, self.fenced[actor])
        return worst

    def _in_order(self, element: int, k: int, actor: int, depends: bool) -> bool:
        """Return whether the k-th access of an element happens before the actor's next one.

        An atomic is ordered after all earlier ones on the same element.
        """
        known = self.clocks if depends else self.synced
        accesses = self.seen[element]
        later = [a for a in accesses[k:] if a.kind == UPDATE and accesses[k].kind == UPDATE]
        chain = later if depends else []
        return any(bool(known[actor, a.actor] >= a.count) for a in [accesses[k], *chain])
