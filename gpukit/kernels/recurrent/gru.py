"""The GRU cell after its matrix products: two gates, the candidate, the mean of old and new.

    r, z = sigmoid of their sums            n = tanh(its input part + r times its hidden part)
    h' = (1 - z) n + z h                    in PyTorch's order: r, z, n

r is a factor inside a sum, so the two products cannot be added before it is known, and the
gradients of the two sums differ there.

Legend
    N, H           samples of the batch, units of the cell    64, 256
    unit, sample   the element of this thread                 [0, H), [0, N)
    r, z, n        reset and update gate, new state, H columns each
    h              the hidden state                           (N, H)
    BLOCK          threads per block along units and samples  (32, 8)

All kernels
    Dtypes     float32 or float64, the same for all arrays
    Launch     block BLOCK, grid (ceil_div(H, 32), ceil_div(N, 8)); x = unit, y = sample
    Errors     the host function rejects shapes that do not fit; the kernel assumes they do
    Source     Cho and others, "Learning Phrase Representations using RNN Encoder-Decoder for
               Statistical Machine Translation", 2014; r after the product as in cuDNN and PyTorch
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


def gru_reference(
    from_input: npt.ArrayLike, from_hidden: npt.ArrayLike, h: npt.ArrayLike
) -> tuple[Float64, Float64]:
    """Return the gates (N, 3 H) and h'."""
    a, b = (np.split(np.asarray(x, np.float64), 3, axis=1) for x in (from_input, from_hidden))
    r, z = sigmoid_reference(a[0] + b[0]), sigmoid_reference(a[1] + b[1])
    gates = np.concatenate([r, z, gru_new_reference(a[2], b[2], r)], axis=1)
    return gates, gru_update_reference(gates, h)


def gru_new_reference(
    from_input: npt.ArrayLike, from_hidden: npt.ArrayLike, r: npt.ArrayLike
) -> Float64:
    """Return the new state n."""
    first, second, r = (np.asarray(x, np.float64) for x in (from_input, from_hidden, r))
    made: Float64 = np.tanh(first + r * second)
    return made


def gru_update_reference(gates: npt.ArrayLike, h: npt.ArrayLike) -> Float64:
    """Return h'."""
    _, z, n = np.split(np.asarray(gates, np.float64), 3, axis=1)
    made: Float64 = (1 - z) * n + z * np.asarray(h)
    return made


def gru_backward_reference(
    grad: npt.ArrayLike, gates: npt.ArrayLike, from_hidden: npt.ArrayLike, h: npt.ArrayLike
) -> tuple[Float64, Float64]:
    """Return the gradients of both sums (N, 3 H)."""
    r, z, n = np.split(np.asarray(gates, np.float64), 3, axis=1)
    grad, past = np.asarray(grad, np.float64), np.split(np.asarray(from_hidden), 3, axis=1)[2]
    of_z = grad * (np.asarray(h) - n) * z * (1 - z)
    of_n = grad * (1 - z) * (1 - n**2)
    of_r = of_n * past * r * (1 - r)
    sides = [of_r, of_z, of_n], [of_r, of_z, of_n * r]
    first, second = (np.concatenate(side, axis=1) for side in sides)
    return first, second


def gru_carry_reference(grad: npt.ArrayLike, z: npt.ArrayLike, product: npt.ArrayLike) -> Float64:
    """Return product + grad z."""
    made: Float64 = np.asarray(product, np.float64) + np.asarray(grad, np.float64) * np.asarray(z)
    return made


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def gru_fused_kernel(from_input, from_hidden, h, gates, new_h):
    """Compute all gates and the new state, one thread per unit of one sample.

    New here   a gate that depends on another one: n needs r, in a register of the same thread
    Shapes     from_input, from_hidden and gates (N, 3 H), h and new_h (N, H); any sizes >= 1, any
               strides. gates may be from_input, new_h may be h
    Cost       bytes: 11 itemsize N H; flops: 14 N H, 3 of them calls of exp and tanh; barriers: 0
    """
    unit, sample = cuda.grid(2)
    size = new_h.shape[1]
    if sample < new_h.shape[0] and unit < size:
        z_at, n_at = unit + size, unit + 2 * size
        r = sigmoid_of(from_input[sample, unit] + from_hidden[sample, unit], new_h)
        z = sigmoid_of(from_input[sample, z_at] + from_hidden[sample, z_at], new_h)
        n = math.tanh(from_input[sample, n_at] + r * from_hidden[sample, n_at])
        gates[sample, unit] = r
        gates[sample, z_at] = z
        gates[sample, n_at] = n
        new_h[sample, unit] = n + z * (h[sample, unit] - n)


def gru_fused_cost(n: int, h: int, itemsize: int = 4) -> Cost:
    """Both parts of three sums and h loaded, gates and h' stored."""
    return Cost(bytes=11 * itemsize * n * h, flops=14 * n * h)


