"""Gradients of the activation functions: dE/dx from the gradient of each function's result.

    grad  = dE/d out                     from the layer above
    out'  = dE/dx = grad * d out / dx    for the layer below

Every element has its own chain rule, so there is one thread per element again. The functions differ
in what the forward pass must save: relu, sigmoid and tanh need only their results, so x may be
overwritten; gelu needs x, because two inputs have the same result.

Legend
    n       elements of the array, all axes together  1000
    i       the element this thread works on          range [0, n)
    grad    the gradient from the layer above         0.25
    y       the result of the forward pass            sigmoid(x)
    BLOCK   threads per block, as in activations.py   256
    LIMIT   beyond it the slope of gelu is 0 or 1     40

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the arithmetic
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element

Vectorized kernels (four elements per thread)
    Shapes     those of the kernel with one element per thread
    Dtypes     float32, as in vector.py
    Launch     as in vector.py
    Cost       that of the kernel with one element per thread
    Errors     as in vector.py
    Source     as in vector.py
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels import activations
from gpukit.kernels.activations import HALF, LIMIT, SQRT_HALF, Float64, variants
from gpukit.kernels.vector import elementwise_cost
from gpukit.primitives.vectorized import zip4

# The standard normal density at 0.
PEAK = 1 / math.sqrt(2 * math.pi)


# --- References ------------------------------------------------------------------------------


def relu_grad_reference(grad: npt.ArrayLike, x: npt.ArrayLike) -> Float64:
    """Return grad where x is positive, 0 elsewhere."""
    return np.asarray(grad, np.float64) * (np.asarray(x, np.float64) > 0)


def sigmoid_grad_reference(grad: npt.ArrayLike, y: npt.ArrayLike) -> Float64:
    """Return grad y (1 - y)."""
    y = np.asarray(y, np.float64)
    slope: Float64 = y * (1 - y)
    return np.asarray(grad, np.float64) * slope


def tanh_grad_reference(grad: npt.ArrayLike, y: npt.ArrayLike) -> Float64:
    """Return grad (1 - y^2)."""
    y = np.asarray(y, np.float64)
    slope: Float64 = (1 - y) * (1 + y)
    return np.asarray(grad, np.float64) * slope


def gelu_grad_reference(grad: npt.ArrayLike, x: npt.ArrayLike) -> Float64:
    """Return grad times the derivative of the exact gelu at x."""
    x = np.asarray(x, np.float64)
    # Beyond 39 the density is 0; the square of x could overflow.
    density = np.exp(-(np.clip(x, -99, 99) ** 2) / 2) / math.sqrt(2 * math.pi)
    slope: Float64 = activations.normal_below(x) + x * density
    return np.asarray(grad, np.float64) * slope


# --- Formulas: of two numbers, with an array of the dtype to compute in ------------------------


@cuda.jit(device=True)
def relu_grad_of(grad, x, like):
    """Return grad where x is positive or NaN, else 0."""
    zero = like.dtype.type(0)
    return zero if x <= zero else grad


@cuda.jit(device=True)
def sigmoid_grad_of(grad, y, like):
    """Return grad y (1 - y)."""
    return grad * (y * (like.dtype.type(1) - y))


@cuda.jit(device=True)
def tanh_grad_of(grad, y, like):
    """Return grad (1 - y) (1 + y)."""
    one = like.dtype.type(1)
    return grad * ((one - y) * (one + y))


@cuda.jit(device=True)
def gelu_grad_of(grad, x, like):
    """Return grad times the derivative of the exact gelu at x."""
    one, half, peak = like.dtype.type(1), like.dtype.type(HALF), like.dtype.type(PEAK)
    sqrt_half, limit = like.dtype.type(SQRT_HALF), like.dtype.type(LIMIT)
    bounded = -limit if x < -limit else x
    bounded = limit if bounded > limit else bounded
    below = half * (one + math.erf(bounded * sqrt_half))
    density = peak * math.exp(-(half * bounded * bounded))
    return grad * (below + bounded * density)


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def relu_grad_kernel(grad, x, out):
    """Pass the gradient where x is positive, one element per thread.

    New here   a second input. At 0, where relu has no derivative, the gradient is 0 by convention.
               The result of relu serves as well as x: it is positive at the same elements
    Shapes     grad (n,), x (n,), out (n,); any n >= 1
    Dtypes     float32 or float64, the same for all arrays
    Cost       bytes: 3 itemsize n; flops: 0, comparisons are not counted; barriers: 0
    Errors     the host function rejects unequal shapes or dtypes; the kernel assumes they match.
               Where x is NaN the gradient passes, as in PyTorch: the NaN is visible in the result
               of the forward pass
    Source     Nair and Hinton, "Rectified Linear Units Improve Restricted Boltzmann Machines", 2010
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = relu_grad_of(grad[i], x[i], x)


