"""Elementwise vector kernels: fill, addition and saxpy, with one or several elements per thread.

Legend
    n       elements in the vector                            1000
    i       the element this thread works on                  range [0, n)
    BLOCK   threads per block                                 256
    alpha   the scalar factor of saxpy ("single a x plus y")  2.5

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for alpha and all arrays
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Errors     the host function rejects unequal shapes or dtypes and casts alpha; the kernel
               checks nothing

Vectorized kernels (four elements per thread)
    Shapes     those of the kernel with one element per thread
    Dtypes     float32, in contiguous arrays aligned to 16 bytes
    Launch     block BLOCK, grid ceil_div(n, 4 BLOCK); x = group of four elements
    Cost       that of the kernel with one element per thread
    Errors     for other arrays the host function launches the kernel with one element per thread
    Source     Justin Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA
               blog, 2013
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.launch import Cost, Variant
from gpukit.primitives import vectorized
from gpukit.primitives.vectorized import WIDTH, store4, zip4
from gpukit.results import Result

BLOCK = 256

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def fill_reference(n: int, value: float) -> Float64:
    """Return n copies of `value`."""
    return np.full(n, value, np.float64)


def vector_add_reference(a: npt.ArrayLike, b: npt.ArrayLike) -> Float64:
    """Return a + b."""
    return np.add(a, b, dtype=np.float64)


def saxpy_reference(alpha: float, x: npt.ArrayLike, y: npt.ArrayLike) -> Float64:
    """Return alpha * x + y."""
    return alpha * np.asarray(x, np.float64) + np.asarray(y, np.float64)


def elementwise_cost(accesses: int, flops: int) -> Callable[..., Cost]:
    """Return the cost function of a kernel with so many accesses and operations per element.

    >>> elementwise_cost(accesses=3, flops=2)(1000)
    Cost(bytes=12000, flops=2000)
    """

    def cost(n: int, itemsize: int = 4) -> Cost:
        return Cost(bytes=accesses * itemsize * n, flops=flops * n)

    return cost


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def fill_kernel(value, out):
    """Set every element of out to value, one element per thread.

    New here   each thread computes its global index from its block index and its thread index;
               the guard masks off the threads of the last block that lie beyond the end
    Shapes     value scalar, out (n,); any n >= 1
    Dtypes     float32 or float64 out; value is cast to it
    Cost       bytes: itemsize n; flops: 0; barriers: 0
    Errors     the host function rejects n < 0; the kernel assumes a grid of at least n threads
    Source     gpukit
    """
    i = cuda.threadIdx.x + cuda.blockDim.x * cuda.blockIdx.x
    if i < out.shape[0]:
        out[i] = value


fill_cost = elementwise_cost(accesses=1, flops=0)  # one store


@cuda.jit
def fill_vectorized_kernel(value, out):
    """Set every element of out to value, four elements per thread.

    New here   16-byte stores: a quarter of the instructions for the same number of bytes; the
               first threads store the up to three elements after the last group of four
    """
    k, fours = cuda.grid(1), out.shape[0] // WIDTH
    if k < fours:
        store4(out, k, value, value, value, value)
    i = fours * WIDTH + k  # the elements after the last group of four
    if i < out.shape[0]:
        out[i] = value


@cuda.jit
def vector_add_kernel(a, b, out):
    """Add two vectors, one element per thread.

    New here   two inputs; cuda.grid(1) is the index formula of fill_kernel in one call
    Shapes     a (n,), b (n,), out (n,); any n >= 1
    Dtypes     float32 or float64, the same for all arrays
    Cost       bytes: 3 itemsize n; flops: n; barriers: 0
    Errors     the host function rejects unequal shapes or dtypes; the kernel assumes they match
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., chapter 2
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + b[i]


vector_add_cost = elementwise_cost(accesses=3, flops=1)  # two loads, one store and one addition


@cuda.jit(device=True)
def add_of(a, b, _like):
    """Return a + b."""
    return a + b


@cuda.jit
def vector_add_vectorized_kernel(a, b, out):
    """Add two vectors, four elements per thread.

    New here   16-byte loads as well; zip4 does for any function of two values what
               fill_vectorized_kernel does by hand
    """
    zip4(add_of, a, cuda.grid(1), a, b, out)


