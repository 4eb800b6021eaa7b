"""Cases of kernels in which many elements become few: sums, scans, histograms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpukit import launch
from gpukit.bench.calls import Launch, Launches, launched, poisoned, together, zeroed
from gpukit.bench.register import Example, answered, example, group, past_a_tile, random
from gpukit.kernels import dot, extremes, histogram, reduce, reduce_trees, scan
from gpukit.launch import Variant

N = (100_000,), (10_000_000,), (100_000_000,)
ADD_OFFSETS, COMPACT_SCATTER = scan.VARIANTS[-2:]
MAX, MIN, ARGMAX, ARGMAX_FINISH = extremes.VARIANTS
HISTOGRAM, PRIVATISED = histogram.VARIANTS


def _three_blocks(variant: Variant) -> list[tuple[int, ...]]:
    """Return sizes that leave the last block of a tree more than half of a tile, and less."""
    tile = variant.tile or variant.block
    trees: list[tuple[int, ...]] = [(3 * tile - 68,), (2 * tile + 100,)]  # type: ignore[operator]
    return trees if variant in reduce_trees.VARIANTS else past_a_tile(variant)


@group(*reduce.SUM_VARIANTS, sizes=N, small=_three_blocks)
def _sum(variant: Variant, n: int) -> Example:
    x = random(n)
    if variant in reduce_trees.VARIANTS:
        ours = Launches(*_passes(variant, launch.to_device(x)))
        out = ours.parts[-1].arguments[-1]
    else:
        out = poisoned((1,), np.float32)
        ours = Launches(zeroed(out), launched(variant, (n,), x, out))

    def work(xp: Any, x: Any) -> Any:
        return xp.sum(x)

    return answered(
        variant,
        ours,
        (x,),
        out,
        work,
        terms=n,
        expected=lambda: np.array([reduce.sum_reference(x)]),
    )


def _passes(variant: Variant, x: Any) -> Iterator[Launch]:
    """Yield the launches of a sum that leaves a partial sum for each block, until one is left."""
    while True:
        partials = poisoned(variant.grid("bench", x.shape[0]), np.float32)
        yield launched(variant, x.shape, x, partials)
        if partials.shape[0] == 1:
            return
        x = partials


@group(MAX, MIN, ARGMAX, sizes=N)
def _extreme(variant: Variant, n: int) -> Example:
    x, (blocks,) = random(n), variant.grid("bench", n)
    moved = launch.to_device(x)
    if variant is ARGMAX:
        found, out = poisoned((blocks,), extremes.place_dtype(n)), poisoned((1,), np.int64)
        second, finish = ARGMAX_FINISH.cost(blocks), (moved, found, out)
        last = launched(ARGMAX_FINISH, (blocks,), *finish)
    else:
        found, out = poisoned((blocks,), np.float32), poisoned((1,), np.float32)
        second, last = variant.cost(blocks, 1), Launch(variant.kernel, 1, variant.block, found, out)
    ours = Launches(launched(variant, (n,), moved, found), last)

    def work(xp: Any, x: Any) -> Any:
        return getattr(xp, variant.name)(x)

    cost = launch.Cost(variant.cost(n).bytes + second.bytes, 0)
    return answered(variant, ours, (x,), out, work, cost=cost)


@group(ARGMAX_FINISH, sizes=N)
def _argmax_finish(variant: Variant, n: int) -> Example:
    x, share = random(n), 10_000
    places = np.arange(0, n, share) + x.reshape(-1, share).argmax(axis=1)
    places = places.astype(extremes.place_dtype(n))

    def work(xp: Any, x: Any, places: Any) -> Any:
        return places[xp.argmax(x[places])]

    return example(
        variant,
        places.shape,
        (x, places),
        poisoned((1,), np.int64),
        work,
        told=(x,),
        cost=variant.cost(len(places)),
        size=f"{len(places):,} of {n:,}",
    )


@group(*dot.VARIANTS, sizes=N, small=past_a_tile)
def _dot(variant: Variant, n: int) -> Example:
    inputs, out = (random(n), random(n, draw=1)), poisoned((1,), np.float32)

    def work(xp: Any, x: Any, y: Any) -> Any:
        return xp.dot(x, y)

    ours = Launches(zeroed(out), launched(variant, (n,), *inputs, out))
    return answered(variant, ours, inputs, out, work, terms=n)


# ---- scans ----------------------------------------------------------------------------------


@group(*scan.SCAN_VARIANTS, sizes=N)
def _scan(variant: Variant, n: int) -> Example:
    x, out = random(n), poisoned((n,), np.float32)
    levels, costs = _levels, [variant.cost(n), ADD_OFFSETS.cost(n)]
    if variant is scan.ONE_PASS:
        levels, costs = _one_pass, costs[:1]

    def work(xp: Any, x: Any, mine: Any) -> Any:
        return xp.cumsum(x, out=mine)

    ours = Launches(*levels(variant, launch.to_device(x), 0, out))
    return answered(variant, ours, (x,), out, work, mine=True, terms=60, cost=together(*costs))


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


@group(ADD_OFFSETS, sizes=N, small=[(549,)])
def _add_offsets(variant: Variant, n: int) -> Example:
    x, offsets = random(n), random(*variant.grid("bench", n), draw=1)
    each = np.repeat(offsets, variant.block)[:n]
    out = launch.to_device(x.copy())  # added to in place: the first launch's answer is checked

    def work(xp: Any, each: Any, mine: Any) -> Any:
        return xp.add(mine, each, out=mine)

    return example(
        variant,
        (n,),
        (offsets,),
        out,
        work,
        given=(each, x.copy()),
        expected=lambda: x.astype(np.float64) + each,
    )


@group(COMPACT_SCATTER, sizes=N)
def _compact(variant: Variant, n: int) -> Example:
    x = random(n)
    keep = x > 0
    places, kept = np.cumsum(keep, dtype=np.int32) - keep, int(keep.sum())

    def work(xp: Any, keep: Any, x: Any, mine: Any) -> Any:
        return xp.compress(keep, x, out=mine)

    return example(
        variant,
        (n,),
        (x, keep, places),
        (kept,),
        work,
        given=(keep, x),
        mine=True,
        told=(x, keep),
        cost=variant.cost(n, kept),
    )


@group(HISTOGRAM, PRIVATISED, sizes=N)
def _histogram(variant: Variant, n: int) -> Example:
    x, bins = np.random.default_rng(20261120).integers(0, 256, n, np.uint8), 256
    out = poisoned((bins,), np.int32)
    ours, cost = launched(variant, (n,), x, out), variant.cost(n) if variant is HISTOGRAM else None
    if variant is PRIVATISED:
        blocks = histogram.private_blocks(n, bins)
        ours = Launch(variant.kernel, blocks, variant.block, x, out, shared=4 * bins)
        cost = variant.cost(n, bins, blocks)

    def work(xp: Any, x: Any) -> Any:
        return xp.bincount(x, minlength=bins)

    return answered(
        variant, Launches(zeroed(out), ours), (x,), out, work, told=(x, bins), cost=cost
    )