relu_grad_cost = elementwise_cost(accesses=3, flops=0)  # two loads and one store


@cuda.jit
def relu_grad_vectorized_kernel(grad, x, out):
    """Pass the gradient where x is positive, four elements per thread.

    New here   the formula of relu_grad_kernel, passed to zip4
    """
    zip4(relu_grad_of, x, cuda.grid(1), grad, x, out)


@cuda.jit
def sigmoid_grad_kernel(grad, y, out):
    """Compute grad y (1 - y), one element per thread.

    New here   the derivative comes from the saved result, without another exp: loading a saved
               value is cheaper than computing it again
    Shapes     grad (n,), y (n,), out (n,); any n >= 1
    Cost       bytes: 3 itemsize n; flops: 3 n; barriers: 0
    Errors     the host function rejects unequal shapes or dtypes; the kernel assumes they match.
               For large x the slope is 0 once y rounds to 1: from x = 17 on, in float64 from 37
    Source     Rumelhart, Hinton and Williams, Nature 323, 1986
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = sigmoid_grad_of(grad[i], y[i], y)


# Two loads and one store; one difference and two products.
sigmoid_grad_cost = elementwise_cost(accesses=3, flops=3)


@cuda.jit
def sigmoid_grad_vectorized_kernel(grad, y, out):
    """Compute grad y (1 - y), four elements per thread.

    New here   the formula of sigmoid_grad_kernel, passed to zip4
    """
    zip4(sigmoid_grad_of, y, cuda.grid(1), grad, y, out)


@cuda.jit
def tanh_grad_kernel(grad, y, out):
    """Compute grad (1 - y^2), one element per thread.

    New here   (1 - y) (1 + y) instead of 1 - y^2: near 1 the difference 1 - y is exact, while
               y^2 is rounded before it is subtracted, which cancels most of its digits
    Shapes     grad (n,), y (n,), out (n,); any n >= 1
    Cost       bytes: 3 itemsize n; flops: 4 n; barriers: 0
    Errors     the host function rejects unequal shapes or dtypes; the kernel assumes they match.
               For large x the slope is 0 once y rounds to 1: from x = 9.1 on, in float64 from 19
    Source     LeCun, Bottou, Orr and Müller, "Efficient BackProp", 1998
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = tanh_grad_of(grad[i], y[i], y)


# Two loads and one store; one difference, one sum and two products.
tanh_grad_cost = elementwise_cost(accesses=3, flops=4)


@cuda.jit
def tanh_grad_vectorized_kernel(grad, y, out):
    """Compute grad (1 - y^2), four elements per thread.

    New here   the formula of tanh_grad_kernel, passed to zip4
    """
    zip4(tanh_grad_of, y, cuda.grid(1), grad, y, out)


