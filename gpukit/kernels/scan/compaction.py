"""Compaction: keep the elements whose flag is true, each at the place that a scan gives it.

Legend
    n       elements                                  1000
    i       the element that this thread may keep     [0, n)
    kept    how many flags are true                   400
    places  for each element, the flags before it     [0, kept]
    BLOCK   threads in a block                        256
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels.scan.blocks import BLOCK, NUMBERS
from gpukit.launch import Cost, Variant


def compact_reference(x: npt.ArrayLike, keep: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return the elements whose flag is true, in order."""
    return np.asarray(x)[np.asarray(keep, np.bool_)]


@cuda.jit
def compact_scatter_kernel(x, keep, places, out):
    """Copy each element that is kept to its place, one thread for one element.

    New here   the exclusive scan of the flags counts the kept elements before each one, and
               that is its place: every thread knows where to write without asking another
    Shapes     x (n,), keep (n,), places (n,) or one more, out (kept,); any n >= 1
    Dtypes     float32 or int32 x and out, bool keep, int32 places
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Cost       bytes: n + 12 kept; flops: 0; barriers: 0
    Errors     the host function rejects unequal shapes; the kernel assumes places to be right
    Source     Blelloch, "Prefix Sums and Their Applications", 1990
    """
    i = cuda.grid(1)
    if i < x.shape[0] and keep[i]:
        out[places[i]] = x[i]


def compact_scatter_cost(n: int, kept: int) -> Cost:
    """One flag of a byte for each element; place, element and store for those that are kept."""
    return Cost(bytes=n + 12 * kept, flops=0)


VARIANTS = (
    Variant(
        "compact_scatter",
        compact_scatter_kernel,
        compact_scatter_cost,
        reference=compact_reference,
        block=BLOCK,
        dtypes=NUMBERS,
    ),
)
__all__ = launch.public_names(globals())
