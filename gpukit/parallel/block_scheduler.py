"""A model of a GPU that several streams share: which slot runs whose block, and when.

    timeline, slots = simulate_blocks(
        [
            Launch("training", blocks=48, seconds=1.0),
            Launch("request", blocks=2, seconds=0.5, arrives=1.2, priority=-1),
        ],
        slots=8,
    )

The device runs as many blocks at once as it has slots. A free slot takes the next block of the
stream with the highest priority; among equals the launch that was ready first goes first. Blocks
that run are never interrupted, and launches of one stream follow each other.

Source: CUDA C++ Programming Guide, "Stream Priorities"; what it leaves open, which of several
equal launches goes first, follows Amert et al., "GPU Scheduling on the NVIDIA TX2", 2017
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

from gpukit.parallel.one_device import Span, TaskTimeline

MOST_BLOCKS = 1_000_000


class Launch(NamedTuple):
    """A launch in the stream of a task: its blocks, and the seconds that each of them takes.

    Without `arrives` it arrives when the launch before it in its task is done, the first at 0.
    """

    task: str
    blocks: int
    seconds: float
    arrives: float | None = None
    priority: int = 0


class _Waiting:
    """A launch whose blocks have not all begun."""

    def __init__(self, number: int, launch: Launch) -> None:
        self.number, self.launch = number, launch
        self.left = self.running = launch.blocks  # blocks to begin, and to end
        self.since = launch.arrives or 0.0  # when it is ready
        self.start = self.end = 0.0

    @property
    def arrived(self) -> float:
        """When it arrived."""
        return self.since if self.launch.arrives is None else self.launch.arrives


def simulate_blocks(
    launches: Sequence[Launch], slots: int
) -> tuple[TaskTimeline, dict[str, list[Span]]]:
    """Return the timeline of the launches, and the blocks that each slot of the device ran.

    Launches of a task run in the given order. The number of a block is that of its launch within
    its task, and it arrives when its launch does.

    >>> launches = [Launch("long", 4, 1.0), Launch("short", 1, 1.0, arrives=0.5)]
    >>> simulate_blocks(launches, slots=2)[0].waited("short").tolist()
    [1.5]
    >>> launches[1] = launches[1]._replace(priority=-1)
    >>> simulate_blocks(launches, slots=2)[0].waited("short").tolist()
    [0.5]
    """
    _check(launches, slots)
    streams: dict[str, list[_Waiting]] = {}
    for launch in launches:
        stream = streams.setdefault(launch.task, [])
        stream.append(_Waiting(len(stream), launch))
    everything = [waiting for stream in streams.values() for waiting in stream]
    free, busy = list(range(slots)), list[tuple[float, int, _Waiting]]()
    rows: list[list[Span]] = [[] for _ in range(slots)]
    now = 0.0
    while any(streams.values()):
        heads = [s[0] for s in streams.values() if s and s[0].left and s[0].since <= now]
        while free and heads:
            chosen = min(heads, key=lambda head: (head.launch.priority, head.since))
            slot, end = heapq.heappop(free), now + chosen.launch.seconds
            if chosen.left == chosen.launch.blocks:
                chosen.start = now
            named = chosen.launch.task, chosen.number
            rows[slot].append(Span(*named, chosen.arrived, now, end))
            heapq.heappush(busy, (end, slot, chosen))
            chosen.left -= 1
            if not chosen.left:
                heads.remove(chosen)
        arrivals = [s[0].since for s in streams.values() if s and s[0].since > now]
        now = min([*arrivals, *(end for end, *_ in busy[:1])])
        while busy and busy[0][0] <= now:
            _, slot, ended = heapq.heappop(busy)
            heapq.heappush(free, slot)
            ended.running -= 1
            if not ended.running:
                ended.end = now
                stream = streams[ended.launch.task]
                stream.pop(0)
                if stream:
                    stream[0].since = max(stream[0].since, now)
    spans = [Span(w.launch.task, w.number, w.arrived, w.start, w.end) for w in everything]
    priorities = {launch.task: launch.priority for launch in launches}
    return TaskTimeline(spans, priorities), {f"slot {k}": row for k, row in enumerate(rows)}


def _check(launches: Sequence[Launch], slots: int) -> None:
    if slots < 1 or slots != int(slots):
        raise ValueError(f"simulate_blocks: expected slots to be a whole number, got {slots}.")
    if not launches:
        raise ValueError("simulate_blocks: expected at least one launch.")
    for launch in launches:
        whole = launch.blocks == int(launch.blocks) >= 1
        if not whole or not launch.seconds > 0 or not (launch.arrives or 0) >= 0:
            raise ValueError(
                "simulate_blocks: expected launches with whole blocks, one or more, seconds above "
                f"0 and an arrival from 0 on, got {launch}."
            )
    priorities: dict[str, int] = {}
    for launch in launches:
        if priorities.setdefault(launch.task, launch.priority) != launch.priority:
            raise ValueError(
                f"simulate_blocks: task {launch.task!r} has launches with different priorities. A "
                "stream has one priority: give them tasks of their own."
            )
    blocks = sum(launch.blocks for launch in launches)
    if blocks > MOST_BLOCKS:
        raise ValueError(
            f"simulate_blocks: expected at most {MOST_BLOCKS:,} blocks in all, got {blocks:,}."
        )
