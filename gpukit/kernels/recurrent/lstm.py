"""The LSTM cell after its matrix products: gates, candidate, update of the cell state.

    i, f, o = sigmoid of their sums         c' = f c + i g          h' = o tanh(c')
    g = tanh of its sum                     in PyTorch's order: i, f, g, o

`separate` computes each gate in a launch (gates.py) and the update in a fifth; `fused` computes all
in one and holds the gates in registers for the update: 15 elements moved per unit and sample
instead of 19, and one launch instead of five.

Legend
    N, H           samples of the batch, units of the cell    64, 256
    unit, sample   the element of this thread                 [0, H), [0, N)
    i, f, g, o     input, forget, candidate and output gate, H columns each
    c, h           the cell state and the hidden state        (N, H)
    BLOCK          threads per block along units and samples  (32, 8)

All kernels
    Dtypes     float32 or float64, the same for all arrays
    Launch     block BLOCK, grid (ceil_div(H, 32), ceil_div(N, 8)); x = unit, y = sample
    Errors     the host function rejects shapes that do not fit; the kernel assumes they do
    Source     Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997, with the forget gate of
               Gers, Schmidhuber and Cummins, "Learning to Forget", 2000
"""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels.activations import sigmoid_of, sigmoid_reference
from gpukit.kernels.recurrent.gates import BLOCK
from gpukit.launch import Cost, Variant

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def lstm_reference(
    from_input: npt.ArrayLike, from_hidden: npt.ArrayLike, c: npt.ArrayLike
) -> tuple[Float64, Float64, Float64]:
    """Return the gates, h' and c'."""
    i, f, g, o = np.split(np.add(from_input, from_hidden, dtype=np.float64), 4, axis=1)
    gates = np.concatenate(
        [sigmoid_reference(i), sigmoid_reference(f), np.tanh(g), sigmoid_reference(o)], axis=1
    )
    return gates, *lstm_update_reference(gates, c)


def lstm_update_reference(gates: npt.ArrayLike, c: npt.ArrayLike) -> tuple[Float64, Float64]:
    """Return h' and c'."""
    i, f, g, o = np.split(np.asarray(gates, np.float64), 4, axis=1)
    new_c = f * np.asarray(c, np.float64) + i * g
    return o * np.tanh(new_c), new_c


def lstm_backward_reference(
    grad_h: npt.ArrayLike,
    grad_c: npt.ArrayLike,
    gates: npt.ArrayLike,
    c: npt.ArrayLike,
    new_c: npt.ArrayLike,
) -> tuple[Float64, Float64]:
    """Return the gradients of the sums (N, 4 H) and of c."""
    i, f, g, o = np.split(np.asarray(gates, np.float64), 4, axis=1)
    grad_h, said = np.asarray(grad_h, np.float64), np.tanh(np.asarray(new_c, np.float64))
    grad = np.asarray(grad_c, np.float64) + grad_h * o * (1 - said**2)
    parts = (
        grad * g * i * (1 - i),
        grad * np.asarray(c) * f * (1 - f),
        grad * i * (1 - g**2),
        grad_h * said * o * (1 - o),
    )
    return np.concatenate(parts, axis=1), grad * f


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def lstm_fused_kernel(from_input, from_hidden, c, gates, new_h, new_c):
    """Compute all gates and the new state, one thread per unit of one sample.

    New here   a unit's three gates and candidate are H columns apart and are all that the unit
               needs, so one thread computes the whole unit. They are stored for the gradient
    Shapes     from_input, from_hidden and gates (N, 4 H), c, new_h and new_c (N, H); any sizes
               >= 1, any strides. gates may be from_input, new_c may be c
    Cost       bytes: 15 itemsize N H; flops: 19 N H, 5 of them calls of exp and tanh; barriers: 0
    """
    unit, sample = cuda.grid(2)
    size = new_h.shape[1]
    if sample < new_h.shape[0] and unit < size:
        f_at, g_at, o_at = unit + size, unit + 2 * size, unit + 3 * size
        i = sigmoid_of(from_input[sample, unit] + from_hidden[sample, unit], new_h)
        f = sigmoid_of(from_input[sample, f_at] + from_hidden[sample, f_at], new_h)
        g = math.tanh(from_input[sample, g_at] + from_hidden[sample, g_at])
        o = sigmoid_of(from_input[sample, o_at] + from_hidden[sample, o_at], new_h)
        cell = f * c[sample, unit] + i * g
        gates[sample, unit] = i
        gates[sample, f_at] = f
        gates[sample, g_at] = g
        gates[sample, o_at] = o
        new_c[sample, unit] = cell
        new_h[sample, unit] = o * math.tanh(cell)


