"""Cases of kernels in which many elements become few: sums, scans, histograms."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from gpukit import launch
from gpukit.bench.register import (
    Launch,
    Launches,
    contest,
    family,
    launched,
    pick,
    poisoned,
    random,
    zeroed,
)
from gpukit.bench.timing import Contest
from gpukit.kernels import dot, extremes, histogram, reduce, reduce_trees, scan
from gpukit.launch import Rung

ADD_OFFSETS, COMPACT_SCATTER = scan.LADDER[-2:]


@family(*reduce.SUM_LADDER)
def _sum(name: str, rung: Rung, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x = random(n)
    if rung in reduce_trees.LADDER:
        ours = Launches(*_passes(rung, launch.to_device(x)))
        out = ours.parts[-1].arguments[-1]
    else:
        out = poisoned((1,), np.float32)
        ours = Launches(zeroed(out), launched(rung, (n,), x, out))
    return contest(
        name,
        f"{n:,}",
        ours,
        lambda xp, x: xp.sum(x),
        out,
        given=(x,),
        terms=n,
        expected=lambda: np.array([reduce.sum_reference(x)]),
        cost=rung.cost(n),
        least=x.nbytes + out.nbytes,
    )


def _passes(rung: Rung, x: Any) -> Iterator[Launch]:
    """Yield the launches of a sum that leaves a partial sum for each block, until one is left."""
    while True:
        partials = poisoned(rung.grid("bench", x.shape[0]), np.float32)
        yield launched(rung, x.shape, x, partials)
        if partials.shape[0] == 1:
            return
        x = partials


@family(*extremes.LADDER[:3])
def _extreme(name: str, rung: Rung, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, (blocks,) = random(n), rung.grid("bench", n)
    moved = launch.to_device(x)
    found, out = poisoned((blocks,), np.float32), poisoned((1,), np.float32)
    second, finish = rung.cost(blocks, 1), Launch(rung.kernel, 1, rung.block, found, out)
    if name == "argmax":
        found, out = poisoned((blocks,), extremes.place_dtype(n)), poisoned((1,), np.int64)
        second = extremes.argmax_finish_cost(blocks)
        finish = launched(extremes.LADDER[3], (blocks,), moved, found, out)
    return contest(
        name,
        f"{n:,}",
        Launches(launched(rung, (n,), moved, found), finish),
        lambda xp, x: getattr(xp, name)(x),
        out,
        given=(x,),
        expected=lambda: np.array([rung.reference(x)]),
        cost=launch.Cost(rung.cost(n).bytes + second.bytes, 0),
        least=x.nbytes + out.nbytes,
    )


@family(extremes.LADDER[3])
def _argmax_finish(name: str, rung: Rung, quick: bool) -> Contest:
    n, share = pick(quick, 100_000, 10_000_000, 100_000_000), 10_000
    x, out = random(n), poisoned((1,), np.int64)
    places = np.arange(0, n, share) + x.reshape(-1, share).argmax(axis=1)
    places = places.astype(extremes.place_dtype(n))
    return contest(
        name,
        f"{len(places):,} of {n:,}",
        launched(rung, places.shape, x, places, out),
        lambda xp, x, places: places[xp.argmax(x[places])],
        out,
        given=(x, places),
        expected=lambda: np.array([rung.reference(x)]),
        cost=rung.cost(len(places)),
    )


@family(*dot.LADDER)
def _dot(name: str, rung: Rung, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, y, out = random(n), random(n, draw=1), poisoned((1,), np.float32)
    return contest(
        name,
        f"{n:,}",
        Launches(zeroed(out), launched(rung, (n,), x, y, out)),
        lambda xp, x, y: xp.dot(x, y),
        out,
        given=(x, y),
        terms=n,
        expected=lambda: np.array([rung.reference(x, y)]),
        cost=rung.cost(n),
        least=x.nbytes + y.nbytes + out.nbytes,
    )


@family(*scan.SCAN_LADDER)
def _scan(name: str, rung: Rung, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, mine, out = random(n), np.empty(n, np.float32), poisoned((n,), np.float32)
    levels = _one_pass if rung is scan.ONE_PASS else _levels
    parts = (rung.cost(n),) if rung is scan.ONE_PASS else (rung.cost(n), ADD_OFFSETS.cost(n))
    return contest(
        name,
        f"{n:,}",
        Launches(*levels(rung, launch.to_device(x), 0, out)),
        lambda xp, x, mine: xp.cumsum(x, out=mine),
        out,
        given=(x, mine),
        terms=60,
        expected=lambda: rung.reference(x),
        cost=launch.Cost(sum(part.bytes for part in parts), sum(part.flops for part in parts)),
        least=x.nbytes + mine.nbytes,
    )


def _levels(rung: Rung, x: Any, shift: int, out: Any) -> Iterator[Launch]:
    """Yield the launches of a scan: the blocks, then their totals in the same way, then the sum."""
    blocks = rung.grid("bench", *out.shape)
    sums = poisoned(blocks, np.float32)
    yield launched(rung, out.shape, x, shift, out, sums)
    if blocks != (1,):
        offsets = poisoned(blocks, np.float32)
        yield from _levels(rung, sums, 1, offsets)
        yield launched(ADD_OFFSETS, out.shape, offsets, out)


def _one_pass(rung: Rung, x: Any, shift: int, out: Any) -> Iterator[Launch]:
    """Yield the launches of a scan in one pass: its flags to 0, and the scan."""
    (blocks,) = rung.grid("bench", *out.shape)
    flags, sums = poisoned((blocks + 1,), np.int32), poisoned((2, blocks), np.float32)
    yield zeroed(flags)
    yield launched(rung, out.shape, x, shift, out, flags, sums)


@family(ADD_OFFSETS)
def _add_offsets(name: str, rung: Rung, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, offsets = random(n), random(*rung.grid("bench", n), draw=1)
    each, mine = np.repeat(offsets, rung.block)[:n], x.copy()
    out = launch.to_device(x.copy())  # added to in place: the first launch's answer is checked
    return contest(
        name,
        f"{n:,}",
        launched(rung, (n,), offsets, out),
        lambda xp, each, mine: xp.add(mine, each, out=mine),
        out,
        given=(each, mine),
        expected=lambda: x.astype(np.float64) + each,
        cost=rung.cost(n),
    )


@family(COMPACT_SCATTER)
def _compact(name: str, rung: Rung, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x = random(n)
    keep = x > 0
    places, kept = np.cumsum(keep, dtype=np.int32) - keep, int(keep.sum())
    mine, out = np.empty(kept, np.float32), poisoned((kept,), np.float32)
    return contest(
        name,
        f"{n:,}",
        launched(rung, (n,), x, keep, places, out),
        lambda xp, keep, x, mine: xp.compress(keep, x, out=mine),
        out,
        given=(keep, x, mine),
        expected=lambda: rung.reference(x, keep),
        cost=rung.cost(n, kept),
    )


@family(*histogram.LADDER)
def _histogram(name: str, rung: Rung, quick: bool) -> Contest:
    n, bins = pick(quick, 100_000, 10_000_000, 100_000_000), 256
    x = np.random.default_rng(20261120).integers(0, bins, n, np.uint8)
    out = poisoned((bins,), np.int32)
    ours, cost = launched(rung, (n,), x, out), rung.cost
    if name == "histogram_privatised":
        blocks = histogram.private_blocks(n, bins)
        ours = Launch(rung.kernel, blocks, rung.block, x, out, shared=4 * bins)
        cost = functools.partial(rung.cost, bins=bins, blocks=blocks)
    return contest(
        name,
        f"{n:,}",
        Launches(zeroed(out), ours),
        lambda xp, x: xp.bincount(x, minlength=bins),
        out,
        given=(x,),
        expected=lambda: rung.reference(x, bins),
        cost=cost(n),
        least=x.nbytes + 4 * bins,
    )