@cuda.jit
def saxpy_kernel(alpha, x, y, out):
    """Compute alpha * x + y, one element per thread.

    New here   a scalar argument, the same for all threads. It must have the dtype of the arrays: a
               Python float is float64 and would promote float32 arithmetic to float64
    Shapes     alpha scalar, x (n,), y (n,), out (n,); any n >= 1
    Cost       bytes: 3 itemsize n; flops: 2 n; barriers: 0
    Source     BLAS level 1, Lawson and others 1979
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = alpha * x[i] + y[i]


# Two loads, one store, one multiplication and one addition.
saxpy_cost = elementwise_cost(accesses=3, flops=2)


@cuda.jit
def saxpy_grid_stride_kernel(alpha, x, y, out):
    """Compute alpha * x + y in a grid-stride loop.

    New here   the loop: the result is correct for any grid and any n, so the grid can be sized to
               the device instead of the data, with as many blocks as can be resident at once.
               Neighbouring threads still access neighbouring elements in every iteration
    Shapes     alpha scalar, x (n,), y (n,), out (n,); any n >= 1
    Launch     block BLOCK, grid stride_blocks(n, BLOCK), or any other; x = element
    Cost       bytes: 3 itemsize n; flops: 2 n; barriers: 0
    Source     Mark Harris, "Write Flexible Kernels with Grid-Stride Loops", NVIDIA blog, 2013
    """
    for i in range(cuda.grid(1), out.shape[0], cuda.gridsize(1)):
        out[i] = alpha * x[i] + y[i]


@cuda.jit(device=True)
def saxpy_of(x, y, alpha):
    """Return alpha x + y."""
    return alpha * x + y


@cuda.jit
def saxpy_vectorized_kernel(alpha, x, y, out):
    """Compute alpha * x + y, four elements per thread.

    New here   alpha is the same for all threads; zip4 passes it to the function
    """
    zip4(saxpy_of, alpha, cuda.grid(1), x, y, out)


# --- Host functions --------------------------------------------------------------------------


@signature.takes_old_names
def fill(
    n: int,
    value: float,
    *,
    dtype: Any = np.float32,
    variant: str = "fill",
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return a vector of n elements, all `value`, of dtype float32 or float64.

    `fill(3, 7)` is `[7. 7. 7.]`.
    """
    chosen = launch.pick("fill", FILL_VARIANTS, variant)
    n = launch.check_int("fill", "n", n, least=0)
    dtype = np.dtype(dtype)
    if dtype not in launch.FLOATS:
        raise TypeError(
            f"fill: expected dtype to be float32 or float64, got {dtype}. Pass one of them."
        )
    result = Result("fill", out, (n,), dtype, stream=stream)
    if n:
        _launch("fill", FILL_VARIANTS, chosen, n, stream, dtype.type(value), result.array)
    return result.get()


@signature.takes("a: n, b: n -> n", in_place=True)
def vector_add(
    a: Any, b: Any, *, variant: str = "vector_add", out: Any = None, stream: Any = 0
) -> Any:
    """Return a + b for two vectors of one length, both float32 or both float64.

    `[1. 2.] + [10. 20.]` is `[11. 22.]`: (n,) and (n,) give (n,) of the same dtype.
    """
    chosen = launch.pick("vector_add", ADD_VARIANTS, variant)
    if n := a.shape[0]:
        _launch("vector_add", ADD_VARIANTS, chosen, n, stream, a, b, out.array)
    return out.get()


@signature.takes("x: n, y: n -> n", in_place=True)
def saxpy(
    alpha: float,
    x: Any,
    y: Any,
    *,
    variant: str = "saxpy_grid_stride",
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return alpha * x + y for two vectors of one length, both float32 or both float64.

    `2 * [1. 2.] + [10. 20.]` is `[12. 24.]`: (n,) and (n,) give (n,) of the same dtype, to which
    alpha is cast.
    """
    chosen = launch.pick("saxpy", SAXPY_VARIANTS, variant)
    if n := x.shape[0]:
        arguments = x.dtype.type(alpha), x, y, out.array
        _launch("saxpy", SAXPY_VARIANTS, chosen, n, stream, *arguments)
    return out.get()


def _launch(
    function: str,
    variants: tuple[Variant, ...],
    variant: Variant,
    n: int,
    stream: Any,
    *arguments: Any,
) -> None:
    """Launch a variant, or its fallback where the arrays do not allow 16-byte access."""
    if variant.instead and not vectorized.fits(*(a for a in arguments if np.ndim(a))):
        variant = launch.pick(function, variants, variant.instead)
    variant.kernel[variant.grid(function, n), variant.block, stream](*arguments)


_variant = functools.partial(Variant, block=BLOCK)
_vectorized = functools.partial(_variant, tile=WIDTH * BLOCK, dtypes=(np.float32,))
FILL_VARIANTS = (
    _variant("fill", fill_kernel, fill_cost, fill_reference),
    _vectorized(
        "fill_vectorized", fill_vectorized_kernel, fill_cost, fill_reference, instead="fill"
    ),
)
ADD_VARIANTS = (
    _variant("vector_add", vector_add_kernel, vector_add_cost, vector_add_reference),
    _vectorized(
        "vector_add_vectorized",
        vector_add_vectorized_kernel,
        vector_add_cost,
        vector_add_reference,
        instead="vector_add",
    ),
)
SAXPY_VARIANTS = (
    _variant("saxpy", saxpy_kernel, saxpy_cost, saxpy_reference),
    _variant(
        "saxpy_grid_stride", saxpy_grid_stride_kernel, saxpy_cost, saxpy_reference, grid_stride=True
    ),
    _vectorized(
        "saxpy_vectorized", saxpy_vectorized_kernel, saxpy_cost, saxpy_reference, instead="saxpy"
    ),
)

VARIANTS = (*FILL_VARIANTS, *ADD_VARIANTS, *SAXPY_VARIANTS)
__all__ = launch.public_names(globals())