def lstm_fused_cost(n: int, h: int, itemsize: int = 4) -> Cost:
    """Both parts of four sums and c loaded, gates, c' and h' stored."""
    return Cost(bytes=15 * itemsize * n * h, flops=19 * n * h)


@cuda.jit
def lstm_update_kernel(gates, c, new_h, new_c):
    """Compute the new state from the gates, one thread per unit of one sample.

    New here   the same arithmetic on gates that another launch stored
    Shapes     gates (N, 4 H), c, new_h and new_c (N, H); any sizes >= 1, any strides. new_c may
               be c
    Cost       bytes: 7 itemsize N H; flops: 5 N H, one of them the call of tanh; barriers: 0
    """
    unit, sample = cuda.grid(2)
    size = new_h.shape[1]
    if sample < new_h.shape[0] and unit < size:
        i, f = gates[sample, unit], gates[sample, unit + size]
        g, o = gates[sample, unit + 2 * size], gates[sample, unit + 3 * size]
        cell = f * c[sample, unit] + i * g
        new_c[sample, unit] = cell
        new_h[sample, unit] = o * math.tanh(cell)


def lstm_update_cost(n: int, h: int, itemsize: int = 4) -> Cost:
    """Three gates, the candidate and c loaded, c' and h' stored."""
    return Cost(bytes=7 * itemsize * n * h, flops=5 * n * h)


@cuda.jit
def lstm_backward_kernel(grad_h, grad_c, gates, c, new_c, grad_sums, old_grad_c):
    """Compute the gradients of the sums and of c, one thread per unit of one sample.

    New here   derivatives from the stored gates, and tanh(c') recomputed: one call is cheaper than
               storing one more value per unit. The gradient of c' comes from h' and from the next
               step; the forget gate passes it on, times f and not times a weight: that is why an
               LSTM remembers
    Shapes     grad_h, grad_c, c, new_c and old_grad_c (N, H), gates and grad_sums (N, 4 H); any
               sizes >= 1, any strides. grad_sums may be gates, old_grad_c may be grad_c
    Cost       bytes: 13 itemsize N H; flops: 25 N H, one of them the call of tanh; barriers: 0
    """
    unit, sample = cuda.grid(2)
    size, one = c.shape[1], c.dtype.type(1)
    if sample < c.shape[0] and unit < size:
        f_at, g_at, o_at = unit + size, unit + 2 * size, unit + 3 * size
        i, f = gates[sample, unit], gates[sample, f_at]
        g, o = gates[sample, g_at], gates[sample, o_at]
        said, of_h = math.tanh(new_c[sample, unit]), grad_h[sample, unit]
        grad = grad_c[sample, unit] + of_h * o * ((one - said) * (one + said))
        grad_sums[sample, unit] = grad * g * (i * (one - i))
        grad_sums[sample, f_at] = grad * c[sample, unit] * (f * (one - f))
        grad_sums[sample, g_at] = grad * i * ((one - g) * (one + g))
        grad_sums[sample, o_at] = of_h * said * (o * (one - o))
        old_grad_c[sample, unit] = grad * f


def lstm_backward_cost(n: int, h: int, itemsize: int = 4) -> Cost:
    """Two gradients, gates and candidate, c and c' loaded, four gradients and that of c stored."""
    return Cost(bytes=13 * itemsize * n * h, flops=25 * n * h)


_variant = functools.partial(Variant, block=BLOCK)
VARIANTS = (
    _variant("fused", lstm_fused_kernel, lstm_fused_cost, lstm_reference),
    _variant("separate", lstm_update_kernel, lstm_update_cost, lstm_update_reference),
    _variant("backward", lstm_backward_kernel, lstm_backward_cost, lstm_backward_reference),
)
__all__ = launch.public_names(globals())
