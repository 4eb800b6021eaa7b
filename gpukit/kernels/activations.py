"""Activations: one function of one number, for every number of an array.

Nothing is easier to share out: no thread needs what another one reads or writes, so there is one
thread for one element, no shared memory, no barrier, and the order does not matter. The kernels
see one axis: an element does not depend on its neighbours, so shapes concern the host alone.
Memory sets the thread_time: even gelu counts fewer operations than bytes.

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

Wide kernels, which have one thread for four elements
    Dtypes     float32, in contiguous arrays that begin at multiples of 16 bytes
    Launch     block BLOCK, grid ceil_div(n, 4 BLOCK); x = four elements
    Errors     for other arrays the host function takes the kernel with a thread for an element
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.launch import Cost, Variant
from gpukit.primitives import wide
from gpukit.primitives.wide import WIDTH, map4

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
    power = math.exp(-abs(value))
    top = one if value >= zero else power
    return top / (one + power)


@cuda.jit(device=True)
def tanh_of(value, _like):
    """Return the hyperbolic tangent of value."""
    return math.tanh(value)


@cuda.jit(device=True)
def gelu_of(value, like):
    """Return value times the normal distribution function of value."""
    one, half = like.dtype.type(1), like.dtype.type(HALF)
    sqrt_half, limit = like.dtype.type(SQRT_HALF), like.dtype.type(LIMIT)
    bounded = -limit if value < -limit else value
    return half * bounded * (one + math.erf(bounded * sqrt_half))


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
        out[i] = relu_of(x[i], x)


def relu_cost(n: int, itemsize: int = 4) -> Cost:
    """One load and one store for each element."""
    return Cost(bytes=2 * itemsize * n, flops=0)


@cuda.jit
def relu_wide_kernel(x, out):
    """Set what is negative to 0, one thread for four elements.

    New here   16 bytes in a load and in a store: a quarter of the instructions for as many bytes,
               and a warp has 512 of them on the way
    Shapes     x (n,), out (n,); any n >= 1
    Cost       that of relu_kernel
    Source     Justin Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA
               blog, 2013
    """
    map4(relu_of, x, cuda.grid(1), x, out)


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
        out[i] = sigmoid_of(x[i], x)


def sigmoid_cost(n: int, itemsize: int = 4) -> Cost:
    """One load and one store for each element; exp, an addition and a division."""
    return Cost(bytes=2 * itemsize * n, flops=3 * n)


@cuda.jit
def sigmoid_wide_kernel(x, out):
    """Compute 1 / (1 + e^-x), one thread for four elements.

    New here   the formula of sigmoid_kernel, handed to map4
    Shapes     x (n,), out (n,); any n >= 1
    Cost       that of sigmoid_kernel
    Source     Justin Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA
               blog, 2013
    """
    map4(sigmoid_of, x, cuda.grid(1), x, out)


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
        out[i] = tanh_of(x[i], x)


def tanh_cost(n: int, itemsize: int = 4) -> Cost:
    """One load and one store for each element; the call of tanh counts one."""
    return Cost(bytes=2 * itemsize * n, flops=n)


@cuda.jit
def tanh_wide_kernel(x, out):
    """Compute the hyperbolic tangent, one thread for four elements.

    New here   the formula of tanh_kernel, handed to map4
    Shapes     x (n,), out (n,); any n >= 1
    Cost       that of tanh_kernel
    Source     Justin Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA
               blog, 2013
    """
    map4(tanh_of, x, cuda.grid(1), x, out)


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
        out[i] = gelu_of(x[i], x)


def gelu_cost(n: int, itemsize: int = 4) -> Cost:
    """One load and one store for each element; three products, one sum and erf."""
    return Cost(bytes=2 * itemsize * n, flops=5 * n)


@cuda.jit
def gelu_wide_kernel(x, out):
    """Compute x times the normal distribution function of x, one thread for four elements.

    New here   the formula of gelu_kernel, handed to map4
    Shapes     x (n,), out (n,); any n >= 1
    Cost       that of gelu_kernel
    Source     Justin Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA
               blog, 2013
    """
    map4(gelu_of, x, cuda.grid(1), x, out)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("x: ... -> ...", in_place=True, layout="C")
def relu(x: Any, *, variant: str = "relu", out: Any = None, stream: Any = 0) -> Any:
    """Return x where it is positive and 0 elsewhere; NaN stays NaN.

    `[-1. 2.]` gives `[0. 2.]`: any shape gives the same shape and dtype, float32 or float64, which
    may be x itself.
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

    `[0. 100.]` gives `[0. 1.]`: any shape gives the same shape and dtype, float32 or float64, which
    may be x itself.
    """
    return elementwise("tanh", VARIANTS, variant, out, stream, x)


@signature.takes("x: ... -> ...", in_place=True, layout="C")
def gelu(x: Any, *, variant: str = "gelu", out: Any = None, stream: Any = 0) -> Any:
    """Return the exact gelu, x times the normal distribution function of x.

    `[-100. 0. 100.]` gives `[-0. 0. 100.]`: any shape gives the same shape and dtype, float32 or
    float64. `out` may be x itself.
    """
    return elementwise("gelu", VARIANTS, variant, out, stream, x)


def elementwise(
    function: str, variants: tuple[Variant, ...], variant: str, out: Any, stream: Any, *arrays: Any
) -> Any:
    """Return what a kernel computes from arrays in C order, for the Result `out`.

    The function's own variants are those with its name, and with its name and _wide, which
    hands over where an array cannot be moved in fours.
    """
    own = tuple(r for r in variants if r.name in (function, f"{function}_wide"))
    chosen = launch.pick(function, own, variant)
    if n := math.prod(out.shape):
        flat = [*(array.reshape(n) for array in arrays), out.flat()]
        if chosen.instead and not wide.fits(*flat):
            chosen = launch.pick(function, own, chosen.instead)
        chosen.kernel[chosen.grid(function, n), chosen.block, stream](*flat)
    return out.get()


def variants(name: str, scalar: Any, wide: Any, cost: Any, reference: Any) -> Any:
    """Return a function's variant with one element per thread, and that with four."""
    return (
        Variant(name, scalar, cost, reference, BLOCK),
        Variant(
            f"{name}_wide", wide, cost, reference, BLOCK, WIDTH * BLOCK, (np.float32,), instead=name
        ),
    )


VARIANTS = (
    *variants("relu", relu_kernel, relu_wide_kernel, relu_cost, relu_reference),
    *variants("sigmoid", sigmoid_kernel, sigmoid_wide_kernel, sigmoid_cost, sigmoid_reference),
    *variants("tanh", tanh_kernel, tanh_wide_kernel, tanh_cost, tanh_reference),
    *variants("gelu", gelu_kernel, gelu_wide_kernel, gelu_cost, gelu_reference),
)
__all__ = launch.public_names(globals())
