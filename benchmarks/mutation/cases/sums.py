"""Launches of extremes, scans and histograms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.mutation.cases.register import Array, Case, case, of, values
from gpukit import cuda
from gpukit.kernels import extremes, histogram, scan
from gpukit.kernels.scan import blocks

# Indices of the extremes of the two blocks: every step of the shuffles must find one of them, and a
# second block with wrong indices would come across the larger one of the first.
_EXTREMES = ((255, 256 + 16), (0, 1299), (517, 300))


def _extremes() -> Iterator[Array]:
    """Yield vectors for two blocks without positive values, so that no padding can win."""
    for at in _EXTREMES:
        x = -1 - values(1300)
        x[list(at)] = -1, -1.25
        yield x
    yield np.full(300, -np.inf, np.float32)
    x = -values(549)
    x[[37, 40, 200]] = np.nan, np.inf, np.nan  # all in the first block, on distant lanes
    x[301] = np.inf  # not NaN, which an unwritten answer is
    yield x


def _shares(x: Array) -> list[Array]:
    """Return the indices of the elements of each of two blocks."""
    block = np.arange(len(x)) // extremes.BLOCK % 2
    return [np.flatnonzero(block == number) for number in (0, 1)]


@of(extremes.max_kernel)
def _max() -> Iterator[Case]:
    for x in _extremes():
        right = [extremes.max_reference(x[share]) for share in _shares(x)]
        yield case(2, extremes.BLOCK, (x,), right)


@of(extremes.min_kernel)
def _min() -> Iterator[Case]:
    for x in _extremes():
        right = [extremes.min_reference(-x[share]) for share in _shares(x)]
        yield case(2, extremes.BLOCK, (-x,), right)


def _ties() -> Iterator[Array]:
    """Yield vectors in which the first of equal elements comes later in its lane, or earlier."""
    yield np.ones(1300, np.float32)
    x = -values(1300)
    x[[200, 1027, 511, 770]] = np.nan, np.nan, 3, 3
    yield x


@of(extremes.argmax_kernel)
def _argmax() -> Iterator[Case]:
    for x in (*_extremes(), *_ties()):
        right = [share[extremes.argmax_reference(x[share])] for share in _shares(x)]
        yield _places((2, extremes.BLOCK), x, (), right, np.int32)


@of(extremes.argmax_finish_kernel)
def _argmax_finish() -> Iterator[Case]:
    for x in (*_extremes(), *_ties()):
        # Also in reverse order: then the first of equal elements is visited last.
        for places in (np.arange(len(x))[::-1], np.arange(len(x))):
            right = [extremes.argmax_reference(x)]
            yield _places((1, extremes.BLOCK), x, (places,), right, np.int64)


def _places(
    shape: tuple[Any, ...], x: Array, more: tuple[Array, ...], right: Any, dtype: Any
) -> Case:
    """Return a launch whose last argument receives indices into x."""

    def make() -> tuple[Any, ...]:
        return x.copy(), *(a.copy() for a in more), np.full(len(right), -1, dtype)

    return Case(shape, make, {1 + len(more): np.asarray(right)})


def _scan() -> Iterator[Case]:
    # Three blocks, the last one partial. Integers: their sums are exact in any order.
    for shift in (0, 1):
        x = values(549, dtype=np.uint8).astype(np.float32)
        moved = np.pad(x, (shift, blocks.BLOCK))[: 3 * blocks.BLOCK].astype(np.float64)
        sums = moved.reshape(3, blocks.BLOCK).cumsum(axis=1)

        def make(x: Array = x, shift: int = shift) -> tuple[Any, ...]:
            out, totals = cuda.device_array(549, np.float32), cuda.device_array(3, np.float32)
            return x.copy(), shift, out, totals

        yield Case((3, blocks.BLOCK), make, {2: sums.ravel()[:549], 3: sums[:, -1]})


for _variant in scan.IN_BLOCKS:
    of(_variant.kernel)(_scan)


@of(scan.ONE_PASS.kernel)
def _scan_one_pass() -> Iterator[Case]:
    n = 2 * scan.ONE_PASS.tile + 549
    for shift in (0, 1):
        x = values(n, dtype=np.uint8).astype(np.float32)
        right = np.cumsum(np.pad(x, (shift, 0))[:n], dtype=np.float64)

        def make(x: Array = x, shift: int = shift) -> tuple[Any, ...]:
            flags, sums = np.zeros(4, np.int32), cuda.device_array((2, 3), np.float32)
            return x.copy(), shift, cuda.device_array(n, np.float32), flags, sums

        yield Case((3, blocks.BLOCK), make, {2: right, 3: np.array([2, 2, 2, 3], np.int32)})


@of(scan.COMPACT_SCATTER.kernel)
def _compact_scatter() -> Iterator[Case]:
    x, keep = values(300), values(300) > 1.2
    keep[[0, -1]] = True  # elements that a wrong guard would leave out
    places = np.cumsum(keep, dtype=np.int32) - keep
    yield case(2, blocks.BLOCK, (x, keep, places), x[keep])


@of(histogram.histogram_atomic_kernel)
def _histogram() -> Iterator[Case]:
    # 299 bins, more than a block has threads; values at both ends, and outside on either side.
    x = values(549, dtype=np.uint8).astype(np.int32) * 2 - 60
    x[:4] = 0, -1, 298, 299
    right = histogram.bincount_reference(x, 299)
    yield Case((3, 256), lambda: (x.copy(), np.zeros(299, np.int32)), {1: right})


@of(histogram.histogram_privatized_kernel)
def _privatized() -> Iterator[Case]:
    for one in _histogram():
        yield Case((2, 256, 0, 1196), one.make, one.expected)
