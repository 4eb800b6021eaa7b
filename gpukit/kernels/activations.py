"""Activation functions, applied to each element of an array: relu, sigmoid, tanh and gelu.

Elementwise work is the easiest to parallelize: no thread needs what another one reads or writes, so
there is one thread per element, no shared memory and no barrier, and the order does not matter. The
kernels see one axis: an element does not depend on its neighbours, so only the host sees shapes.
All of them are memory-bound: even gelu has fewer operations than bytes.

The gradients are in activations_grad.py.

Legend
    n       elements of the array, all axes together  1000
    i       the element this thread works on          range [0, n)
    BLOCK   threads per block                         256
    LIMIT   beyond it gelu is 0 or x, in float64 too  40

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for both arrays and the arithmetic
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Errors     the host function rejects an out of a different shape; the kernel does not check it

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
from gpukit.kernels.vector import elementwise_cost
from gpukit.launch import Variant
from gpukit.primitives import vectorized
from gpukit.primitives.vectorized import WIDTH, map4

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
    """Return 1 / (1 + e^-x), with exponentials only of values <= 0, so that none overflows."""
    x = np.asarray(x, np.float64)
    made: Float64 = np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x)))
    return made


def tanh_reference(x: npt.ArrayLike) -> Float64:
    """Return the hyperbolic tangent of x."""
    return np.tanh(np.asarray(x, np.float64))


def gelu_reference(x: npt.ArrayLike) -> Float64:
    """Return x times the standard normal cumulative distribution function of x."""
    x = np.asarray(x, np.float64)
    return x * normal_below(x)


def normal_below(x: npt.ArrayLike) -> Float64:
    """Return the standard normal cumulative distribution function of x."""
    x = np.asarray(x, np.float64)
    # erfc, not 1 + erf: far below 0 the sum would cancel and lose all its digits.
    made: Float64 = _erfc()(-x * math.sqrt(0.5)) / 2
    return made


def _erfc() -> Any:
    """Return erfc for arrays: SciPy's where it is installed, else Python's, which is far slower."""
    try:
        from scipy.special import erfc
    except ImportError:
        return np.vectorize(math.erfc, otypes=[np.float64])
    return erfc


# --- Formulas: of one number, with an array of the dtype to compute in -------------------------


@cuda.jit(device=True)
def relu_of(value, like):
    """Return the larger of value and 0; NaN stays NaN."""
    zero = like.dtype.type(0)
    return zero if value <= zero else value


@cuda.jit(device=True)
def sigmoid_of(value, like):
    """Return 1 / (1 + e^-value)."""
    zero, one = like.dtype.type(0), like.dtype.type(1)
    exponential = math.exp(-abs(value))
    numerator = one if value >= zero else exponential
    return numerator / (one + exponential)


@cuda.jit(device=True)
def tanh_of(value, _like):
    """Return the hyperbolic tangent of value."""
    return math.tanh(value)


@cuda.jit(device=True)
def gelu_of(value, like):
    """Return value times the standard normal cumulative distribution function of value."""
    one, half = like.dtype.type(1), like.dtype.type(HALF)
    sqrt_half, limit = like.dtype.type(SQRT_HALF), like.dtype.type(LIMIT)
    bounded = -limit if value < -limit else value
    return half * bounded * (one + math.erf(bounded * sqrt_half))


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def relu_kernel(x, out):
    """Replace negative elements by 0, one element per thread.

    New here   a conditional expression instead of an `if`: both values are available, so the
               threads of a warp need not diverge. NaN: every comparison with it is false, so
               x <= 0 lets it through, while "x if x > 0 else 0" would turn it into 0 and hide a bug
    Shapes     x (n,), out (n,); any n >= 1
    Dtypes     float32 or float64, the same for both arrays
    Cost       bytes: 2 itemsize n; flops: 0, comparisons are not counted; barriers: 0
    Source     Nair and Hinton, "Rectified Linear Units Improve Restricted Boltzmann Machines", 2010
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = relu_of(x[i], x)


relu_cost = elementwise_cost(accesses=2, flops=0)  # one load and one store


@cuda.jit
def relu_vectorized_kernel(x, out):
    """Replace negative elements by 0, four elements per thread.

    New here   16-byte loads and stores: a quarter of the instructions for the same number of
               bytes, and a warp has 512 bytes in flight
    """
    map4(relu_of, x, cuda.grid(1), x, out)


@cuda.jit
def sigmoid_kernel(x, out):
    """Compute 1 / (1 + e^-x), one element per thread.

    New here   a formula that is accurate for every x: e^-x overflows below x = -89, in float64
               below -710, so the exponential is e^-|x|, which is at most 1, and for x < 0 the
               fraction is e^x / (1 + e^x), which is the same number
    Shapes     x (n,), out (n,); any n >= 1
    Cost       bytes: 2 itemsize n; flops: 3 n, one of them the call of exp; barriers: 0
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 3.10; the split is gpukit's
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = sigmoid_of(x[i], x)


# One load and one store; exp, an addition and a division.
sigmoid_cost = elementwise_cost(accesses=2, flops=3)


@cuda.jit
def sigmoid_vectorized_kernel(x, out):
    """Compute 1 / (1 + e^-x), four elements per thread.

    New here   the formula of sigmoid_kernel, passed to map4
    """
    map4(sigmoid_of, x, cuda.grid(1), x, out)


@cuda.jit
def tanh_kernel(x, out):
    """Compute the hyperbolic tangent, one element per thread.

    New here   a function of CUDA's math library: 2 sigmoid(2 x) - 1 is equal in exact arithmetic,
               but for small x it subtracts nearly equal numbers and cancels their digits
    Shapes     x (n,), out (n,); any n >= 1
    Cost       bytes: 2 itemsize n; flops: n, the call of tanh; barriers: 0
    Source     LeCun, Bottou, Orr and Müller, "Efficient BackProp", 1998
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = tanh_of(x[i], x)


