"""Activations: one function of one number, for every number of an array.

Nothing is easier to share out: no thread needs what another one reads or writes, so there is one
thread for one element, no shared memory, no barrier, and the order does not matter. The kernels
see one axis: an element does not depend on its neighbours, so shapes concern the host alone.
Memory sets the pace: even gelu counts fewer operations than bytes.

The gradients are in activations_grad.py.

Legend
    n       elements of the array, all axes together       1000
    i       the element this thread works on               range [0, n)
    BLOCK   threads in a block                             256
    LIMIT   gelu beyond it is 0 or x in float64 too        40

All kernels, unless one says otherwise
    Dtypes     float32 or float64, one for both arrays and the arithmetic
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Errors     the host function rejects an out of another shape; the kernel assumes them equal
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Chebyshev

from gpukit import cuda, launch
from gpukit.launch import Cost, Rung

BLOCK = 256
HALF = 0.5
SQRT_HALF = math.sqrt(0.5)
LIMIT = 40.0

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def relu_reference(x: npt.ArrayLike) -> Float64:
    """Return the larger of x and 0."""
    return np.maximum(np.asarray(x, np.float64), 0)


def sigmoid_reference(x: npt.ArrayLike) -> Float64:
    """Return 1 / (1 + e^-x), with powers of what is not above 0: they cannot overflow."""
    x = np.asarray(x, np.float64)
    made: Float64 = np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x)))
    return made


def tanh_reference(x: npt.ArrayLike) -> Float64:
    """Return the hyperbolic tangent of x."""
    return np.tanh(np.asarray(x, np.float64))


def gelu_reference(x: npt.ArrayLike) -> Float64:
    """Return x times the probability that a standard normal number is smaller than x."""
    x = np.asarray(x, np.float64)
    return x * normal_below(x)


def normal_below(x: npt.ArrayLike) -> Float64:
    """Return the probability that a standard normal number is smaller than x."""
    x = np.asarray(x, np.float64)
    # erfc, not 1 + erf: far below 0 the sum would lose all its digits.
    z = np.minimum(np.abs(x) * math.sqrt(0.5), LIMIT)
    t = 2 / (2 + z)
    tail: Float64 = t * np.exp(_log_erfc()(t) - z * z) / 2
    return np.where(x > 0, 1 - tail, tail)


@functools.cache
def _log_erfc() -> Chebyshev:
    """Return a polynomial in t = 2 / (2 + z) that is log(erfc(z) / t) + z^2 for z from 0 to 26.

    NumPy has no erfc, and Python's, called for each of 1e8 numbers, takes half a minute. Through 29
    of its values this is as good: right to 15 digits, where the tail is below 1e-40 to 13.
    """

    def wanted(t: Float64) -> Float64:
        tails = [math.log(math.erfc(z)) + z * z for z in 2 / t - 2]
        made: Float64 = np.array(tails) - np.log(t)
        return made

    return Chebyshev.interpolate(wanted, 28, domain=[2 / 28, 1])


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def relu_kernel(x, out):
    """Set what is negative to 0, one thread for one element.

    New here   a choice instead of an `if`: both sides are at hand, so the threads of a warp need
               not part. And NaN: no comparison with it is true, so x <= 0 lets it through, where
               "x if x > 0 else 0" would turn it into 0 and hide a mistake
    Shapes     x (n,), out (n,); any n >= 1
    Dtypes     float32 or float64, one for both arrays
    Cost       bytes: 2 itemsize n; flops: 0, for comparing is not counted; barriers: 0
    Source     Nair and Hinton, "Rectified Linear Units Improve Restricted Boltzmann Machines", 2010
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        zero = x.dtype.type(0)
        value = x[i]
        out[i] = zero if value <= zero else value


def relu_cost(n: int, itemsize: int = 4) -> Cost:
    """One load and one store for each element."""
    return Cost(bytes=2 * itemsize * n, flops=0)


@cuda.jit
def sigmoid_kernel(x, out):
    """Compute 1 / (1 + e^-x), one thread for one element.

    New here   a formula that is right for every number: e^-x is infinite from x = -89 down, in
               float64 from -710 down, so the power is e^-|x|, which is at most 1, and below 0
               the fraction is e^x / (1 + e^x), the same number
    Shapes     x (n,), out (n,); any n >= 1
    Cost       bytes: 2 itemsize n; flops: 3 n, one of them the call of exp; barriers: 0
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 3.10; the split is ours
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        zero, one = x.dtype.type(0), x.dtype.type(1)
        value = x[i]
        power = math.exp(-abs(value))
        top = one if value >= zero else power
        out[i] = top / (one + power)


def sigmoid_cost(n: int, itemsize: int = 4) -> Cost:
    """One load and one store for each element; exp, an addition and a division."""
    return Cost(bytes=2 * itemsize * n, flops=3 * n)


@cuda.jit
def tanh_kernel(x, out):
    """Compute the hyperbolic tangent, one thread for one element.

    New here   a function of the library: 2 sigmoid(2 x) - 1 is the same in mathematics, but for
               small x it is a difference of nearly equal numbers, and its digits are lost
    Shapes     x (n,), out (n,); any n >= 1
    Cost       bytes: 2 itemsize n; flops: n, the call of tanh; barriers: 0
    Source     LeCun, Bottou, Orr and Müller, "Efficient BackProp", 1998
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = math.tanh(x[i])


