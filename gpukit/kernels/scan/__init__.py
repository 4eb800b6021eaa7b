"""Scan: every element becomes the sum of those up to it. And compaction, which is made of it.

`blocks` needs three launches: blocks scan, then their totals. `one_pass` needs one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit import launch
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


def inclusive_scan(x: Any, *, variant: str = "block", out: Any = None, stream: Any = 0) -> Any:
    """Return the sums of a float32 or int32 vector up to each element and with it.

    `[1. 2. 3.]` gives `[1. 3. 6.]`: (n,) gives (n,) of the same dtype. `out` may be x. np.cumsum
    widens int32 to int64; this does not, and wraps. "block" is the quickest on a CPU; "one_pass"
    reads and writes every element once, for GPUs.
    """
    return _scan("inclusive_scan", x, 0, variant, out, stream)


cumsum = inclusive_scan  # NumPy's name


def exclusive_scan(x: Any, *, variant: str = "block", out: Any = None, stream: Any = 0) -> Any:
    """Return the sums of a float32 or int32 vector before each element.

    `[1. 2. 3.]` gives `[0. 1. 3.]`: (n,) gives (n,) of the same dtype. `out` must not be x: blocks
    read elements of the block before them.
    """
    return _scan("exclusive_scan", x, 1, variant, out, stream)


def compact(x: Any, keep: Any, *, stream: Any = 0) -> Any:
    """Return the elements of a float32 or int32 vector whose flag is true, in order.

    `[5. 6. 7.]` with `[True False True]` is `[5. 7.]`: (n,) and bool (n,) give (kept,). Waits for
    the stream, to know how many there are.
    """
    x, keep = launch.as_array(x), launch.as_array(keep)
    launch.check_array("compact", "x", x, ndim=1, dtypes=NUMBERS)
    launch.check_array("compact", "keep", keep, ndim=1, dtypes=(np.bool_,))
    launch.check_shape("compact", "keep", keep, tuple(x.shape), "Give each element a flag.")
    n, kept = x.shape[0], 0
    flags, places = launch.to_device(keep, stream), launch.empty((n + 1,), np.int32)
    if n:
        _in_blocks("compact", SCAN_VARIANTS[0], flags, 1, places, stream)
        last = places[n:]  # how many flags are true
        kept = int((last if isinstance(last, np.ndarray) else last.copy_to_host(stream=stream))[0])
    result = launch.Result("compact", None, (kept,), x.dtype, x, keep, stream=stream)
    if kept:
        grid = COMPACT_SCATTER.grid("compact", n)
        values = launch.to_device(x, stream)
        COMPACT_SCATTER.kernel[grid, BLOCK, stream](values, flags, places, result.array)
    return result.get()


def _scan(function: str, x: Any, shift: int, variant: str, out: Any, stream: Any) -> Any:
    """Check, scan, and return the result of a public function."""
    chosen = launch.pick(function, SCAN_VARIANTS, variant)
    x = launch.as_array(x)
    launch.check_array(function, "x", x, ndim=1, dtypes=NUMBERS)
    result = launch.Result(function, out, tuple(x.shape), x.dtype, x, stream=stream)
    if shift:
        launch.check_no_overlap(function, out, x=x)
    if x.shape[0]:
        run = _one_pass if chosen is ONE_PASS else _in_blocks
        run(function, chosen, launch.to_device(x, stream), shift, result.array, stream)
    return result.get()


def _in_blocks(function: str, variant: Variant, x: Any, shift: int, out: Any, stream: Any) -> None:
    """Scan x into out: the blocks, then their totals in the same way, then add those."""
    grid = variant.grid(function, out.shape[0])
    sums = launch.empty(grid, out.dtype)
    variant.kernel[grid, BLOCK, stream](x, shift, out, sums)
    if grid != (1,):
        offsets = launch.empty(grid, out.dtype)
        _in_blocks(function, variant, sums, 1, offsets, stream)
        ADD_OFFSETS.kernel[grid, BLOCK, stream](offsets, out)


def _one_pass(function: str, variant: Variant, x: Any, shift: int, out: Any, stream: Any) -> None:
    """Scan x into out in one launch, after one that sets its flags to 0."""
    grid = variant.grid(function, out.shape[0])
    flags = launch.empty((grid[0] + 1,), np.int32)
    fill = vector.FILL_VARIANTS[0]
    fill.kernel[fill.grid(function, flags.size), fill.block, stream](0, flags)
    sums = launch.empty((2, *grid), out.dtype)
    variant.kernel[grid, BLOCK, stream](x, shift, out, flags, sums)


__all__ = [
    "VARIANTS", "SCAN_VARIANTS", "compact", "compact_reference", "cumsum", "exclusive_scan",
    "exclusive_scan_reference", "inclusive_scan", "inclusive_scan_reference",
]  # fmt: skip
