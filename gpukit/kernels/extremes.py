"""Largest and smallest: max, min and argmax. Lanes compare registers, and a second launch finishes.

Which of two elements wins is asked in one place, `gpukit.collectives.larger`: NaN wins over every
number, so the answer is NaN where any element is, as np.max and np.argmax have it. There is no
atomic: blocks write what they found, and one block more looks through that, so the answer never
depends on which block came first. 0.0 and -0.0 are equal, and the largest is either of the two.

Legend
    n          elements to look through                               1000
    i          the element this thread looks at                       ranges [0, n)
    tid        the thread in its block                                ranges [0, BLOCK)
    best       the largest this thread has seen, -inf before the first
    at         where that element lies in x; n or more where a thread saw none
    step       how many lanes away the element is that joins          16, 8, 4, 2, 1
    found      the largest (or the smallest) of each block            4 for n = 1000
    places     where it lies in x                                     4 for n = 1000
    warp       the warp whose largest thread 0 looks at               ranges [1, WARPS)
    tops       the largest of each warp of the block                  WARPS of them
    tops_at    where it lies in x                                     WARPS of them
    BLOCK      threads in a block                                     256
    WARPS      warps in a block                                       8

All kernels, unless one says otherwise
    Dtypes     float32 or float64, one for both arrays
    Launch     block BLOCK, grid stride_blocks(n, BLOCK), or any other; x = element
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import ALL_LANES, WARP, block_max, larger
from gpukit.launch import Cost, Variant, stride_blocks

BLOCK = 256
WARPS = BLOCK // WARP
LOWEST = -np.inf


# --- References ------------------------------------------------------------------------------


def max_reference(x: npt.ArrayLike) -> float:
    """Return the largest element, NaN if there is one."""
    return float(np.max(np.asarray(x, np.float64)))


def min_reference(x: npt.ArrayLike) -> float:
    """Return the smallest element, NaN if there is one."""
    return float(np.min(np.asarray(x, np.float64)))


def argmax_reference(x: npt.ArrayLike) -> int:
    """Return the place of the first NaN, or else of the first of the largest elements."""
    return int(np.argmax(np.asarray(x, np.float64)))


# --- Which one wins --------------------------------------------------------------------------


@cuda.jit(device=True)
def ahead(value, i, best, at):
    """Return whether x[i], which is value, is larger than x[at], or as large and before it."""
    return larger(value, best) or (i < at and not larger(best, value))


# --- Kernels: values -------------------------------------------------------------------------


@cuda.jit
def max_kernel(x, found):
    """Find the largest element in the share of each block, each thread first looking at many.

    New here   the largest instead of the sum: it is exact, so its order does not matter, and an
               element may count twice. What the blocks found is looked through by one block in
               a second launch of this kernel: no atomics, and always the same bits
    Shapes     x (n,), found (blocks,); any n >= 1
    Shared     BLOCK / 32 * itemsize bytes, static
    Cost       bytes: itemsize (n + blocks); flops: 0; barriers: 1
    Errors     the host function rejects other dtypes and no elements; the kernel assumes its
               block is BLOCK, and finds -inf where a block has no element
    Source     Justin Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA blog, 2014
    """
    tid = cuda.threadIdx.x
    tops = cuda.shared.array(WARPS, x.dtype)
    best = x.dtype.type(LOWEST)
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        value = x[i]
        if larger(value, best):
            best = value
    best = block_max(best, tops, tid, WARPS)
    if tid == 0:
        found[cuda.blockIdx.x] = best


def max_cost(n: int, blocks: int | None = None, itemsize: int = 4) -> Cost:
    """One load for each element, one store for each block; to compare is no arithmetic."""
    return Cost(bytes=itemsize * (n + (blocks or stride_blocks(n, BLOCK))), flops=0)


@cuda.jit
def min_kernel(x, found):
    """Find the smallest element in the share of each block, each thread first looking at many.

    New here   no comparison of its own: the smallest is minus the largest of all with the sign
               changed. A change of sign is exact, and NaN stays NaN
    Shapes     x (n,), found (blocks,); any n >= 1
    Shared     BLOCK / 32 * itemsize bytes, static
    Cost       bytes: itemsize (n + blocks); flops: 0; barriers: 1
    Errors     the host function rejects other dtypes and no elements; the kernel assumes its
               block is BLOCK, and finds inf where a block has no element
    Source     ours
    """
    tid = cuda.threadIdx.x
    tops = cuda.shared.array(WARPS, x.dtype)
    best = x.dtype.type(LOWEST)
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        value = -x[i]
        if larger(value, best):
            best = value
    best = block_max(best, tops, tid, WARPS)
    if tid == 0:
        found[cuda.blockIdx.x] = -best


# --- Kernels: places -------------------------------------------------------------------------


@cuda.jit(device=True)
def first_lane(best, at):
    """Return, in lane 0, what is ahead in the warp. Every lane of the warp must call it."""
    step = WARP // 2
    while step > 0:
        other = cuda.shfl_down_sync(ALL_LANES, best, step)
        other_at = cuda.shfl_down_sync(ALL_LANES, at, step)
        if ahead(other, other_at, best, at):
            best = other
            at = other_at
        step //= 2
    return best, at


@cuda.jit(device=True)
def first_thread(best, at, tops, tops_at, tid):
    """Return, in thread 0, what is ahead in the block. Every thread of the block must call it."""
    best, at = first_lane(best, at)
    if tid % WARP == 0:
        tops[tid // WARP] = best
        tops_at[tid // WARP] = at
    cuda.syncthreads()  # what is ahead in every warp is written before thread 0 reads it
    if tid == 0:
        for warp in range(1, WARPS):
            other = tops[warp]
            other_at = tops_at[warp]
            if ahead(other, other_at, best, at):
                best = other
                at = other_at
    return best, at


@cuda.jit
def argmax_kernel(x, places):
    """Find where the largest element lies in the share of each block.

    New here   a value and its place travel together, two shuffles a step. Lanes meet in no
               order of theirs, so of equal elements the place decides: the lower one is ahead.
               A place of 4 bytes takes one register and one shuffle where one of 8 takes two
    Shapes     x (n,), places (blocks,); any n >= 1
    Dtypes     float32 or float64 in, int32 or int64 out: int32 while n fits it
    Launch     block BLOCK, grid stride_blocks(n, BLOCK), or less; x = element
    Shared     BLOCK / 32 * (itemsize + placesize) bytes, static
    Cost       bytes: itemsize n + placesize blocks; flops: 0; barriers: 1
    Errors     the host function rejects other dtypes and no elements; the kernel assumes its
               block is BLOCK, that every block has an element, and that n fits a place
    Source     ours
    """
    tid = cuda.threadIdx.x
    tops = cuda.shared.array(WARPS, x.dtype)
    tops_at = cuda.shared.array(WARPS, places.dtype)
    best = x.dtype.type(LOWEST)
    # Where it looks first: right as long as all it saw is -inf.
    at = places.dtype.type(cuda.grid(1))
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        value = x[i]
        if larger(value, best):
            best = value
            at = places.dtype.type(i)
    best, at = first_thread(best, at, tops, tops_at, tid)
    if tid == 0:
        places[cuda.blockIdx.x] = at


def argmax_cost(n: int, blocks: int | None = None, itemsize: int = 4, placesize: int = 4) -> Cost:
    """One load for each element, one store of a place for each block."""
    return Cost(bytes=itemsize * n + placesize * (blocks or stride_blocks(n, BLOCK)), flops=0)


@cuda.jit
def argmax_finish_kernel(x, places, out):
    """Find which of some places in x holds the largest element, in one block.

    New here   a place is enough to hand from launch to launch: the value is looked up in x
    Shapes     x (n,), places (m,), out (1,); any n >= 1 and m >= 1
    Dtypes     float32 or float64 x, int32 or int64 places, int64 out
    Launch     block BLOCK, grid 1; x = place
    Shared     BLOCK / 32 * (itemsize + 8) bytes, static
    Cost       bytes: (itemsize + placesize) m + 8; flops: 0; barriers: 1
    Errors     the kernel assumes its block is BLOCK, its grid 1, and places to lie in x
    Source     ours
    """
    tid = cuda.threadIdx.x
    tops = cuda.shared.array(WARPS, x.dtype)
    tops_at = cuda.shared.array(WARPS, np.int64)
    best = x.dtype.type(LOWEST)
    at = x.shape[0]
    for k in range(tid, places.shape[0], BLOCK):
        i = places[k]
        value = x[i]
        if ahead(value, i, best, at):
            best = value
            at = i
    best, at = first_thread(best, at, tops, tops_at, tid)
    if tid == 0:
        out[0] = at


def argmax_finish_cost(m: int, itemsize: int = 4, placesize: int = 4) -> Cost:
    """A place and a value for each block of the launch before, and one store of 8 bytes."""
    return Cost(bytes=(itemsize + placesize) * m + 8, flops=0)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("x: n")
def max(x: Any, *, stream: Any = 0) -> Any:
    """Return the largest element of a float32 or float64 vector, NaN if there is one.

    (n,) gives one number of the same dtype: `[1. 3. 2.]` gives `3.`
    Raises ValueError for no elements.
    """
    return _extreme("max", max_kernel, x, stream)


@signature.takes("x: n")
def min(x: Any, *, stream: Any = 0) -> Any:
    """Return the smallest element of a float32 or float64 vector, NaN if there is one.

    (n,) gives one number of the same dtype: `[2. 1. 3.]` gives `1.`
    Raises ValueError for no elements.
    """
    return _extreme("min", min_kernel, x, stream)


@signature.takes("x: n")
def argmax(x: Any, *, stream: Any = 0) -> np.int64:
    """Return where the largest of a float32 or float64 vector lies, of equal ones the first.

    (n,) gives one place: `[1. 3. 3.]` gives `1`. NaN counts as the largest. Raises
    ValueError for none.
    """
    _check_any("argmax", x)
    blocks = stride_blocks(x.shape[0], BLOCK)
    places, out = launch.empty((blocks,), place_dtype(x.shape[0])), launch.empty((1,), np.int64)
    argmax_kernel[blocks, BLOCK, stream](x, places)
    argmax_finish_kernel[1, BLOCK, stream](x, places, out)
    return np.int64(launch.to_host(out, stream)[0])


def _extreme(function: str, kernel: Any, x: Any, stream: Any) -> Any:
    """Find what is extreme in each block, then in what the blocks found."""
    _check_any(function, x)
    blocks = stride_blocks(x.shape[0], BLOCK)
    found, out = launch.empty((blocks,), x.dtype), launch.empty((1,), x.dtype)
    kernel[blocks, BLOCK, stream](x, found)
    kernel[1, BLOCK, stream](found, out)
    return launch.to_host(out, stream)[0]


def _check_any(function: str, x: Any) -> None:
    """Raise ValueError for a vector without elements."""
    if x.shape[0] == 0:
        raise ValueError(
            f"{function}: expected x.shape[0] >= 1, got shape (0,). Pass one element or more: "
            "nothing is the largest or smallest of none."
        )


def place_dtype(n: int) -> type[np.int32 | np.int64]:
    """Return the smaller dtype that holds every place in n elements."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


_variant = functools.partial(Variant, block=BLOCK, grid_stride=True)
VARIANTS = (
    _variant("max", max_kernel, max_cost, max_reference),
    _variant("min", min_kernel, max_cost, min_reference),
    _variant("argmax", argmax_kernel, argmax_cost, argmax_reference),
    Variant(
        "argmax_finish",
        argmax_finish_kernel,
        argmax_finish_cost,
        argmax_reference,
        BLOCK,
        most_blocks=1,
    ),
)
__all__ = launch.public_names(globals())
