"""Vectors: one thread for one element, and then few threads for many elements.

Legend
    n       elements in the vector                       1000
    i       the element this thread works on             ranges [0, n)
    BLOCK   threads in a block                           256
    alpha   the factor of saxpy ("single a x plus y")    2.5

All kernels, unless one says otherwise
    Dtypes     float32 or float64, one for alpha and all arrays
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Errors     the host function rejects unequal shapes or dtypes and casts alpha; the kernel does
               none of it
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.launch import Cost, Rung

BLOCK = 256
# A grid-stride launch needs enough blocks to fill the GPU and no more: the largest of today
# runs about a thousand blocks of 256 threads at once.
MAX_BLOCKS = 1024

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


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def fill_kernel(value, out):
    """Set every element of out to value, one thread for one element.

    New here   each thread finds its own element from its block and its place in the block;
               the guard stops the threads that stick out past the end in the last block
    Shapes     value scalar, out (n,); any n >= 1
    Dtypes     float32 or float64 out; value is cast to it
    Cost       bytes: itemsize n; flops: 0; barriers: 0
    Errors     the host function rejects n < 0; the kernel assumes a grid with >= n threads
    Source     ours
    """
    i = cuda.threadIdx.x + cuda.blockDim.x * cuda.blockIdx.x
    if i < out.shape[0]:
        out[i] = value


def fill_cost(n: int, itemsize: int = 4) -> Cost:
    """One store for each element."""
    return Cost(bytes=itemsize * n, flops=0)


@cuda.jit
def vector_add_kernel(a, b, out):
    """Add two vectors, one thread for one element.

    New here   inputs; and cuda.grid(1), which is the index formula of fill_kernel in one call
    Shapes     a (n,), b (n,), out (n,); any n >= 1
    Dtypes     float32 or float64, one for all arrays
    Cost       bytes: 3 itemsize n; flops: n; barriers: 0
    Errors     the host function rejects unequal shapes or dtypes; the kernel assumes them equal
    Source     Kirk and Hwu, Programming Massively Parallel Processors, 4th ed., chapter 2
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + b[i]


def vector_add_cost(n: int, itemsize: int = 4) -> Cost:
    """Two loads, one store and one addition for each element."""
    return Cost(bytes=3 * itemsize * n, flops=n)


