"""Stream compaction: copy the elements whose flag is true, to the indices that a scan computes.

Legend
    n       elements                                      1000
    i       the element that this thread may copy         [0, n)
    kept    number of true flags                          400
    places  the number of true flags before each element  [0, kept]
    BLOCK   threads per block                             256
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
    """Copy each element whose flag is true to its index in out, one element per thread.

    New here   the exclusive scan of the flags counts the true ones before each element, and that
               count is its index in out: every thread knows where to write without communication
    Shapes     x (n,), keep (n,), places (n,) or one more, out (kept,); any n >= 1
    Dtypes     float32 or int32 x and out, bool keep, int32 places
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Cost       bytes: n + 12 kept; flops: 0; barriers: 0
    Errors     the host function rejects unequal shapes; the kernel assumes correct places
    Source     Blelloch, "Prefix Sums and Their Applications", 1990
    """
    i = cuda.grid(1)
    if i < x.shape[0] and keep[i]:
        out[places[i]] = x[i]


def compact_scatter_cost(n: int, kept: int) -> Cost:
    """One flag of a byte per element; index, element and store for those with a true flag."""
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
