"""Cases of kernels in which many elements become few: sums, scans, histograms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpukit import launch
from gpukit.bench.register import (
    Launch,
    Launches,
    contest,
    family,
    pick,
    poisoned,
    random,
    zeroed,
)
from gpukit.bench.timing import Contest
from gpukit.kernels import dot, extremes, histogram, reduce, reduce_trees, scan


@family(reduce, "sum_atomic", "sum_grid_stride", "sum_shuffle", "sum_vectorised")
@family(reduce_trees, "sum_interleaved", "sum_sequential", "sum_first_add", "sum_unrolled")
def _sum(name: str, kernel: Any, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, rung = random(n), name.removeprefix("sum_")
    if rung in reduce_trees.SHARES:
        ours = Launches(*_passes(kernel, reduce_trees.SHARES[rung], launch.to_device(x)))
        out = ours.parts[-1].arguments[-1]
    else:
        out = poisoned((1,), np.float32)
        blocks = reduce.blocks_for(rung, n)
        ours = Launches(zeroed(out), Launch(kernel, blocks, reduce_trees.BLOCK, x, out))
    return contest(
        name,
        f"{n:,}",
        ours,
        lambda xp, x: xp.sum(x),
        out,
        given=(x,),
        terms=n,
        expected=lambda: np.array([reduce.sum_reference(x)]),
        cost=launch.pick("sum", reduce.SUM_LADDER, rung).cost(n),
        least=x.nbytes + out.nbytes,
    )


def _passes(kernel: Any, share: int, x: Any) -> Iterator[Launch]:
    """Yield the launches of a sum that leaves a partial sum for each block, until one is left."""
    while True:
        partials = poisoned((launch.ceil_div(x.shape[0], share),), np.float32)
        yield Launch(kernel, partials.shape[0], reduce_trees.BLOCK, x, partials)
        if partials.shape[0] == 1:
            return
        x = partials


@family(extremes, "max", "min", "argmax")
def _extreme(name: str, kernel: Any, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, blocks = random(n), extremes.blocks_for(n)
    moved, cost = launch.to_device(x), getattr(extremes, f"{name}_cost")
    found, out = poisoned((blocks,), np.float32), poisoned((1,), np.float32)
    second, finish = cost(blocks, 1), Launch(kernel, 1, extremes.BLOCK, found, out)
    if name == "argmax":
        found, out = poisoned((blocks,), extremes.place_dtype(n)), poisoned((1,), np.int64)
        second = extremes.argmax_finish_cost(blocks)
        finish = Launch(extremes.argmax_finish_kernel, 1, extremes.BLOCK, moved, found, out)
    return contest(
        name,
        f"{n:,}",
        Launches(Launch(kernel, blocks, extremes.BLOCK, moved, found), finish),
        lambda xp, x: getattr(xp, name)(x),
        out,
        given=(x,),
        expected=lambda: np.array([getattr(extremes, f"{name}_reference")(x)]),
        cost=launch.Cost(cost(n).bytes + second.bytes, 0),
        least=x.nbytes + out.nbytes,
    )


@family(extremes, "argmax_finish")
def _argmax_finish(name: str, kernel: Any, quick: bool) -> Contest:
    n, share = pick(quick, 100_000, 10_000_000, 100_000_000), 10_000
    x, out = random(n), poisoned((1,), np.int64)
    places = np.arange(0, n, share) + x.reshape(-1, share).argmax(axis=1)
    places = places.astype(extremes.place_dtype(n))
    return contest(
        name,
        f"{len(places):,} of {n:,}",
        Launch(kernel, 1, extremes.BLOCK, x, places, out),
        lambda xp, x, places: places[xp.argmax(x[places])],
        out,
        given=(x, places),
        expected=lambda: np.array([extremes.argmax_reference(x)]),
        cost=extremes.argmax_finish_cost(len(places)),
    )


@family(dot, "dot_tree", "dot_shuffle")
def _dot(name: str, kernel: Any, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, y, out = random(n), random(n, draw=1), poisoned((1,), np.float32)
    blocks = dot.blocks_for(name.removeprefix("dot_"), n)
    return contest(
        name,
        f"{n:,}",
        Launches(zeroed(out), Launch(kernel, blocks, reduce_trees.BLOCK, x, y, out)),
        lambda xp, x, y: xp.dot(x, y),
        out,
        given=(x, y),
        terms=n,
        expected=lambda: np.array([dot.dot_reference(x, y)]),
        cost=getattr(dot, f"{name}_cost")(n),
        least=x.nbytes + y.nbytes + out.nbytes,
    )


@family(scan, "scan_block", "scan_blelloch", "scan_padded", "scan_warp")
def _scan(name: str, kernel: Any, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, mine, out = random(n), np.empty(n, np.float32), poisoned((n,), np.float32)
    parts = getattr(scan, f"{name}_cost")(n), scan.add_offsets_cost(n)
    return contest(
        name,
        f"{n:,}",
        Launches(*_levels(kernel, launch.to_device(x), 0, out)),
        lambda xp, x, mine: xp.cumsum(x, out=mine),
        out,
        given=(x, mine),
        terms=60,
        expected=lambda: scan.inclusive_scan_reference(x),
        cost=launch.Cost(sum(part.bytes for part in parts), sum(part.flops for part in parts)),
        least=x.nbytes + mine.nbytes,
    )


def _levels(kernel: Any, x: Any, shift: int, out: Any) -> Iterator[Launch]:
    """Yield the launches of a scan: the blocks, then their totals in the same way, then the sum."""
    blocks = launch.ceil_div(out.shape[0], scan.BLOCK)
    sums = poisoned((blocks,), np.float32)
    yield Launch(kernel, blocks, scan.BLOCK, x, shift, out, sums)
    if blocks > 1:
        offsets = poisoned((blocks,), np.float32)
        yield from _levels(kernel, sums, 1, offsets)
        yield Launch(scan.add_offsets_kernel, blocks, scan.BLOCK, offsets, out)


@family(scan, "add_offsets")
def _add_offsets(name: str, kernel: Any, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, offsets = random(n), random(launch.ceil_div(n, scan.BLOCK), draw=1)
    each, mine = np.repeat(offsets, scan.BLOCK)[:n], x.copy()
    out = launch.to_device(x.copy())  # added to in place: the first launch's answer is checked
    return contest(
        name,
        f"{n:,}",
        Launch(kernel, len(offsets), scan.BLOCK, offsets, out),
        lambda xp, each, mine: xp.add(mine, each, out=mine),
        out,
        given=(each, mine),
        expected=lambda: x.astype(np.float64) + each,
        cost=scan.add_offsets_cost(n),
    )


@family(scan, "compact_scatter")
def _compact(name: str, kernel: Any, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x = random(n)
    keep = x > 0
    places, kept = np.cumsum(keep, dtype=np.int32) - keep, int(keep.sum())
    mine, out = np.empty(kept, np.float32), poisoned((kept,), np.float32)
    return contest(
        name,
        f"{n:,}",
        Launch(kernel, launch.ceil_div(n, scan.BLOCK), scan.BLOCK, x, keep, places, out),
        lambda xp, keep, x, mine: xp.compress(keep, x, out=mine),
        out,
        given=(keep, x, mine),
        expected=lambda: scan.compact_reference(x, keep),
        cost=scan.compact_scatter_cost(n, kept),
    )


@family(histogram, "histogram_atomic", "histogram_privatised")
def _histogram(name: str, kernel: Any, quick: bool) -> Contest:
    n, bins = pick(quick, 100_000, 10_000_000, 100_000_000), 256
    x = np.random.default_rng(20261120).integers(0, bins, n, np.uint8)
    out = poisoned((bins,), np.int32)
    if name == "histogram_privatised":
        blocks, shared = histogram.private_blocks(n, bins), 4 * bins
        cost = histogram.histogram_privatised_cost(n, bins, blocks)
    else:
        blocks, shared = launch.ceil_div(n, histogram.BLOCK), 0
        cost = histogram.histogram_atomic_cost(n)
    return contest(
        name,
        f"{n:,}",
        Launches(zeroed(out), Launch(kernel, blocks, histogram.BLOCK, x, out, shared=shared)),
        lambda xp, x: xp.bincount(x, minlength=bins),
        out,
        given=(x,),
        expected=lambda: histogram.bincount_reference(x, bins),
        cost=cost,
        least=x.nbytes + 4 * bins,
    )