@cuda.jit
def saxpy_kernel(alpha, x, y, out):
    """Compute alpha * x + y, one thread for one element.

    New here   a scalar argument, the same for all threads; it must arrive in the dtype of the
               arrays, for a Python float is float64 and would make float32 arithmetic float64
    Shapes     alpha scalar, x (n,), y (n,), out (n,); any n >= 1
    Cost       bytes: 3 itemsize n; flops: 2 n; barriers: 0
    Source     BLAS level 1, Lawson and others 1979
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = alpha * x[i] + y[i]


def saxpy_cost(n: int, itemsize: int = 4) -> Cost:
    """Two loads, one store, one multiplication and one addition for each element."""
    return Cost(bytes=3 * itemsize * n, flops=2 * n)


@cuda.jit
def saxpy_grid_stride_kernel(alpha, x, y, out):
    """Compute alpha * x + y, each thread taking every gridsize-th element.

    New here   the loop: any grid is right for any n, so the grid can fit the GPU instead of
               the data; neighbouring threads still touch neighbouring elements at every step
    Shapes     alpha scalar, x (n,), y (n,), out (n,); any n >= 1
    Launch     block BLOCK, grid min(ceil_div(n, BLOCK), MAX_BLOCKS), or any other; x = element
    Cost       bytes: 3 itemsize n; flops: 2 n; barriers: 0
    Source     Mark Harris, "Write Flexible Kernels with Grid-Stride Loops", NVIDIA blog, 2013
    """
    for i in range(cuda.grid(1), out.shape[0], cuda.gridsize(1)):
        out[i] = alpha * x[i] + y[i]


def saxpy_grid_stride_cost(n: int, itemsize: int = 4) -> Cost:
    """The work of saxpy_cost: it is only shared out differently."""
    return saxpy_cost(n, itemsize)


# --- Host functions --------------------------------------------------------------------------


def fill(n: int, value: float, *, dtype: Any = np.float32, out: Any = None, stream: Any = 0) -> Any:
    """Return a vector of n elements, all `value`, of dtype float32 or float64.

    `fill(3, 7)` is `[7. 7. 7.]`.
    """
    n = launch.check_int("fill", "n", n, least=0)
    dtype = np.dtype(dtype)
    if dtype not in launch.FLOATS:
        raise TypeError(
            f"fill: expected dtype to be float32 or float64, got {dtype}. Pass one of them."
        )
    result = launch.Result("fill", out, (n,), dtype, stream=stream)
    if n:
        grid = launch.grid_1d("fill", n, BLOCK)
        fill_kernel[grid, BLOCK, stream](dtype.type(value), result.array)
    return result.get()


def vector_add(a: Any, b: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return a + b for two vectors of one length, both float32 or both float64.

    `[1. 2.] + [10. 20.]` is `[11. 22.]`: (n,) and (n,) give (n,) of the same dtype.
    """
    a, b = _pair("vector_add", a=a, b=b)
    n = a.shape[0]
    result = launch.Result("vector_add", out, (n,), a.dtype, a, b, stream=stream)
    if n:
        grid = launch.grid_1d("vector_add", n, BLOCK)
        inputs = launch.to_device(a, stream), launch.to_device(b, stream)
        vector_add_kernel[grid, BLOCK, stream](*inputs, result.array)
    return result.get()


def saxpy(
    alpha: float, x: Any, y: Any, *, rung: str = "saxpy_grid_stride", out: Any = None,
    stream: Any = 0,
) -> Any:  # fmt: skip
    """Return alpha * x + y for two vectors of one length, both float32 or both float64.

    `2 * [1. 2.] + [10. 20.]` is `[12. 24.]`: (n,) and (n,) give (n,) of the same dtype, to which
    alpha is cast.
    """
    chosen = launch.pick("saxpy", SAXPY_LADDER, rung)
    x, y = _pair("saxpy", x=x, y=y)
    n = x.shape[0]
    result = launch.Result("saxpy", out, (n,), x.dtype, x, y, stream=stream)
    if n:
        grid = chosen.grid("saxpy", n)
        inputs = launch.to_device(x, stream), launch.to_device(y, stream)
        chosen.kernel[grid, chosen.block, stream](x.dtype.type(alpha), *inputs, result.array)
    return result.get()


def _pair(function: str, **pair: Any) -> tuple[Any, Any]:
    """Return both arrays as ours; raise unless they are floats of one dtype, equally many."""
    (first, a), (second, b) = ((name, launch.adopt(array)) for name, array in pair.items())
    for name, array in ((first, a), (second, b)):
        launch.check_array(function, name, array, ndim=1, dtypes=launch.FLOATS)
    launch.check_same_dtype(function, **{first: a, second: b})
    advice = f"Make {first} and {second} equally long."
    launch.check_shape(function, second, b, tuple(a.shape), advice)
    return a, b


_rung = functools.partial(Rung, block=BLOCK)
SAXPY_LADDER = (
    _rung("saxpy", saxpy_kernel, saxpy_cost, saxpy_reference),
    _rung(
        "saxpy_grid_stride", saxpy_grid_stride_kernel, saxpy_grid_stride_cost, saxpy_reference,
        most_blocks=MAX_BLOCKS,
    ),
)  # fmt: skip

LADDER = (
    _rung("fill", fill_kernel, fill_cost, fill_reference),
    _rung("vector_add", vector_add_kernel, vector_add_cost, vector_add_reference),
    *SAXPY_LADDER,
)
__all__ = launch.public_names(globals())