@cuda.jit
def gru_new_kernel(from_input, from_hidden, r, new):
    """Compute the new state n alone, one thread per unit of one sample.

    New here   the gate r, which another launch stored, inside the sum
    Shapes     from_input, from_hidden, r and new (N, H); any sizes >= 1, any strides. new may be
               from_input
    Cost       bytes: 4 itemsize N H; flops: 3 N H, one of them the call of tanh; barriers: 0
    """
    unit, sample = cuda.grid(2)
    if sample < new.shape[0] and unit < new.shape[1]:
        past = r[sample, unit] * from_hidden[sample, unit]
        new[sample, unit] = math.tanh(from_input[sample, unit] + past)


def gru_new_cost(n: int, h: int, itemsize: int = 4) -> Cost:
    """Three loads and a store; a product, a sum and tanh."""
    return Cost(bytes=4 * itemsize * n * h, flops=3 * n * h)


@cuda.jit
def gru_update_kernel(gates, h, new_h):
    """Compute the mean of the old and the new state, one thread per unit of one sample.

    New here   n + z (h - n), one product instead of the formula's two
    Shapes     gates (N, 3 H), h and new_h (N, H); any sizes >= 1, any strides. new_h may be h
    Cost       bytes: 4 itemsize N H; flops: 3 N H; barriers: 0
    """
    unit, sample = cuda.grid(2)
    size = new_h.shape[1]
    if sample < new_h.shape[0] and unit < size:
        z, n = gates[sample, unit + size], gates[sample, unit + 2 * size]
        new_h[sample, unit] = n + z * (h[sample, unit] - n)


def gru_update_cost(n: int, h: int, itemsize: int = 4) -> Cost:
    """Two gates and h loaded, h' stored."""
    return Cost(bytes=4 * itemsize * n * h, flops=3 * n * h)


@cuda.jit
def gru_backward_kernel(grad, gates, from_hidden, h, grad_input_sums, grad_hidden_sums):
    """Compute the gradients of both sums, one thread per unit of one sample.

    New here   two gradients of one gate: the hidden part of n gets its gradient times r. They are
               stored separately, because the weights and biases of input and state need one each
    Shapes     grad and h (N, H), gates, from_hidden, grad_input_sums and grad_hidden_sums
               (N, 3 H); any sizes >= 1, any strides
    Cost       bytes: 12 itemsize N H; flops: 16 N H; barriers: 0
    """
    unit, sample = cuda.grid(2)
    size, one = h.shape[1], h.dtype.type(1)
    if sample < h.shape[0] and unit < size:
        z_at, n_at = unit + size, unit + 2 * size
        r, z, n = gates[sample, unit], gates[sample, z_at], gates[sample, n_at]
        given = grad[sample, unit]
        of_z = given * (h[sample, unit] - n) * (z * (one - z))
        of_n = given * (one - z) * ((one - n) * (one + n))
        of_r = of_n * from_hidden[sample, n_at] * (r * (one - r))
        grad_input_sums[sample, unit] = of_r
        grad_input_sums[sample, z_at] = of_z
        grad_input_sums[sample, n_at] = of_n
        grad_hidden_sums[sample, unit] = of_r
        grad_hidden_sums[sample, z_at] = of_z
        grad_hidden_sums[sample, n_at] = of_n * r


def gru_backward_cost(n: int, h: int, itemsize: int = 4) -> Cost:
    """A gradient, gates and candidate, n's hidden part and h loaded, six gradients stored."""
    return Cost(bytes=12 * itemsize * n * h, flops=16 * n * h)


@cuda.jit
def gru_carry_kernel(grad, z, product, grad_h):
    """Add the gradient of h that passes through z, one thread per unit of one sample.

    New here   the path by which a GRU remembers: times z, not times a weight. It is added to the
               product of grad_hidden_sums and the weights
    Shapes     grad, z, product and grad_h (N, H); any sizes >= 1, any strides. grad_h may be
               product
    Cost       bytes: 4 itemsize N H; flops: 2 N H; barriers: 0
    """
    unit, sample = cuda.grid(2)
    if sample < grad_h.shape[0] and unit < grad_h.shape[1]:
        grad_h[sample, unit] = product[sample, unit] + grad[sample, unit] * z[sample, unit]


def gru_carry_cost(n: int, h: int, itemsize: int = 4) -> Cost:
    """Three loads and a store; a product and a sum."""
    return Cost(bytes=4 * itemsize * n * h, flops=2 * n * h)


_variant = functools.partial(Variant, block=BLOCK)
VARIANTS = (
    _variant("fused", gru_fused_kernel, gru_fused_cost, gru_reference),
    _variant("new", gru_new_kernel, gru_new_cost, gru_new_reference),
    _variant("separate", gru_update_kernel, gru_update_cost, gru_update_reference),
    _variant("backward", gru_backward_kernel, gru_backward_cost, gru_backward_reference),
    _variant("carry", gru_carry_kernel, gru_carry_cost, gru_carry_reference),
)
__all__ = launch.public_names(globals())
