"""Gates of recurrent cells: an activation of the sum of an input part and a hidden part.

A cell multiplies its input and its hidden state with weights; what remains is this and a few
products per unit and sample. The cell of a plain recurrent network is one such kernel; an LSTM
built of them reads and writes all of its gates once more than necessary.

Legend
    N, H           samples of the batch, units of the cell    64, 256
    unit, sample   the element of this thread                 [0, H), [0, N)
    BLOCK          threads per block along units and samples  (32, 8)

All kernels, unless stated otherwise
    Shapes     from_input (N, H), from_hidden (N, H), out (N, H), which may be either; any sizes
               >= 1, any strides
    Dtypes     float32 or float64, the same for all arrays
    Launch     block BLOCK, grid (ceil_div(H, 32), ceil_div(N, 8)); x = unit, y = sample
    Errors     the host function rejects shapes that do not fit; the kernel assumes they do
"""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels import activations
from gpukit.kernels.activations import relu_of, sigmoid_of
from gpukit.launch import Cost, Variant

BLOCK = (32, 8)

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def gate_sigmoid_reference(from_input: npt.ArrayLike, from_hidden: npt.ArrayLike) -> Float64:
    """Return the sigmoid of the sum."""
    return activations.sigmoid_reference(np.add(from_input, from_hidden, dtype=np.float64))


def gate_tanh_reference(from_input: npt.ArrayLike, from_hidden: npt.ArrayLike) -> Float64:
    """Return the hyperbolic tangent of the sum."""
    return np.tanh(np.add(from_input, from_hidden, dtype=np.float64))


def gate_relu_reference(from_input: npt.ArrayLike, from_hidden: npt.ArrayLike) -> Float64:
    """Return the sum where it is positive, else 0."""
    return activations.relu_reference(np.add(from_input, from_hidden, dtype=np.float64))


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def gate_sigmoid_kernel(from_input, from_hidden, out):
    """Compute the sigmoid of a sum, one thread per unit of one sample.

    New here   the fraction of a signal that a gate lets through, from 0 to 1
    Cost       bytes: 3 itemsize N H; flops: 4 N H, one of them the call of exp; barriers: 0
    Source     Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997
    """
    unit, sample = cuda.grid(2)
    if sample < out.shape[0] and unit < out.shape[1]:
        value = from_input[sample, unit] + from_hidden[sample, unit]
        out[sample, unit] = sigmoid_of(value, out)


def gate_sigmoid_cost(n: int, h: int, itemsize: int = 4) -> Cost:
    """Two loads and a store; a sum, and exp, a sum and a division."""
    return Cost(bytes=3 * itemsize * n * h, flops=4 * n * h)


@cuda.jit
def gate_tanh_kernel(from_input, from_hidden, out):
    """Compute the hyperbolic tangent of a sum, one thread per unit of one sample.

    New here   the candidate for the state, from -1 to 1; and all of Elman's cell
    Cost       bytes: 3 itemsize N H; flops: 2 N H, one of them the call of tanh; barriers: 0
    Source     Elman, "Finding Structure in Time", 1990
    """
    unit, sample = cuda.grid(2)
    if sample < out.shape[0] and unit < out.shape[1]:
        out[sample, unit] = math.tanh(from_input[sample, unit] + from_hidden[sample, unit])


def gate_tanh_cost(n: int, h: int, itemsize: int = 4) -> Cost:
    """Two loads and a store; a sum and tanh."""
    return Cost(bytes=3 * itemsize * n * h, flops=2 * n * h)


@cuda.jit
def gate_relu_kernel(from_input, from_hidden, out):
    """Compute relu of a sum, one thread per unit of one sample.

    New here   no upper bound: the state of a cell can grow from step to step. NaN stays NaN
    Cost       bytes: 3 itemsize N H; flops: N H; barriers: 0
    Source     Le, Jaitly and Hinton, "A Simple Way to Initialize Recurrent Networks of Rectified
               Linear Units", 2015
    """
    unit, sample = cuda.grid(2)
    if sample < out.shape[0] and unit < out.shape[1]:
        value = from_input[sample, unit] + from_hidden[sample, unit]
        out[sample, unit] = relu_of(value, out)


def gate_relu_cost(n: int, h: int, itemsize: int = 4) -> Cost:
    """Two loads and a store; a sum."""
    return Cost(bytes=3 * itemsize * n * h, flops=n * h)


_variant = functools.partial(Variant, block=BLOCK)
VARIANTS = (
    _variant("sigmoid", gate_sigmoid_kernel, gate_sigmoid_cost, gate_sigmoid_reference),
    _variant("tanh", gate_tanh_kernel, gate_tanh_cost, gate_tanh_reference),
    _variant("relu", gate_relu_kernel, gate_relu_cost, gate_relu_reference),
)
__all__ = launch.public_names(globals())
