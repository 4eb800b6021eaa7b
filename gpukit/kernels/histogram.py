"""Histogram (bincount): count occurrences of each value, with contended atomics.

Legend
    n          values to count                                         1000
    i          the value this thread counts                            range [0, n)
    bins       number of counts; values outside [0, bins) are ignored  256
    b          the bin that this thread clears or adds                 range [0, bins)
    tid        the thread in its block                                 range [0, BLOCK)
    mine       the block's private counts, in shared memory
    BLOCK      threads per block                                       256

All kernels, unless stated otherwise
    Dtypes     uint8 or int32 in, int32 out
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels import vector
from gpukit.launch import Cost, Variant, stride_blocks

BLOCK = 256
# The 48 KiB of static shared memory per block of every GPU, in counts of 4 bytes.
MAX_PRIVATE_BINS = 12288


# --- Reference -------------------------------------------------------------------------------


def bincount_reference(x: npt.ArrayLike, bins: int) -> npt.NDArray[np.int64]:
    """Return how often each of 0, 1, ..., bins - 1 occurs in x."""
    x = np.asarray(x)
    return np.bincount(x[(x >= 0) & (x < bins)], minlength=bins)


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def histogram_atomic_kernel(x, out):
    """Count every value with a global atomic on its bin, one thread per value.

    New here   the data determine where a thread writes, so two threads may need one bin at the
               same time: an atomic reads, adds and writes indivisibly. Atomics on one address are
               serialized, all of them where all values are equal
    Shapes     x (n,), out (bins,); any n, bins >= 1
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = value
    Cost       bytes: (itemsize + 8) n, less where values are ignored; flops: 0; barriers: 0
    Errors     values outside [0, bins) are ignored; the kernel assumes that out is 0 before
               the launch
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., chapter 9
    """
    i = cuda.grid(1)
    if i < x.shape[0]:
        value = x[i]
        if 0 <= value < out.shape[0]:
            cuda.atomic.add(out, value, 1)


def histogram_atomic_cost(n: int, itemsize: int = 1) -> Cost:
    """A load and an atomic per value, all of them counted."""
    return Cost(bytes=(itemsize + 8) * n, flops=0)


@cuda.jit
def histogram_privatized_kernel(x, out):
    """Count every value in a private copy of the bins per block, then add the copies.

    New here   privatization: atomics in shared memory are fast, and only the threads of one block
               contend for them; global memory gets one atomic per bin and block, for any n
    Shapes     x (n,), out (bins,); any n >= 1, bins 1 to MAX_PRIVATE_BINS
    Launch     block BLOCK, grid stride_blocks(n, BLOCK, tile=max(BLOCK, bins), shared=4 bins), or
               any other; x = value
    Shared     bins * 4 bytes, dynamic
    Cost       bytes: itemsize n + 8 bins blocks; flops: 0; barriers: 2
    Errors     values outside [0, bins) are ignored; the kernel assumes that out is 0 before
               the launch, and 4 bins bytes of dynamic shared memory
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., chapter 9
    """
    tid = cuda.threadIdx.x
    bins = out.shape[0]
    mine = cuda.shared.array(0, np.int32)
    for b in range(tid, bins, cuda.blockDim.x):
        mine[b] = 0
    cuda.syncthreads()  # all bins are 0 before any thread counts
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        value = x[i]
        if 0 <= value < bins:
            cuda.atomic.add(mine, value, 1)
    cuda.syncthreads()  # all threads of the block have counted before the counts are read
    for b in range(tid, bins, cuda.blockDim.x):
        cuda.atomic.add(out, b, mine[b])


def histogram_privatized_cost(n: int, bins: int, blocks: int, itemsize: int = 1) -> Cost:
    """A load per value, an atomic per bin and block."""
    return Cost(bytes=itemsize * n + 8 * bins * blocks, flops=0)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("x: n -> bins", dtypes=(np.uint8, np.int32), dtype=np.int32)
def bincount(
    x: Any, bins: int, *, variant: str = "privatized", out: Any = None, stream: Any = 0
) -> Any:
    """Return how often each of 0, 1, ..., bins - 1 occurs in a uint8 or int32 vector.

    `[1 1 3]` with 4 bins gives `[0 2 0 1]`: (n,) gives int32 (bins,). Values outside [0, bins) are
    ignored, where np.bincount raises or returns more bins. More than MAX_PRIVATE_BINS bins exceed
    shared memory and are counted by the variant "atomic", whatever variant is given. A
    count above 2**31 - 1 wraps.
    """
    kernel = launch.pick("bincount", VARIANTS, variant).kernel
    bins = launch.check_int("bincount", "bins", bins, least=1)
    result = out.of((bins,))
    grid = launch.grid_1d("bincount", bins, BLOCK)
    vector.fill_kernel[grid, BLOCK, stream](0, result.array)  # the atomics add to its contents
    n = x.shape[0]
    if n and kernel is histogram_privatized_kernel and bins <= MAX_PRIVATE_BINS:
        kernel[private_blocks(n, bins), BLOCK, stream, 4 * bins](x, result.array)
    elif n:
        grid = launch.grid_1d("bincount", n, BLOCK)
        histogram_atomic_kernel[grid, BLOCK, stream](x, result.array)
    return result.get()


def private_blocks(n: int, bins: int) -> int:
    """Return the grid of histogram_privatized_kernel: a block counts more values than it has bins.

    The shared memory of the bins also limits how many blocks can be resident at once.

    >>> private_blocks(1000, 1000), private_blocks(1001, 1000)
    (1, 2)
    """
    return stride_blocks(n, BLOCK, tile=max(BLOCK, bins), shared=4 * bins)


_variant = functools.partial(
    Variant, reference=bincount_reference, block=BLOCK, dtypes=(np.uint8, np.int32)
)
VARIANTS = (
    _variant("atomic", histogram_atomic_kernel, histogram_atomic_cost),
    _variant(
        "privatized", histogram_privatized_kernel, histogram_privatized_cost, grid_stride=True
    ),
)
__all__ = launch.public_names(globals())