def tanh_cost(n: int, itemsize: int = 4) -> Cost:
    """One load and one store for each element; the call of tanh counts one."""
    return Cost(bytes=2 * itemsize * n, flops=n)


@cuda.jit
def gelu_kernel(x, out):
    """Compute x times the normal distribution function of x, one thread for one element.

    New here   erf, and constants of the module, rounded to the dtype of x. This is the exact
               gelu, PyTorch's default; its approximate="tanh", which GPT-2 was trained with,
               0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), is off by up to 0.0005. The
               limit makes gelu(-inf) the 0 that it tends to; -inf times 0 would be NaN
    Shapes     x (n,), out (n,); any n >= 1
    Cost       bytes: 2 itemsize n; flops: 5 n, one of them the call of erf; barriers: 0
    Errors     the host function rejects an out of another shape; the kernel assumes them equal.
               Below -3 the error is a part of x, not of gelu(x), for 1 + erf is rounded there
    Source     Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        one, half = x.dtype.type(1), x.dtype.type(HALF)
        sqrt_half, limit = x.dtype.type(SQRT_HALF), x.dtype.type(LIMIT)
        value = x[i]
        bounded = -limit if value < -limit else value
        out[i] = half * bounded * (one + math.erf(bounded * sqrt_half))


def gelu_cost(n: int, itemsize: int = 4) -> Cost:
    """One load and one store for each element; three products, one sum and erf."""
    return Cost(bytes=2 * itemsize * n, flops=5 * n)


# --- Host functions --------------------------------------------------------------------------


def relu(x: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return x where it is positive and 0 elsewhere; NaN stays NaN.

    `[-1. 2.]` gives `[0. 2.]`: any shape gives the same shape and dtype, float32 or float64, which
    may be x itself.
    """
    return elementwise("relu", LADDER, out, stream, x=x)


def sigmoid(x: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return 1 / (1 + e^-x), element by element.

    `[0. 100.]` gives `[0.5 1.]`: any shape gives the same shape and dtype, float32 or float64.
    `out` may be x itself.
    """
    return elementwise("sigmoid", LADDER, out, stream, x=x)


def tanh(x: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return the hyperbolic tangent, element by element.

    `[0. 100.]` gives `[0. 1.]`: any shape gives the same shape and dtype, float32 or float64, which
    may be x itself.
    """
    return elementwise("tanh", LADDER, out, stream, x=x)


def gelu(x: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return the exact gelu, x times the normal distribution function of x.

    `[-100. 0. 100.]` gives `[-0. 0. 100.]`: any shape gives the same shape and dtype, float32 or
    float64. `out` may be x itself.
    """
    return elementwise("gelu", LADDER, out, stream, x=x)


def elementwise(
    function: str, ladder: tuple[Rung, ...], out: Any, stream: Any, **inputs: Any
) -> Any:
    """Return what a kernel computes from arrays of one shape and one float dtype, in the same.

    Raises TypeError or ValueError, in the words of `function`, for inputs that are not so, and for
    an out that shares memory with one of them in any other way than element on element.
    """
    arrays = {name: launch.adopt(array) for name, array in inputs.items()}
    first = next(iter(arrays))
    for name, array in arrays.items():
        launch.check_array(function, name, array, ndim=None, dtypes=launch.FLOATS)
        shape = tuple(arrays[first].shape)
        launch.check_shape(function, name, array, shape, f"It has the shape of {first}.")
    launch.check_same_dtype(function, **arrays)
    dtype = arrays[first].dtype
    result = launch.Result(function, out, shape, dtype, *arrays.values(), stream=stream)
    launch.check_no_overlap(function, out, in_place=True, **arrays)
    if n := math.prod(shape):
        rung = launch.pick(function, ladder, function)
        flat = [launch.flatten(function, name, array) for name, array in arrays.items()]
        moved = [launch.to_device(array, stream) for array in flat]
        rung.kernel[rung.grid(function, n), rung.block, stream](*moved, result.flat())
    return result.get()


LADDER = (
    Rung("relu", relu_kernel, relu_cost, relu_reference, BLOCK),
    Rung("sigmoid", sigmoid_kernel, sigmoid_cost, sigmoid_reference, BLOCK),
    Rung("tanh", tanh_kernel, tanh_cost, tanh_reference, BLOCK),
    Rung("gelu", gelu_kernel, gelu_cost, gelu_reference, BLOCK),
)
__all__ = launch.public_names(globals())
