"""Maximum, minimum and argmax of a vector, by warp shuffles and a second launch, without atomics.

One comparison decides between two elements, `gpukit.collectives.larger`: NaN is larger than every
number, so the result is NaN where any element is, as in np.max and np.argmax. There are no
atomics: blocks write their results, and a launch of one block reduces those, so the result never
depends on the order of blocks. 0.0 and -0.0 are equal, and either may be the maximum.

Legend
    n          elements of the vector                             1000
    i          the element that this thread compares              range [0, n)
    tid        the thread in its block                            range [0, BLOCK)
    best       the largest element of this thread so far, -inf before the first
    at         its index in x; n or more where a thread has compared none
    step       distance in lanes to the element that is compared  16, 8, 4, 2, 1
    found      the maximum (or the minimum) of each block         4 for n = 1000
    places     its index in x                                     4 for n = 1000
    warp       the warp whose maximum thread 0 compares           range [1, WARPS)
    tops       the maximum of each warp of the block              WARPS of them
    tops_at    its index in x                                     WARPS of them
    BLOCK      threads per block                                  256
    WARPS      warps per block                                    8

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for both arrays
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
    """Return the maximum, NaN if any element is."""
    return float(np.max(np.asarray(x, np.float64)))


def min_reference(x: npt.ArrayLike) -> float:
    """Return the minimum, NaN if any element is."""
    return float(np.min(np.asarray(x, np.float64)))


def argmax_reference(x: npt.ArrayLike) -> int:
    """Return the index of the first NaN, or else of the first maximum."""
    return int(np.argmax(np.asarray(x, np.float64)))


# --- Which one wins --------------------------------------------------------------------------


@cuda.jit(device=True)
def ahead(value, i, best, at):
    """Return whether x[i], which is value, is larger than x[at], or equal and before it."""
    return larger(value, best) or (i < at and not larger(best, value))


# --- Kernels: values -------------------------------------------------------------------------


@cuda.jit
def max_kernel(x, found):
    """Compute the maximum of the elements of each block, with a grid-stride loop per thread.

    New here   the maximum instead of the sum: it is exact, so the order does not matter, and an
               element may be compared twice. A second launch of this kernel, with one block,
               reduces the results of the blocks: no atomics, and the same bits in every run
    Shapes     x (n,), found (blocks,); any n >= 1
    Shared     BLOCK / 32 * itemsize bytes, static
    Cost       bytes: itemsize (n + blocks); flops: 0; barriers: 1
    Errors     the host function rejects other dtypes and empty vectors; the kernel assumes its
               block is BLOCK, and returns -inf where a block has no element
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
    """One load per element, one store per block; comparisons are not counted."""
    return Cost(bytes=itemsize * (n + (blocks or stride_blocks(n, BLOCK))), flops=0)


