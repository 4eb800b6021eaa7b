"""What a step of training on many devices costs: collectives, pipelines, data parallelism.

Legend: p ranks, n bytes of the whole array; `link.seconds(n)` is the time of one message, and
`per_step` the seconds of other work in each step, such as launching the kernel that adds. Source of
the collectives: Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations
in MPICH, 2005.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import NamedTuple

from gpukit.parallel.links import Link

# ---- collectives ---------------------------------------------------------------------------------


def reduce_scatter(link: Link, ranks: int, nbytes: float, per_step: float = 0.0) -> float:
    """Return the time of a ring after which each rank holds the sum of its part: p - 1 messages."""
    return (ranks - 1) * float(link.seconds(nbytes / ranks) + per_step)


def all_gather(link: Link, ranks: int, nbytes: float, per_step: float = 0.0) -> float:
    """Return the time of a ring after which each rank holds all parts: p - 1 messages."""
    return reduce_scatter(link, ranks, nbytes, per_step)


def ring_all_reduce(link: Link, ranks: int, nbytes: float, per_step: float = 0.0) -> float:
    """Return the time of reduce-scatter and all-gather: 2 (p - 1) messages of n / p bytes.

    >>> round(ring_all_reduce(Link(latency=2e-3, bandwidth=100e6), 8, 2_000_000), 4)
    0.063
    """
    return 2 * reduce_scatter(link, ranks, nbytes, per_step)


def tree_all_reduce(link: Link, ranks: int, nbytes: float, per_step: float = 0.0) -> float:
    """Return the time of a reduction to one rank and a broadcast, 2 log2 p messages of n bytes.

    >>> round(tree_all_reduce(Link(latency=2e-3, bandwidth=100e6), 8, 2_000_000), 4)
    0.132
    """
    return 2 * broadcast(link, ranks, nbytes, per_step)


def broadcast(link: Link, ranks: int, nbytes: float, per_step: float = 0.0) -> float:
    """Return the time of a binomial tree: in each of log2 p steps, those who have it send it on."""
    return _steps(ranks) * float(link.seconds(nbytes) + per_step)


def doubling_all_reduce(link: Link, ranks: int, nbytes: float, per_step: float = 0.0) -> float:
    """Return the time of recursive doubling: ranks exchange all n bytes at distance 1, 2, 4, ...

    Where p is no power of two, the ranks above it first send their array to another rank and
    receive the result at the end: two more messages.
    """
    steps = int(math.log2(ranks)) + 2 * _is_odd_out(ranks)
    return steps * float(link.seconds(nbytes) + per_step)


def halving_all_reduce(link: Link, ranks: int, nbytes: float, per_step: float = 0.0) -> float:
    """Return the time of recursive halving and doubling: n / 2, n / 4, ... bytes, and back.

    As many bytes as a ring in 2 log2 p messages. Where p is no power of two, see
    `doubling_all_reduce`.
    """
    halves = [link.seconds(nbytes / 2**k) for k in range(1, int(math.log2(ranks)) + 1)]
    extra = [link.seconds(nbytes)] * _is_odd_out(ranks)
    return 2 * float(sum(halves) + sum(extra) + per_step * len(halves + extra))


ALL_REDUCE: dict[str, Callable[..., float]] = {
    "ring": ring_all_reduce,
    "tree": tree_all_reduce,
    "recursive doubling": doubling_all_reduce,
    "halving and doubling": halving_all_reduce,
}


def fastest_all_reduce(link: Link, ranks: int, nbytes: float) -> tuple[str, float]:
    """Return the name and the time of the fastest of `ALL_REDUCE`."""
    times = {name: function(link, ranks, nbytes) for name, function in ALL_REDUCE.items()}
    return min(times.items(), key=lambda pair: pair[1])


def _steps(ranks: int) -> int:
    return (ranks - 1).bit_length()


def _is_odd_out(ranks: int) -> bool:
    """Whether some ranks are left over beside the largest power of two."""
    return ranks & (ranks - 1) != 0


# ---- pipeline and data parallelism ---------------------------------------------------------------


def bubble(stages: int, micro_batches: int) -> float:
    """Return the idle fraction of equal stages, the bubble: (p - 1) / (m + p - 1).

    >>> round(bubble(4, 8), 3)
    0.273
    """
    return (stages - 1) / (micro_batches + stages - 1)


def pipeline_seconds(
    stages: int, micro_batches: int, forward: float, backward: float, transfer: float = 0.0
) -> float:
    """Return the time of a GPipe step of equal stages whose messages take less than their passes.

    >>> pipeline_seconds(stages=4, micro_batches=8, forward=1, backward=2)
    33.0
    """
    passes = (micro_batches + stages - 1) * (forward + backward)
    return passes + 2 * (stages - 1) * transfer


class Step(NamedTuple):
    """The time of a data-parallel step, in seconds.

    `communication` is that of all buckets; `exposed` is the part that no computation hides.
    """

    seconds: float
    compute: float
    communication: float
    exposed: float


def data_parallel_step(
    forward: float,
    backward: float,
    buckets: Sequence[float],
    all_reduce: Callable[[float], float],
    *,
    overlap: bool = True,
) -> Step:
    """Return the time of a step whose gradients are reduced in buckets of so many bytes.

    `buckets` are in the order in which the backward pass fills them; each takes its share of the
    bytes of that pass. With `overlap` a bucket is reduced as soon as it is full and the one before
    is done, else all are reduced after the backward pass.

    >>> data_parallel_step(1.0, 2.0, [50e6, 50e6], lambda n: n / 50e6)
    Step(seconds=4.0, compute=3.0, communication=2.0, exposed=1.0)
    """
    compute, times = forward + backward, [all_reduce(nbytes) for nbytes in buckets]
    ends, full, whole = 0.0, 0.0, sum(buckets)
    for nbytes, time in zip(buckets, times, strict=True):
        full += nbytes
        ready = forward + backward * full / whole if overlap else compute
        ends = max(ends, ready) + time
    seconds = max(compute, ends)
    return Step(seconds, compute, sum(times), seconds - compute)


def in_buckets(nbytes: float, size: float = 25e6) -> list[float]:
    """Split the bytes of all gradients into buckets of equal size, at most `size` each.

    PyTorch's DistributedDataParallel takes 25 MB by default (`bucket_cap_mb`).

    >>> in_buckets(60e6)
    [20000000.0, 20000000.0, 20000000.0]
    """
    count = max(1, math.ceil(nbytes / size))
    return [nbytes / count] * count


def slowest(seconds: float, jitter: float, ranks: int) -> float:
    """Return the expected time of the slowest of p ranks: all wait for it in every step.

    `jitter` is the standard deviation over the mean of a normal distribution. Source: Blom's
    approximation of expected order statistics, 1958.

    >>> slowest(1.0, 0.05, 1), round(slowest(1.0, 0.05, 256), 2)
    (1.0, 1.14)
    """
    return seconds * (1 + jitter * NormalDist().inv_cdf((ranks - 0.375) / (ranks + 0.25)))


class Scaling(NamedTuple):
    """Times over numbers of ranks, relative to the first number."""

    ranks: list[int]
    seconds: list[float]
    speed_up: list[float]
    efficiency: list[float]


def scaling(ranks: Sequence[int], seconds: Callable[[int], float], *, weak: bool = True) -> Scaling:
    """Return speed-up and efficiency of steps that take `seconds(p)` on p ranks.

    With `weak` scaling every rank keeps its batch, so p ranks process p times as much; otherwise
    the work is the same for all p (strong scaling).

    >>> scaling([1, 2, 4], lambda p: 1 + 0.25 * (p > 1)).efficiency
    [1.0, 0.8, 0.8]
    """
    times = [seconds(p) for p in ranks]
    more = [p / ranks[0] for p in ranks]
    work = more if weak else [1.0] * len(more)
    speed_up = [w * times[0] / time for w, time in zip(work, times, strict=True)]
    efficiency = [s / p for s, p in zip(speed_up, more, strict=True)]
    return Scaling(list(ranks), times, speed_up, efficiency)