@cuda.jit
def gelu_grad_kernel(grad, x, out):
    """Compute grad times the derivative of the exact gelu, one element per thread.

    New here   the product rule gives two terms: the normal CDF, and x times the normal density.
               Both sides are clamped, since inf times 0 would be NaN
    Shapes     grad (n,), x (n,), out (n,); any n >= 1
    Cost       bytes: 3 itemsize n; flops: 11 n, two of them the calls of erf and exp; barriers: 0
    Errors     the host function rejects unequal shapes or dtypes; the kernel assumes they match
    Source     Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = gelu_grad_of(grad[i], x[i], x)


# Two loads and one store; seven products, two sums, erf and exp.
gelu_grad_cost = elementwise_cost(accesses=3, flops=11)


@cuda.jit
def gelu_grad_vectorized_kernel(grad, x, out):
    """Compute grad times the derivative of the exact gelu, four elements per thread.

    New here   the formula of gelu_grad_kernel, passed to zip4
    """
    zip4(gelu_grad_of, x, cuda.grid(1), grad, x, out)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("grad: ..., x: ... -> ...", in_place=True, layout="C")
def relu_grad(
    grad: Any, x: Any, *, variant: str = "relu_grad", out: Any = None, stream: Any = 0
) -> Any:
    """Return the gradient of x from the gradient of relu(x), and x or relu(x).

    `grad = [5. 7.]` and `x = [-1. 2.]` give `[0. 7.]`: two arrays of one shape, both float32 or
    both float64, give that shape and dtype.
    """
    return activations.elementwise("relu_grad", VARIANTS, variant, out, stream, grad, x)


@signature.takes("grad: ..., y: ... -> ...", in_place=True, layout="C")
def sigmoid_grad(
    grad: Any, y: Any, *, variant: str = "sigmoid_grad", out: Any = None, stream: Any = 0
) -> Any:
    """Return the gradient of x from the gradient of y = sigmoid(x), and y.

    `grad = [8.]` and `y = [0.5]` give `[2.]`: two arrays of one shape, both float32 or both
    float64, give that shape and dtype.
    """
    return activations.elementwise("sigmoid_grad", VARIANTS, variant, out, stream, grad, y)


@signature.takes("grad: ..., y: ... -> ...", in_place=True, layout="C")
def tanh_grad(
    grad: Any, y: Any, *, variant: str = "tanh_grad", out: Any = None, stream: Any = 0
) -> Any:
    """Return the gradient of x from the gradient of y = tanh(x), and y.

    `grad = [8.]` and `y = [0.5]` give `[6.]`: two arrays of one shape, both float32 or both
    float64, give that shape and dtype.
    """
    return activations.elementwise("tanh_grad", VARIANTS, variant, out, stream, grad, y)


@signature.takes("grad: ..., x: ... -> ...", in_place=True, layout="C")
def gelu_grad(
    grad: Any, x: Any, *, variant: str = "gelu_grad", out: Any = None, stream: Any = 0
) -> Any:
    """Return the gradient of x from the gradient of gelu(x), and x.

    `grad = [8.]` and `x = [0.]` give `[4.]`: two arrays of one shape, both float32 or both float64,
    give that shape and dtype.
    """
    return activations.elementwise("gelu_grad", VARIANTS, variant, out, stream, grad, x)


VARIANTS = (
    *variants(
        "relu_grad",
        relu_grad_kernel,
        relu_grad_vectorized_kernel,
        relu_grad_cost,
        relu_grad_reference,
    ),
    *variants(
        "sigmoid_grad",
        sigmoid_grad_kernel,
        sigmoid_grad_vectorized_kernel,
        sigmoid_grad_cost,
        sigmoid_grad_reference,
    ),
    *variants(
        "tanh_grad",
        tanh_grad_kernel,
        tanh_grad_vectorized_kernel,
        tanh_grad_cost,
        tanh_grad_reference,
    ),
    *variants(
        "gelu_grad",
        gelu_grad_kernel,
        gelu_grad_vectorized_kernel,
        gelu_grad_cost,
        gelu_grad_reference,
    ),
)
__all__ = launch.public_names(globals())
