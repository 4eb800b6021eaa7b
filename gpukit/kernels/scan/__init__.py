"""Scan (prefix sums), inclusive and exclusive, and stream compaction, which is built on it.

The variants in `blocks` take three launches, `one_pass` takes one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit import launch, signature
from gpukit.kernels import vector
from gpukit.kernels.scan import blocks, compaction, one_pass
from gpukit.kernels.scan.blocks import (
    BLOCK,
    NUMBERS,
    exclusive_scan_reference,
    inclusive_scan_reference,
)
from gpukit.kernels.scan.compaction import compact_reference
from gpukit.launch import Variant

*IN_BLOCKS, ADD_OFFSETS = blocks.VARIANTS
(ONE_PASS,) = one_pass.VARIANTS
(COMPACT_SCATTER,) = compaction.VARIANTS
SCAN_VARIANTS = (*IN_BLOCKS, ONE_PASS)
VARIANTS = (*SCAN_VARIANTS, ADD_OFFSETS, COMPACT_SCATTER)


@signature.takes("x: n -> n", dtypes=NUMBERS, in_place=True)
def inclusive_scan(x: Any, *, variant: str = "block", out: Any = None, stream: Any = 0) -> Any:
    """Return the inclusive prefix sums of a float32 or int32 vector (cumsum).

    `[1. 2. 3.]` gives `[1. 3. 6.]`: (n,) gives (n,) of the same dtype. `out` may be x. np.cumsum
    widens int32 to int64; this does not, and wraps. "block" is the fastest on a CPU; "one_pass"
    reads and writes every element once, for GPUs.
    """
    return _scan("inclusive_scan", x, 0, variant, out, stream)


cumsum = inclusive_scan  # NumPy's name


@signature.takes("x: n -> n", dtypes=NUMBERS)
def exclusive_scan(x: Any, *, variant: str = "block", out: Any = None, stream: Any = 0) -> Any:
    """Return the exclusive prefix sums of a float32 or int32 vector.

    `[1. 2. 3.]` gives `[0. 1. 3.]`: (n,) gives (n,) of the same dtype. `out` must not be x: blocks
    read elements of the block before them.
    """
    return _scan("exclusive_scan", x, 1, variant, out, stream)


@signature.takes("x: n, keep: n -> kept", dtypes=NUMBERS, keep=(np.bool_,))
def compact(x: Any, keep: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return the elements of a float32 or int32 vector whose flag is true, in order.

    `[5. 6. 7.]` with `[True False True]` is `[5. 7.]`: (n,) and bool (n,) give (kept,). Waits for
    the stream, since the number of true flags is the size of the result.
    """
    n, kept = x.shape[0], 0
    places = launch.empty((n + 1,), np.int32)
    if n:
        _in_blocks("compact", SCAN_VARIANTS[0], keep, 1, places, stream)
        last = places[n:]  # the number of true flags
        kept = int((launch.to_host(last, stream))[0])
    result = out.of((kept,))
    if kept:
        grid = COMPACT_SCATTER.grid("compact", n)
        COMPACT_SCATTER.kernel[grid, BLOCK, stream](x, keep, places, result.array)
    return result.get()


def _scan(function: str, x: Any, shift: int, variant: str, out: Any, stream: Any) -> Any:
    """Scan a vector for a public function, and return its result."""
    chosen = launch.pick(function, SCAN_VARIANTS, variant)
    if x.shape[0]:
        run = _one_pass if chosen is ONE_PASS else _in_blocks
        run(function, chosen, x, shift, out.array, stream)
    return out.get()


def _in_blocks(function: str, variant: Variant, x: Any, shift: int, out: Any, stream: Any) -> None:
    """Scan x to out: scan the blocks, scan their totals recursively, then add those."""
    grid = variant.grid(function, out.shape[0])
    sums = launch.empty(grid, out.dtype)
    variant.kernel[grid, BLOCK, stream](x, shift, out, sums)
    if grid != (1,):
        offsets = launch.empty(grid, out.dtype)
        _in_blocks(function, variant, sums, 1, offsets, stream)
        ADD_OFFSETS.kernel[grid, BLOCK, stream](offsets, out)


def _one_pass(function: str, variant: Variant, x: Any, shift: int, out: Any, stream: Any) -> None:
    """Scan x to out in one launch, after a launch that sets the flags to 0."""
    grid = variant.grid(function, out.shape[0])
    flags = launch.empty((grid[0] + 1,), np.int32)
    fill = vector.FILL_VARIANTS[0]
    fill.kernel[fill.grid(function, flags.size), fill.block, stream](0, flags)
    sums = launch.empty((2, *grid), out.dtype)
    variant.kernel[grid, BLOCK, stream](x, shift, out, flags, sums)


__all__ = [
    "VARIANTS",
    "SCAN_VARIANTS",
    "compact",
    "compact_reference",
    "cumsum",
    "exclusive_scan",
    "exclusive_scan_reference",
    "inclusive_scan",
    "inclusive_scan_reference",
]