@cuda.jit
def min_kernel(x, found):
    """Compute the minimum of the elements of each block, with a grid-stride loop per thread.

    New here   no comparison of its own: the minimum is minus the maximum of all elements negated.
               Negation is exact, and NaN stays NaN
    Shapes     x (n,), found (blocks,); any n >= 1
    Shared     BLOCK / 32 * itemsize bytes, static
    Cost       bytes: itemsize (n + blocks); flops: 0; barriers: 1
    Errors     the host function rejects other dtypes and empty vectors; the kernel assumes its
               block is BLOCK, and returns inf where a block has no element
    Source     gpukit
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
    """Return, in lane 0, the maximum of the warp and its index. Every lane must call it."""
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
    """Return, in thread 0, the maximum of the block and its index. Every thread must call it."""
    best, at = first_lane(best, at)
    if tid % WARP == 0:
        tops[tid // WARP] = best
        tops_at[tid // WARP] = at
    cuda.syncthreads()  # every warp's maximum is written before thread 0 reads it
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
    """Compute the index of the maximum of the elements of each block.

    New here   a value and its index are exchanged together, with two shuffles per step. Of equal
               elements the lower index wins, so the order of comparisons does not matter.
               An index of 4 bytes takes one register and one shuffle where one of 8 takes two
    Shapes     x (n,), places (blocks,); any n >= 1
    Dtypes     float32 or float64 in, int32 or int64 out: int32 while n fits it
    Launch     block BLOCK, grid stride_blocks(n, BLOCK), or less; x = element
    Shared     BLOCK / 32 * (itemsize + placesize) bytes, static
    Cost       bytes: itemsize n + placesize blocks; flops: 0; barriers: 1
    Errors     the host function rejects other dtypes and empty vectors; the kernel assumes its
               block is BLOCK, that every block has an element, and that n fits the index dtype
    Source     gpukit
    """
    tid = cuda.threadIdx.x
    tops = cuda.shared.array(WARPS, x.dtype)
    tops_at = cuda.shared.array(WARPS, places.dtype)
    best = x.dtype.type(LOWEST)
    # The thread's first element: the right index as long as all that it compares is -inf.
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
    """One load per element, one store of an index per block."""
    return Cost(bytes=itemsize * n + placesize * (blocks or stride_blocks(n, BLOCK)), flops=0)


@cuda.jit
def argmax_finish_kernel(x, places, out):
    """Compute which of the given indices into x has the largest element, in one block.

    New here   only the index is stored between the launches: the value is loaded from x again
    Shapes     x (n,), places (m,), out (1,); any n >= 1 and m >= 1
    Dtypes     float32 or float64 x, int32 or int64 places, int64 out
    Launch     block BLOCK, grid 1; x = index into places
    Shared     BLOCK / 32 * (itemsize + 8) bytes, static
    Cost       bytes: (itemsize + placesize) m + 8; flops: 0; barriers: 1
    Errors     the kernel assumes its block is BLOCK, its grid 1, and indices within x
    Source     gpukit
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
    """An index and a value per block of the first launch, and one store of 8 bytes."""
    return Cost(bytes=(itemsize + placesize) * m + 8, flops=0)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("x: n")
def max(x: Any, *, stream: Any = 0) -> Any:
    """Return the maximum of a float32 or float64 vector, NaN if any element is.

    (n,) gives a scalar of the same dtype: `[1. 3. 2.]` gives `3.`
    Raises ValueError for an empty vector.
    """
    return _extreme("max", max_kernel, x, stream)


@signature.takes("x: n")
def min(x: Any, *, stream: Any = 0) -> Any:
    """Return the minimum of a float32 or float64 vector, NaN if any element is.

    (n,) gives a scalar of the same dtype: `[2. 1. 3.]` gives `1.`
    Raises ValueError for an empty vector.
    """
    return _extreme("min", min_kernel, x, stream)


@signature.takes("x: n")
def argmax(x: Any, *, stream: Any = 0) -> np.int64:
    """Return the index of the maximum of a float32 or float64 vector, the first of equal ones.

    (n,) gives one index: `[1. 3. 3.]` gives `1`. NaN counts as the largest. Raises
    ValueError for an empty vector.
    """
    _check_any("argmax", x)
    blocks = stride_blocks(x.shape[0], BLOCK)
    places, out = launch.empty((blocks,), place_dtype(x.shape[0])), launch.empty((1,), np.int64)
    argmax_kernel[blocks, BLOCK, stream](x, places)
    argmax_finish_kernel[1, BLOCK, stream](x, places, out)
    return np.int64(launch.to_host(out, stream)[0])


def _extreme(function: str, kernel: Any, x: Any, stream: Any) -> Any:
    """Compute the extreme of each block, then that of the blocks' results."""
    _check_any(function, x)
    blocks = stride_blocks(x.shape[0], BLOCK)
    found, out = launch.empty((blocks,), x.dtype), launch.empty((1,), x.dtype)
    kernel[blocks, BLOCK, stream](x, found)
    kernel[1, BLOCK, stream](found, out)
    return launch.to_host(out, stream)[0]


def _check_any(function: str, x: Any) -> None:
    """Raise ValueError for an empty vector."""
    if x.shape[0] == 0:
        raise ValueError(
            f"{function}: expected x.shape[0] >= 1, got shape (0,). Pass one element or more: "
            "nothing is the largest or smallest of none."
        )


def place_dtype(n: int) -> type[np.int32 | np.int64]:
    """Return the smaller dtype that holds every index into n elements."""
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
