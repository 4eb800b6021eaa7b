"""Count what the ranks of an answer send: messages and collective operations, and their bytes.

What counts is the rank that does most of it: all of them work at the same time.
"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

# What a contract can measure, in words.
MEASURES = {
    "messages": "messages sent by a rank",
    "message_bytes": "bytes sent by a rank in messages",
    "collectives": "collective operations of a rank",
    "collective_bytes": "bytes of a rank's arrays in collective operations",
}


class Counts:
    """Counts per measure of each rank, and of each line of the answer."""

    def __init__(self) -> None:
        self.ranks: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self.lines: defaultdict[str, Counter[int]] = defaultdict(Counter)

    def add(self, group: Any, call: Any, _array: Any) -> None:
        """Count a call; `World.observer` gets every one."""
        if call.operation == "recv":
            return
        kind = "message" if call.operation == "send" else "collective"
        size = 0
        if call.shape is not None:
            size = int(np.prod(call.shape)) * np.dtype(call.dtype).itemsize
        for measure, amount in ((f"{kind}s", 1), (f"{kind}_bytes", size)):
            self.ranks[measure][group.world.rank] += amount
            self.lines[measure][call.line] += amount

    def most(self) -> dict[str, int]:
        """Return, for each measure, the count of the rank that has most."""
        return {measure: max(self.ranks[measure].values(), default=0) for measure in MEASURES}


@contextlib.contextmanager
def counting() -> Iterator[Counts]:
    """Count what all ranks do in the body; nothing where the answer has no ranks."""
    counts, module = Counts(), sys.modules.get("gpukit.parallel.world")
    if module is None:
        yield counts
        return
    module.World.observer = staticmethod(counts.add)
    try:
        yield counts
    finally:
        module.World.observer = None