# One load and one store; the call of tanh counts one.
tanh_cost = elementwise_cost(accesses=2, flops=1)


@cuda.jit
def tanh_vectorized_kernel(x, out):
    """Compute the hyperbolic tangent, four elements per thread.

    New here   the formula of tanh_kernel, passed to map4
    """
    map4(tanh_of, x, cuda.grid(1), x, out)


@cuda.jit
def gelu_kernel(x, out):
    """Compute the exact gelu, x times the normal CDF of x, one element per thread.

    New here   erf, and module constants, rounded to the dtype of x. This is the exact gelu,
               PyTorch's default; approximate="tanh", with which GPT-2 was trained,
               0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), is off by up to 0.0005. The
               limit makes gelu(-inf) its limit 0; -inf times 0 would be NaN
    Shapes     x (n,), out (n,); any n >= 1
    Cost       bytes: 2 itemsize n; flops: 5 n, one of them the call of erf; barriers: 0
    Errors     the host function rejects an out of a different shape; the kernel does not check it.
               Below -3 the error is relative to x, not to gelu(x), because 1 + erf is rounded
    Source     Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = gelu_of(x[i], x)


# One load and one store; three products, one sum and erf.
gelu_cost = elementwise_cost(accesses=2, flops=5)


@cuda.jit
def gelu_vectorized_kernel(x, out):
    """Compute the exact gelu, x times the normal CDF of x, four elements per thread.

    New here   the formula of gelu_kernel, passed to map4
    """
    map4(gelu_of, x, cuda.grid(1), x, out)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("x: ... -> ...", in_place=True, layout="C")
def relu(x: Any, *, variant: str = "relu", out: Any = None, stream: Any = 0) -> Any:
    """Return x where it is positive and 0 elsewhere; NaN stays NaN.

    `[-1. 2.]` gives `[0. 2.]`: any shape gives the same shape and dtype, float32 or float64.
    `out` may be x itself.
    """
    return elementwise("relu", VARIANTS, variant, out, stream, x)


@signature.takes("x: ... -> ...", in_place=True, layout="C")
def sigmoid(x: Any, *, variant: str = "sigmoid", out: Any = None, stream: Any = 0) -> Any:
    """Return 1 / (1 + e^-x), element by element.

    `[0. 100.]` gives `[0.5 1.]`: any shape gives the same shape and dtype, float32 or float64.
    `out` may be x itself.
    """
    return elementwise("sigmoid", VARIANTS, variant, out, stream, x)


@signature.takes("x: ... -> ...", in_place=True, layout="C")
def tanh(x: Any, *, variant: str = "tanh", out: Any = None, stream: Any = 0) -> Any:
    """Return the hyperbolic tangent, element by element.

    `[0. 100.]` gives `[0. 1.]`: any shape gives the same shape and dtype, float32 or float64.
    `out` may be x itself.
    """
    return elementwise("tanh", VARIANTS, variant, out, stream, x)


@signature.takes("x: ... -> ...", in_place=True, layout="C")
def gelu(x: Any, *, variant: str = "gelu", out: Any = None, stream: Any = 0) -> Any:
    """Return the exact gelu, x times the standard normal cumulative distribution function of x.

    `[-100. 0. 100.]` gives `[-0. 0. 100.]`: any shape gives the same shape and dtype, float32 or
    float64. `out` may be x itself.
    """
    return elementwise("gelu", VARIANTS, variant, out, stream, x)


def elementwise(
    function: str, variants: tuple[Variant, ...], variant: str, out: Any, stream: Any, *arrays: Any
) -> Any:
    """Launch an elementwise kernel on arrays in C order and return the Result `out`.

    The function's own variants are those named `function` and `function`_vectorized; the latter
    falls back to the former where the arrays do not allow 16-byte access.
    """
    own = tuple(r for r in variants if r.name in (function, f"{function}_vectorized"))
    chosen = launch.pick(function, own, variant)
    if n := math.prod(out.shape):
        flat = [*(array.reshape(n) for array in arrays), out.flat()]
        if chosen.instead and not vectorized.fits(*flat):
            chosen = launch.pick(function, own, chosen.instead)
        chosen.kernel[chosen.grid(function, n), chosen.block, stream](*flat)
    return out.get()


def variants(name: str, scalar: Any, four: Any, cost: Any, reference: Any) -> Any:
    """Return a function's variants with one and with four elements per thread."""
    return (
        Variant(name, scalar, cost, reference, BLOCK),
        Variant(
            f"{name}_vectorized",
            four,
            cost,
            reference,
            BLOCK,
            WIDTH * BLOCK,
            (np.float32,),
            instead=name,
        ),
    )


VARIANTS = (
    *variants("relu", relu_kernel, relu_vectorized_kernel, relu_cost, relu_reference),
    *variants(
        "sigmoid", sigmoid_kernel, sigmoid_vectorized_kernel, sigmoid_cost, sigmoid_reference
    ),
    *variants("tanh", tanh_kernel, tanh_vectorized_kernel, tanh_cost, tanh_reference),
    *variants("gelu", gelu_kernel, gelu_vectorized_kernel, gelu_cost, gelu_reference),
)
__all__ = launch.public_names(globals())
