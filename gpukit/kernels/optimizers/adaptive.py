"""Adaptive optimizers, with a step size per weight: Adagrad, RMSprop and Adadelta.

    adagrad    s += g^2;                       p -= lr g / (sqrt(s) + eps)
    rmsprop    s = alpha s + (1 - alpha) g^2;  p -= lr g / (sqrt(s) + eps)
    adadelta   s = rho s + (1 - rho) g^2;      d = g sqrt(u + eps) / sqrt(s + eps)
               u = rho u + (1 - rho) d^2;      p -= lr d

Adagrad sums squares over all steps, so its steps keep shrinking; RMSprop uses a moving
average instead. Adadelta scales its steps by the previous ones: d has the unit of p.

Formulas and defaults are those of `torch.optim`; RMSprop without `centered` and momentum.

Legend
    squares, s  sum or average of the squares of gradients
    steps, u    average of the squares of steps
    lr, decay   learning rate, weight decay  0.01, 0.0
    eps         keeps the divisor from 0     1e-8
    alpha, beta  coefficients of an average and of the new term: alpha, 1 - alpha
    the others  as in `fused`

All kernels
    Shapes     all arrays (n,); any n >= 1
    Dtypes     as in `fused`
    Launch     as in `fused`
    Errors     as in `fused`
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels.optimizers.fused import (
    step_in_place,
    update_four_with_one,
    update_four_with_two,
    variants,
)
from gpukit.kernels.vector import elementwise_cost

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def adagrad_reference(
    param: npt.ArrayLike,
    grad: npt.ArrayLike,
    squares: npt.ArrayLike,
    *,
    step: int = 1,
    lr: float = 1e-2,
    lr_decay: float = 0.0,
    weight_decay: float = 0.0,
    eps: float = 1e-10,
) -> tuple[Float64, Float64]:
    """Return the parameter and the sum of squares after a step of Adagrad."""
    p, g, s = (np.asarray(x, np.float64) for x in (param, grad, squares))
    g = g + weight_decay * p
    s = s + g**2
    return p - lr / (1 + (step - 1) * lr_decay) * g / (np.sqrt(s) + eps), s


def rmsprop_reference(
    param: npt.ArrayLike,
    grad: npt.ArrayLike,
    squares: npt.ArrayLike,
    *,
    lr: float = 1e-2,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Float64, Float64]:
    """Return the parameter and the average of squares after a step of RMSprop."""
    p, g, s = (np.asarray(x, np.float64) for x in (param, grad, squares))
    g = g + weight_decay * p
    s = alpha * s + (1 - alpha) * g**2
    return p - lr * g / (np.sqrt(s) + eps), s


def adadelta_reference(
    param: npt.ArrayLike,
    grad: npt.ArrayLike,
    squares: npt.ArrayLike,
    steps: npt.ArrayLike,
    *,
    lr: float = 1.0,
    rho: float = 0.9,
    eps: float = 1e-6,
    weight_decay: float = 0.0,
) -> tuple[Float64, Float64, Float64]:
    """Return the parameter and both averages after a step of Adadelta."""
    p, g, s, u = (np.asarray(x, np.float64) for x in (param, grad, squares, steps))
    g = g + weight_decay * p
    s = rho * s + (1 - rho) * g**2
    d = g * np.sqrt(u + eps) / np.sqrt(s + eps)
    return p - lr * d, s, rho * u + (1 - rho) * d**2


# --- Rules for one weight --------------------------------------------------------------------


@cuda.jit(device=True)
def adagrad_rule(p, g, s, rates):
    """Return the new weight and its new sum of squares."""
    lr, eps, decay = rates
    g += decay * p
    s += g * g
    return p - lr * g / (math.sqrt(s) + eps), s


@cuda.jit(device=True)
def rmsprop_rule(p, g, s, rates):
    """Return the new weight and its new average of squares."""
    lr, alpha, beta, eps, decay = rates
    g += decay * p
    s = alpha * s + beta * g * g
    return p - lr * g / (math.sqrt(s) + eps), s


@cuda.jit(device=True)
def adadelta_rule(p, g, s, u, rates):
    """Return the new weight and its new averages, of squares and of squared steps."""
    lr, alpha, beta, eps, decay = rates
    g += decay * p
    s = alpha * s + beta * g * g
    d = math.sqrt(u + eps) / math.sqrt(s + eps) * g
    return p - lr * d, s, alpha * u + beta * d * d


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def adagrad_kernel(param, grad, squares, rates):
    """Update weights by Adagrad, one weight per thread.

    New here   a step size per weight: one that rarely gets a gradient moves far when it
               does. The square root and the division are free, since memory is the limit
    Cost       bytes: 5 itemsize n; flops: 9 n, one of them the call of sqrt; barriers: 0
    Source     Duchi, Hazan and Singer, "Adaptive Subgradient Methods", JMLR 12, 2011
    """
    i = cuda.grid(1)
    if i < param.shape[0]:
        param[i], squares[i] = adagrad_rule(param[i], grad[i], squares[i], rates)


# Three loads and two stores; g 2, its square 2, the step 5.
adagrad_cost = elementwise_cost(accesses=5, flops=9)


@cuda.jit
def adagrad_vectorized_kernel(param, grad, squares, rates):
    """Update weights by Adagrad, four weights per thread.

    New here   16-byte accesses
    Cost       bytes: 20 n; flops: 9 n; barriers: 0
    Source     Duchi, Hazan and Singer, "Adaptive Subgradient Methods", JMLR 12, 2011
    """
    update_four_with_one(adagrad_rule, param, grad, squares, rates, cuda.grid(1))


@cuda.jit
def rmsprop_kernel(param, grad, squares, rates):
    """Update weights by RMSprop, one weight per thread.

    New here   a moving average: with alpha 0.99 it covers about the last 100 steps. Both alpha
               and 1 - alpha come from the host: in float32, 1 - alpha would lose 6 bits
    Cost       bytes: 5 itemsize n; flops: 11 n, one of them the call of sqrt; barriers: 0
    Source     Tieleman and Hinton, lecture 6.5 of "Neural Networks for Machine Learning", 2012
    """
    i = cuda.grid(1)
    if i < param.shape[0]:
        param[i], squares[i] = rmsprop_rule(param[i], grad[i], squares[i], rates)


# Three loads and two stores; g 2, the average 4, the step 5.
rmsprop_cost = elementwise_cost(accesses=5, flops=11)


@cuda.jit
def rmsprop_vectorized_kernel(param, grad, squares, rates):
    """Update weights by RMSprop, four weights per thread.

    New here   16-byte accesses
    Cost       bytes: 20 n; flops: 11 n; barriers: 0
    Source     Tieleman and Hinton, lecture 6.5 of "Neural Networks for Machine Learning", 2012
    """
    update_four_with_one(rmsprop_rule, param, grad, squares, rates, cuda.grid(1))


@cuda.jit
def adadelta_kernel(param, grad, squares, steps, rates):
    """Update weights by Adadelta, one weight per thread.

    New here   two states; the step is as long as the previous steps, so that no learning rate has
               to be tuned, and the first steps are short: sqrt(eps) and growing
    Cost       bytes: 7 itemsize n; flops: 18 n, two of them calls of sqrt; barriers: 0
    Source     Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012
    """
    i = cuda.grid(1)
    if i < param.shape[0]:
        param[i], squares[i], steps[i] = adadelta_rule(
            param[i], grad[i], squares[i], steps[i], rates
        )


# Four loads and three stores; g 2, averages 4 each, the step 6 and 2.
adadelta_cost = elementwise_cost(accesses=7, flops=18)


@cuda.jit
def adadelta_vectorized_kernel(param, grad, squares, steps, rates):
    """Update weights by Adadelta, four weights per thread.

    New here   16-byte accesses, seven per four weights
    Cost       bytes: 28 n; flops: 18 n; barriers: 0
    Source     Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012
    """
    update_four_with_two(adadelta_rule, param, grad, squares, steps, rates, cuda.grid(1))


# --- Host functions --------------------------------------------------------------------------


@signature.takes("param!: ..., grad: ..., squares!: ...", layout="C")
def adagrad_step(
    param: Any,
    grad: Any,
    squares: Any,
    *,
    step: int = 1,
    lr: float = 1e-2,
    lr_decay: float = 0.0,
    weight_decay: float = 0.0,
    eps: float = 1e-10,
    stream: Any = 0,
) -> None:
    """Update a parameter and its sum of squares in place, p -= lr g / (sqrt(squares) + eps).

    The sum starts at zero. `step`, 1 for the first, matters only with `lr_decay`: the learning rate
    is lr / (1 + (step - 1) lr_decay).
    """
    function = "adagrad_step"
    step = launch.check_int(function, "step", step, least=1)
    rates = lr / (1 + (step - 1) * lr_decay), eps, weight_decay
    step_in_place(function, ADAGRAD_VARIANTS, rates, stream, param, grad, squares)


@signature.takes("param!: ..., grad: ..., squares!: ...", layout="C")
def rmsprop_step(
    param: Any,
    grad: Any,
    squares: Any,
    *,
    lr: float = 1e-2,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    stream: Any = 0,
) -> None:
    """Update a parameter and its average of squares in place, p -= lr g / (sqrt(squares) + eps).

    The average starts at zero.
    """
    rates = lr, alpha, 1 - alpha, eps, weight_decay
    step_in_place("rmsprop_step", RMSPROP_VARIANTS, rates, stream, param, grad, squares)


@signature.takes("param!: ..., grad: ..., squares!: ..., steps!: ...", layout="C")
def adadelta_step(
    param: Any,
    grad: Any,
    squares: Any,
    steps: Any,
    *,
    lr: float = 1.0,
    rho: float = 0.9,
    eps: float = 1e-6,
    weight_decay: float = 0.0,
    stream: Any = 0,
) -> None:
    """Update a parameter and its averages of squared gradients and squared steps in place.

    Both averages start at zero.
    """
    rates = lr, rho, 1 - rho, eps, weight_decay
    step_in_place("adadelta_step", ADADELTA_VARIANTS, rates, stream, param, grad, squares, steps)


ADAGRAD_VARIANTS = variants(
    "adagrad", adagrad_kernel, adagrad_vectorized_kernel, adagrad_cost, adagrad_reference
)
RMSPROP_VARIANTS = variants(
    "rmsprop", rmsprop_kernel, rmsprop_vectorized_kernel, rmsprop_cost, rmsprop_reference
)
ADADELTA_VARIANTS = variants(
    "adadelta", adadelta_kernel, adadelta_vectorized_kernel, adadelta_cost, adadelta_reference
)
VARIANTS = (*ADAGRAD_VARIANTS, *RMSPROP_VARIANTS, *ADADELTA_VARIANTS)
__all__ = launch.public_names(globals())
