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
    comparison,
    group,
    launched,
    pick,
    poisoned,
    random,
    zeroed,
)
from gpukit.bench.timing import Comparison
from gpukit.kernels import dot, extremes, histogram, reduce, reduce_trees, scan
from gpukit.launch import Variant

ADD_OFFSETS, COMPACT_SCATTER = scan.VARIANTS[-2:]


@group(*reduce.SUM_VARIANTS)
def _sum(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x = random(n)
    if variant in reduce_trees.VARIANTS:
        ours = Launches(*_passes(variant, launch.to_device(x)))
        out = ours.parts[-1].arguments[-1]
    else:
        out = poisoned((1,), np.float32)
        ours = Launches(zeroed(out), launched(variant, (n,), x, out))
    return comparison(
        name,
        f"{n:,}",
        ours,
        lambda xp, x: xp.sum(x),
        out,
        given=(x,),
        terms=n,
        expected=lambda: np.array([reduce.sum_reference(x)]),
        cost=variant.cost(n),
        least=x.nbytes + out.nbytes,
    )


def _passes(variant: Variant, x: Any) -> Iterator[Launch]:
    """Yield the launches of a sum that leaves a partial sum for each block, until one is left."""
    while True:
        partials = poisoned(variant.grid("bench", x.shape[0]), np.float32)
        yield launched(variant, x.shape, x, partials)
        if partials.shape[0] == 1:
            return
        x = partials


@group(*extremes.VARIANTS[:3])
def _extreme(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, (blocks,) = random(n), variant.grid("bench", n)
    moved = launch.to_device(x)
    found, out = poisoned((blocks,), np.float32), poisoned((1,), np.float32)
    second, finish = variant.cost(blocks, 1), Launch(variant.kernel, 1, variant.block, found, out)
    if name == "argmax":
        found, out = poisoned((blocks,), extremes.place_dtype(n)), poisoned((1,), np.int64)
        second = extremes.argmax_finish_cost(blocks)
        finish = launched(extremes.VARIANTS[3], (blocks,), moved, found, out)
    return comparison(
        name,
        f"{n:,}",
        Launches(launched(variant, (n,), moved, found), finish),
        lambda xp, x: getattr(xp, name)(x),
        out,
        given=(x,),
        expected=lambda: np.array([variant.reference(x)]),
        cost=launch.Cost(variant.cost(n).bytes + second.bytes, 0),
        least=x.nbytes + out.nbytes,
    )


@group(extremes.VARIANTS[3])
def _argmax_finish(name: str, variant: Variant, quick: bool) -> Comparison:
    n, share = pick(quick, 100_000, 10_000_000, 100_000_000), 10_000
    x, out = random(n), poisoned((1,), np.int64)
    places = np.arange(0, n, share) + x.reshape(-1, share).argmax(axis=1)
    places = places.astype(extremes.place_dtype(n))
    return comparison(
        name,
        f"{len(places):,} of {n:,}",
        launched(variant, places.shape, x, places, out),
        lambda xp, x, places: places[xp.argmax(x[places])],
        out,
        given=(x, places),
        expected=lambda: np.array([variant.reference(x)]),
        cost=variant.cost(len(places)),
    )


@group(*dot.VARIANTS)
def _dot(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, y, out = random(n), random(n, draw=1), poisoned((1,), np.float32)
    return comparison(
        name,
        f"{n:,}",
        Launches(zeroed(out), launched(variant, (n,), x, y, out)),
        lambda xp, x, y: xp.dot(x, y),
        out,
        given=(x, y),
        terms=n,
        expected=lambda: np.array([variant.reference(x, y)]),
        cost=variant.cost(n),
        least=x.nbytes + y.nbytes + out.nbytes,
    )


@group(*scan.SCAN_VARIANTS)
def _scan(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, mine, out = random(n), np.empty(n, np.float32), poisoned((n,), np.float32)
    levels = _one_pass if variant is scan.ONE_PASS else _levels
    parts = (
        (variant.cost(n),) if variant is scan.ONE_PASS else (variant.cost(n), ADD_OFFSETS.cost(n))
    )
    return comparison(
        name,
        f"{n:,}",
        Launches(*levels(variant, launch.to_device(x), 0, out)),
        lambda xp, x, mine: xp.cumsum(x, out=mine),
        out,
        given=(x, mine),
        terms=60,
        expected=lambda: variant.reference(x),
        cost=launch.Cost(sum(part.bytes for part in parts), sum(part.flops for part in parts)),
        least=x.nbytes + mine.nbytes,
    )


def _levels(variant: Variant, x: Any, shift: int, out: Any) -> Iterator[Launch]:
    """Yield the launches of a scan: the blocks, then their totals in the same way, then the sum."""
    blocks = variant.grid("bench", *out.shape)
    sums = poisoned(blocks, np.float32)
    yield launched(variant, out.shape, x, shift, out, sums)
    if blocks != (1,):
        offsets = poisoned(blocks, np.float32)
        yield from _levels(variant, sums, 1, offsets)
        yield launched(ADD_OFFSETS, out.shape, offsets, out)


def _one_pass(variant: Variant, x: Any, shift: int, out: Any) -> Iterator[Launch]:
    """Yield the launches of a scan in one pass: its flags to 0, and the scan."""
    (blocks,) = variant.grid("bench", *out.shape)
    flags, sums = poisoned((blocks + 1,), np.int32), poisoned((2, blocks), np.float32)
    yield zeroed(flags)
    yield launched(variant, out.shape, x, shift, out, flags, sums)


@group(ADD_OFFSETS)
def _add_offsets(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, offsets = random(n), random(*variant.grid("bench", n), draw=1)
    each, mine = np.repeat(offsets, variant.block)[:n], x.copy()
    out = launch.to_device(x.copy())  # added to in place: the first launch's answer is checked
    return comparison(
        name,
        f"{n:,}",
        launched(variant, (n,), offsets, out),
        lambda xp, each, mine: xp.add(mine, each, out=mine),
        out,
        given=(each, mine),
        expected=lambda: x.astype(np.float64) + each,
        cost=variant.cost(n),
    )


@group(COMPACT_SCATTER)
def _compact(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x = random(n)
    keep = x > 0
    places, kept = np.cumsum(keep, dtype=np.int32) - keep, int(keep.sum())
    mine, out = np.empty(kept, np.float32), poisoned((kept,), np.float32)
    return comparison(
        name,
        f"{n:,}",
        launched(variant, (n,), x, keep, places, out),
        lambda xp, keep, x, mine: xp.compress(keep, x, out=mine),
        out,
        given=(keep, x, mine),
        expected=lambda: variant.reference(x, keep),
        cost=variant.cost(n, kept),
    )


@group(*histogram.VARIANTS)
def _histogram(name: str, variant: Variant, quick: bool) -> Comparison:
    n, bins = pick(quick, 100_000, 10_000_000, 100_000_000), 256
    x = np.random.default_rng(20261120).integers(0, bins, n, np.uint8)
    out = poisoned((bins,), np.int32)
    ours, cost = launched(variant, (n,), x, out), variant.cost
    if name == "histogram_privatised":
        blocks = histogram.private_blocks(n, bins)
        ours = Launch(variant.kernel, blocks, variant.block, x, out, shared=4 * bins)
        cost = functools.partial(variant.cost, bins=bins, blocks=blocks)
    return comparison(
        name,
        f"{n:,}",
        Launches(zeroed(out), ours),
        lambda xp, x: xp.bincount(x, minlength=bins),
        out,
        given=(x,),
        expected=lambda: variant.reference(x, bins),
        cost=cost(n),
        least=x.nbytes + 4 * bins,
    )
