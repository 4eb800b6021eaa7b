"""Which accesses race, by brute force: every access is compared with every earlier one.

Each thread has a vector clock: of every thread of the grid, how many of its accesses have surely
happened before what this thread does now. Barriers join the clocks of those who meet; an atomic
takes over what the atomics before it on the same element gave away, and gives away what its thread
knew at its last fence.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

LOAD, STORE, UPDATE = range(3)
NONE, WARP, FULL = range(3)  # no race; only with lanes of the same warp; with others
Clock = "np.ndarray[tuple[int], np.dtype[np.int64]]"


class Access(NamedTuple):
    """Who did what, as the how manieth of its accesses."""

    actor: int
    count: int
    kind: int


class Grid:
    """Blocks of threads, what each thread knows, and every access so far."""

    def __init__(self, blocks: int, threads: int) -> None:
        self.threads = threads
        self.clocks = np.zeros((blocks * threads, blocks * threads), np.int64)
        self.met = np.zeros_like(self.clocks)  # the same, but for what atomics told
        self.fenced = np.zeros_like(self.clocks)
        self.given: dict[int, Clock] = {}
        self.seen: dict[int, list[Access]] = defaultdict(list)

    def meet(self, block: int, threads: list[int]) -> None:
        """Let some threads of a block wait for each other."""
        actors = [block * self.threads + t for t in threads]
        for known in (self.clocks, self.met, self.fenced):
            known[actors] = known[actors].max(axis=0)

    def fence(self, block: int, thread: int) -> None:
        """Let a thread's next atomics give away what it knows now."""
        actor = block * self.threads + thread
        self.fenced[actor] = np.maximum(self.fenced[actor], self.clocks[actor])

    def access(
        self, block: int, thread: int, element: int, kind: int, *, depends: bool = False
    ) -> int:
        """Add an access and return how it races: NONE, WARP or FULL.

        Only one that `depends` on what an atomic returned is put in order by atomics.
        """
        actor = block * self.threads + thread
        self.clocks[actor, actor] += 1
        self.met[actor, actor] += 1
        worst = NONE
        for k, other in enumerate(self.seen[element]):
            clash = STORE in (kind, other.kind) or {kind, other.kind} == {LOAD, UPDATE}
            if clash and not self._in_order(element, k, actor, depends):
                near = other.actor // self.threads == block
                near &= other.actor % self.threads // 32 == thread // 32
                worst = max(worst, WARP if near else FULL)
        self.seen[element].append(Access(actor, int(self.clocks[actor, actor]), kind))
        if kind == UPDATE:
            given = self.given.get(element, self.fenced[actor])
            self.clocks[actor] = np.maximum(self.clocks[actor], self.given.get(element, 0))
            self.given[element] = np.maximum(given, self.fenced[actor])
        return worst

    def _in_order(self, element: int, k: int, actor: int, depends: bool) -> bool:
        """Tell whether the k-th access of an element has surely happened before what comes now.

        An atomic has seen all those before it on the same element.
        """
        known = self.clocks if depends else self.met
        accesses = self.seen[element]
        later = [a for a in accesses[k:] if a.kind == UPDATE and accesses[k].kind == UPDATE]
        chain = later if depends else []
        return any(bool(known[actor, a.actor] >= a.count) for a in [accesses[k], *chain])
