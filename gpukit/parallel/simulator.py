"""Event simulator of pipelines, and of data-parallel rings: who computes, who waits, and when.

    timeline = simulate(one_f_one_b(4, 8), forward=1.0, backward=2.0, transfer=0.1)
    timeline.idle_fraction, timeline.seconds, timeline[0]

A stage runs its operations in the order of its schedule and waits where an input has not arrived. A
message occupies a link for its transfer time; a link carries one message at a time, and the others
wait in a queue, first come, first served. Each pair of neighbouring stages has two links, one per
direction, unless `links` says which of them share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gpukit.parallel.links import Link
from gpukit.parallel.schedules import BACKWARD, Schedule

RECOMPUTE = "recompute"  # of the forward pass of a micro-batch, right before its backward pass


class Span(NamedTuple):
    """What a stage computed for which micro-batch, from start to end in seconds."""

    kind: str
    micro_batch: int
    start: float
    end: float


class Timeline:
    """When each stage computed what; `timeline[stage]` is a list of `Span`s, and between them it
    waited.

    `start` and `end` are those of the passes, arrays (stages, operations) in the order of the
    schedule; `recompute` has the seconds of each stage's recomputations and `again` their starts;
    `link_busy` has the busy seconds of each link.
    """

    def __init__(
        self, schedule: Schedule, recompute: Any, start: Any, end: Any, again: Any, link_busy: Any
    ) -> None:
        self.schedule, self.recompute = schedule, recompute
        self.start, self.end, self.again, self.link_busy = start, end, again, link_busy

    @property
    def seconds(self) -> float:
        """The time of the whole step."""
        return float(self.end[:, -1].max())

    @property
    def idle(self) -> Any:
        """The fraction of the step in which each stage computes nothing."""
        passes = (self.end - self.start).sum(1)
        return 1 - (passes + self.recompute * self.schedule.micro_batches) / self.seconds

    @property
    def idle_fraction(self) -> float:
        """The mean of `idle`: the bubble, and what waiting for messages adds."""
        return float(self.idle.mean())

    def __len__(self) -> int:
        return len(self.schedule)

    def __getitem__(self, stage: int) -> list[Span]:
        if not -len(self) <= stage < len(self):
            raise IndexError(stage)  # ends a loop over all stages
        seconds, found = float(self.recompute[stage]), []
        columns = (self.start[stage], self.end[stage], self.again[stage])
        times = zip(*(column.tolist() for column in columns), strict=True)
        for (kind, m), (start, end, again) in zip(self.schedule[stage], times, strict=True):
            if kind == BACKWARD and seconds:
                found.append(Span(RECOMPUTE, m, again, again + seconds))
            found.append(Span(kind, m, start, end))
        return found

    def __repr__(self) -> str:
        return f"Timeline of {self.seconds:.4g} s, {self.idle_fraction:.1%} of it idle"


def simulate(
    schedule: Schedule,
    forward: Any,
    backward: Any,
    *,
    recompute: Any = 0.0,
    transfer: Any = 0.0,
    links: Any = None,
) -> Timeline:
    """Run a schedule and return when each stage computed what.

    `forward`, `backward` and `recompute` are seconds per micro-batch, of all stages or of each.
    Recomputation comes before the backward pass and does not wait for the gradient. `transfer` is
    the time of a message between neighbours: one number, or an array (2, stages - 1) for
    activations and gradients. `links` is an array of that shape with the number of the link that
    carries each: equal numbers share a link and its queue.

    >>> from gpukit.parallel.schedules import gpipe
    >>> simulate(gpipe(4, 8), forward=1.0, backward=2.0)
    Timeline of 33 s, 27.3% of it idle
    """
    stages = len(schedule)
    between = (2, stages - 1)
    per_stage = [
        _seconds(n, v, stages)
        for n, v in (("forward", forward), ("backward", backward), ("recompute", recompute))
    ]
    times = _seconds("transfer", transfer, between)
    own = np.arange(2 * (stages - 1)).reshape(between)
    routes = own if links is None else np.asarray(links, np.int64)
    if routes.shape != between:
        raise ValueError(
            f"simulate: expected links of shape {between}, got {routes.shape}. Give the number of "
            "the link for activations and for gradients between each two neighbours."
        )
    _, routes = np.unique(routes, return_inverse=True)
    from gpukit.parallel import events  # imports Numba

    timeline = events.run(schedule.codes, *per_stage, times, routes.reshape(between))
    end = timeline[1]
    if stuck := np.flatnonzero(np.isnan(end[:, -1])).tolist():
        kind, m = schedule[stuck[0]][int(np.isnan(end[stuck[0]]).argmax())]
        raise ValueError(
            f"simulate: stage {stuck[0]} waits forever for the input of {kind} {m}. The orders of "
            "neighbouring stages contradict one another: run the passes that others need earlier."
        )
    return Timeline(schedule, per_stage[2], *timeline)


def _seconds(name: str, value: Any, shape: Any) -> Any:
    """Return an array of times of this shape; raise ValueError for others."""
    array = np.asarray(value, float)
    full = shape if isinstance(shape, tuple) else (shape,)
    if array.shape not in ((), full) or not (array >= 0).all() or np.isinf(array).any():
        raise ValueError(
            f"simulate: expected {name} to be a time of 0 or more, or an array {full} of them, got "
            f"{value!r}. Give seconds."
        )
    return np.ascontiguousarray(np.broadcast_to(array, full))


# ---- data parallelism ----------------------------------------------------------------------------


def simulate_ring(ready: Any, nbytes: float, links: Link | Sequence[Link]) -> Any:
    """Return when each rank has the sum, after a ring all-reduce that it enters when it is ready.

    `ready` has a time for each rank. `links` is one link, or the link from each rank to the next.

    >>> simulate_ring([0.0, 0.0, 3.0], 3e6, Link(latency=0, bandwidth=1e6)).tolist()
    [7.0, 7.0, 7.0]
    """
    ready = np.asarray(ready, float)
    ranks = len(ready)
    each = [links] * ranks if isinstance(links, Link) else links
    hop = np.array([link.seconds(nbytes / ranks) for link in each])
    # In each step a rank sends to the next one the part that it received in the step before.
    sent, received = ready, ready
    for _ in range(2 * (ranks - 1)):
        sent = np.maximum(sent, received) + hop
        received = np.roll(sent, 1)
    return np.maximum(sent, received)


class DataParallel(NamedTuple):
    """A data-parallel step: when each rank ends its backward pass and the whole step, in seconds.

    `buckets` has the time at which each rank has the sum of each bucket, (buckets, ranks).
    """

    computed: Any
    ended: Any
    buckets: Any

    @property
    def seconds(self) -> float:
        """The time of the step: ranks start the next one together."""
        return float(self.ended.max())

    @property
    def idle_fraction(self) -> float:
        """The fraction of the step in which ranks compute nothing."""
        return float(1 - self.computed.mean() / self.seconds)


def simulate_data_parallel(
    forward: Any,
    backward: Any,
    buckets: Sequence[float],
    links: Link | Sequence[Link],
    *,
    overlap: bool = True,
) -> DataParallel:
    """Run a step on as many ranks as `forward` and `backward` have times, with a ring per bucket.

    `buckets` are bytes, in the order in which the backward pass fills them. A rank enters the ring
    of a bucket when the bucket is full, with `overlap`, or at the end of its backward pass, and
    when it is done with the bucket before.
    """
    forward, backward = np.broadcast_arrays(np.asarray(forward, float), np.asarray(backward, float))
    if forward.ndim != 1:
        raise ValueError(
            f"simulate_data_parallel: expected a time for each rank, got shape {forward.shape}. "
            "Equal ranks: np.full(ranks, seconds)."
        )
    computed = forward + backward
    done, full, ends = np.zeros(len(forward)), 0.0, []
    for nbytes in buckets:
        full += nbytes
        ready = forward + backward * (full / sum(buckets)) if overlap else computed
        done = simulate_ring(np.maximum(ready, done), nbytes, links)
        ends.append(done)
    return DataParallel(computed, np.maximum(computed, done), np.array(ends))
