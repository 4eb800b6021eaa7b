"""Cases of kernels in which many elements become few: sums, scans, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit import cuda, launch
from gpukit.bench.register import Launch, contest, family, pick, poisoned, random
from gpukit.bench.timing import Contest
from gpukit.kernels import dot, extremes, histogram, reduce, reduce_trees, scan


@family(reduce, "sum_atomic", "sum_grid_stride", "sum_shuffle", "sum_vectorised")
@family(reduce_trees, "sum_interleaved", "sum_sequential", "sum_first_add", "sum_unrolled")
def _sum(name: str, _kernel: Any, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, found = random(n), np.empty(1, np.float32)
    moved, rung = launch.to_device(x), name.removeprefix("sum_")

    def ours() -> None:
        # The host function, because a sum is only done when the last partial sum is added.
        found[0] = reduce.sum(moved, rung=rung)

    return contest(
        name,
        f"{n:,}",
        ours,
        lambda xp, x: xp.sum(x),
        found,
        given=(x,),
        terms=n,
        expected=lambda: np.array([reduce.sum_reference(x)]),
        cost=launch.pick("sum", reduce.SUM_LADDER, rung).cost(n),
        least=x.nbytes + found.nbytes,
    )


@family(extremes, "max", "min", "argmax")
def _extreme(name: str, _kernel: Any, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, found = random(n), np.empty(1, np.int64 if name == "argmax" else np.float32)
    moved, function = launch.to_device(x), getattr(extremes, name)

    def ours() -> None:
        # The host function: an extreme is only found when the blocks' extremes are compared.
        found[0] = function(moved)

    cost, blocks = getattr(extremes, f"{name}_cost"), extremes.blocks_for(n)
    second = extremes.argmax_finish_cost(blocks) if name == "argmax" else cost(blocks, 1)
    return contest(
        name,
        f"{n:,}",
        ours,
        lambda xp, x: getattr(xp, name)(x),
        found,
        given=(x,),
        expected=lambda: np.array([getattr(extremes, f"{name}_reference")(x)]),
        cost=launch.Cost(cost(n).bytes + second.bytes, 0),
        least=x.nbytes + found.nbytes,
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
def _dot(name: str, _kernel: Any, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, y, found = random(n), random(n)[::-1].copy(), np.empty(1, np.float32)
    moved, rung = (launch.to_device(x), launch.to_device(y)), name.removeprefix("dot_")

    def ours() -> None:
        # The host function, because the atomics need an out that is 0.
        found[0] = dot.dot(*moved, rung=rung)

    return contest(
        name,
        f"{n:,}",
        ours,
        lambda xp, x, y: xp.dot(x, y),
        found,
        given=(x, y),
        terms=n,
        expected=lambda: np.array([dot.dot_reference(x, y)]),
        cost=getattr(dot, f"{name}_cost")(n),
        least=x.nbytes + y.nbytes + found.nbytes,
    )


@family(scan, "scan_block", "scan_blelloch", "scan_padded", "scan_warp")
def _scan(name: str, _kernel: Any, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, mine, rung = random(n), np.empty(n, np.float32), name.removeprefix("scan_")
    moved, out = launch.to_device(x), poisoned((n,), np.float32)

    def ours() -> None:
        # The host function: a scan is only done when the blocks' totals are added.
        scan.inclusive_scan(moved, rung=rung, out=out)
        cuda.synchronize()

    parts = getattr(scan, f"{name}_cost")(n), scan.add_offsets_cost(n)
    return contest(
        name,
        f"{n:,}",
        ours,
        lambda xp, x, mine: xp.cumsum(x, out=mine),
        out,
        given=(x, mine),
        terms=60,
        expected=lambda: scan.inclusive_scan_reference(x),
        cost=launch.Cost(sum(part.bytes for part in parts), sum(part.flops for part in parts)),
        least=x.nbytes + mine.nbytes,
    )


@family(scan, "add_offsets")
def _add_offsets(name: str, kernel: Any, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, offsets = random(n), random(launch.ceil_div(n, scan.BLOCK))
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
def _histogram(name: str, _kernel: Any, quick: bool) -> Contest:
    n, bins, rung = (
        pick(quick, 100_000, 10_000_000, 100_000_000),
        256,
        name.removeprefix("histogram_"),
    )
    x = np.random.default_rng(20261120).integers(0, bins, n, np.uint8)
    moved, out = launch.to_device(x), poisoned((bins,), np.int32)

    def ours() -> None:
        # The host function: the atomics need bins that are 0.
        histogram.bincount(moved, bins, rung=rung, out=out)
        cuda.synchronize()

    return contest(
        name,
        f"{n:,}",
        ours,
        lambda xp, x: xp.bincount(x, minlength=bins),
        out,
        given=(x,),
        expected=lambda: histogram.bincount_reference(x, bins),
        cost={
            "atomic": histogram.histogram_atomic_cost(n),
            "privatised": histogram.histogram_privatised_cost(
                n, bins, histogram.private_blocks(n, bins)
            ),
        }[rung],
        least=x.nbytes + 4 * bins,
    )
