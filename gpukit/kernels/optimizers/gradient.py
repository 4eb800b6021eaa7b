"""Gradient descent: SGD, and its two forms with a velocity, momentum and Nesterov.

    sgd        p -= lr g
    momentum   v = momentum v + g;   p -= lr v                     a ball that rolls downhill
    nesterov   v = momentum v + g;   p -= lr (g + momentum v)      the same, one step ahead

Formulas and defaults are those of `torch.optim.SGD`, where weight decay is part of the gradient:
g + decay p in the place of g.

Legend
    n           elements of the parameter, all axes together           1000
    param, p    the weights, and one of them
    grad, g     dE/d param, and one of its elements
    velocity, v the running sum of gradients, which fades by `momentum` at each step
    lr          learning rate                                          0.001
    momentum    how much of the velocity stays                         0.9
    share       how much of a gradient joins it, 1 - dampening         1
    decay       weight decay                                           0.0
    rates       all of these as a tuple of numbers of the dtype
    i           the element this thread updates                        [0, n)
    k           the four elements that it updates at once              [0, n / 4)
    BLOCK       threads in a block                                     256

All kernels, unless one says otherwise
    Shapes     all arrays (n,); any n >= 1
    Dtypes     float32 or float64, one for all arrays, the rates and the arithmetic; the vectorised
               kernels float32 alone, at multiples of 16 bytes
    Launch     block BLOCK, grid ceil_div(n, BLOCK), x = element; the vectorised kernels
               ceil_div(n, 4 BLOCK), x = four elements
    Errors     the host function rejects unequal shapes or dtypes; the kernel assumes them equal
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels.optimizers.fused import (
    BLOCK,
    step_in_place,
    takes_float4,
    update_four,
    update_four_with_one,
)
from gpukit.launch import Cost, Variant
from gpukit.primitives.wide import WIDTH

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def sgd_reference(
    param: npt.ArrayLike, grad: npt.ArrayLike, *, lr: float = 1e-3, weight_decay: float = 0.0
) -> Float64:
    """Return the parameter after a step of SGD."""
    p, g = np.asarray(param, np.float64), np.asarray(grad, np.float64)
    made: Float64 = p - lr * (g + weight_decay * p)
    return made


def momentum_reference(
    param: npt.ArrayLike,
    grad: npt.ArrayLike,
    velocity: npt.ArrayLike,
    *,
    lr: float = 1e-3,
    momentum: float = 0.9,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    step: int = 2,
) -> tuple[Float64, Float64]:
    """Return the parameter and the velocity after a step with momentum."""
    p, g, v = (np.asarray(x, np.float64) for x in (param, grad, velocity))
    share = 1 if step == 1 else 1 - dampening
    v = momentum * v + share * (g + weight_decay * p)
    return p - lr * v, v


def nesterov_reference(
    param: npt.ArrayLike,
    grad: npt.ArrayLike,
    velocity: npt.ArrayLike,
    *,
    lr: float = 1e-3,
    momentum: float = 0.9,
    weight_decay: float = 0.0,
) -> tuple[Float64, Float64]:
    """Return the parameter and the velocity after a step with Nesterov's momentum."""
    p, g, v = (np.asarray(x, np.float64) for x in (param, grad, velocity))
    g = g + weight_decay * p
    v = momentum * v + g
    return p - lr * (g + momentum * v), v


# --- Rules for one weight --------------------------------------------------------------------


@cuda.jit(device=True)
def sgd_rule(p, g, rates):
    """Return the new weight."""
    lr, decay = rates
    return p - lr * (g + decay * p)


@cuda.jit(device=True)
def momentum_rule(p, g, v, rates):
    """Return the new weight and its new velocity."""
    lr, momentum, share, decay = rates
    v = momentum * v + share * (g + decay * p)
    return p - lr * v, v


@cuda.jit(device=True)
def nesterov_rule(p, g, v, rates):
    """Return the new weight and its new velocity; the step looks ahead along the velocity."""
    lr, momentum, decay = rates
    g += decay * p
    v = momentum * v + g
    return p - lr * (g + momentum * v), v


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def sgd_kernel(param, grad, rates):
    """Step against the gradient, one thread for one weight.

    New here   the output is an input: a thread reads its own weight and nobody else's, so the new
               one can take its place
    Cost       bytes: 3 itemsize n; flops: 4 n; barriers: 0
    Source     Robbins and Monro, "A Stochastic Approximation Method", 1951
    """
    i = cuda.grid(1)
    if i < param.shape[0]:
        param[i] = sgd_rule(param[i], grad[i], rates)


def sgd_cost(n: int, itemsize: int = 4) -> Cost:
    """Two loads and one store for each weight; two products, a sum and a difference."""
    return Cost(bytes=3 * itemsize * n, flops=4 * n)


@cuda.jit
def sgd_vectorised_kernel(param, grad, rates):
    """Step against the gradient, one thread for four weights.

    New here   loads and stores of 16 bytes: a GPU moves as much with a quarter of the instructions
    Cost       bytes: 12 n; flops: 4 n; barriers: 0
    Source     Justin Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA
               blog, 2013
    """
    k, fours = cuda.grid(1), param.shape[0] // WIDTH
    if k < fours:
        update_four(sgd_rule, param, grad, rates, k)
    i = fours * WIDTH + k  # what lies behind the last four
    if i < param.shape[0]:
        param[i] = sgd_rule(param[i], grad[i], rates)


@cuda.jit
def momentum_kernel(param, grad, velocity, rates):
    """Step along a velocity that gradients push, one thread for one weight.

    New here   a state that lives from step to step, an array as large as the parameter: the memory
               that an optimizer needs is counted in such arrays, here one
    Cost       bytes: 5 itemsize n; flops: 7 n; barriers: 0
    Source     Polyak, "Some Methods of Speeding up the Convergence of Iteration Methods", 1964
    """
    i = cuda.grid(1)
    if i < param.shape[0]:
        param[i], velocity[i] = momentum_rule(param[i], grad[i], velocity[i], rates)


def momentum_cost(n: int, itemsize: int = 4) -> Cost:
    """Three loads and two stores for each weight; four products, two sums and a difference."""
    return Cost(bytes=5 * itemsize * n, flops=7 * n)


@cuda.jit
def momentum_vectorised_kernel(param, grad, velocity, rates):
    """Step along a velocity that gradients push, one thread for four weights.

    New here   the two arrays that change are stored four elements at once too
    Cost       bytes: 20 n; flops: 7 n; barriers: 0
    Source     Polyak, "Some Methods of Speeding up the Convergence of Iteration Methods", 1964
    """
    k, fours = cuda.grid(1), param.shape[0] // WIDTH
    if k < fours:
        update_four_with_one(momentum_rule, param, grad, velocity, rates, k)
    i = fours * WIDTH + k  # what lies behind the last four
    if i < param.shape[0]:
        param[i], velocity[i] = momentum_rule(param[i], grad[i], velocity[i], rates)


@cuda.jit
def nesterov_kernel(param, grad, velocity, rates):
    """Step along the gradient and the new velocity, one thread for one weight.

    New here   the formula of PyTorch and most others: the gradient is taken at the present weights,
               and the step is written so that it is Nesterov's, who takes it one step ahead
    Cost       bytes: 5 itemsize n; flops: 8 n; barriers: 0
    Source     Sutskever, Martens, Dahl and Hinton, "On the Importance of Initialization and
               Momentum in Deep Learning", ICML 2013
    """
    i = cuda.grid(1)
    if i < param.shape[0]:
        param[i], velocity[i] = nesterov_rule(param[i], grad[i], velocity[i], rates)


def nesterov_cost(n: int, itemsize: int = 4) -> Cost:
    """Three loads and two stores for each weight; four products, three sums and a difference."""
    return Cost(bytes=5 * itemsize * n, flops=8 * n)


@cuda.jit
def nesterov_vectorised_kernel(param, grad, velocity, rates):
    """Step along the gradient and the new velocity, one thread for four weights.

    New here   another rule in the same hands
    Cost       bytes: 20 n; flops: 8 n; barriers: 0
    Source     Sutskever, Martens, Dahl and Hinton, "On the Importance of Initialization and
               Momentum in Deep Learning", ICML 2013
    """
    k, fours = cuda.grid(1), param.shape[0] // WIDTH
    if k < fours:
        update_four_with_one(nesterov_rule, param, grad, velocity, rates, k)
    i = fours * WIDTH + k  # what lies behind the last four
    if i < param.shape[0]:
        param[i], velocity[i] = nesterov_rule(param[i], grad[i], velocity[i], rates)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("param!: ..., grad: ...", layout="C")
def sgd_step(
    param: Any, grad: Any, *, lr: float = 1e-3, weight_decay: float = 0.0, stream: Any = 0
) -> None:
    """Update a parameter in place by SGD: p -= lr (g + weight_decay p).

    Any shape, float32 or float64, the same for both arrays.
    """
    step_in_place("sgd_step", SGD_VARIANTS, (lr, weight_decay), stream, param, grad)


@signature.takes("param!: ..., grad: ..., velocity!: ...", layout="C")
def momentum_step(
    param: Any,
    grad: Any,
    velocity: Any,
    *,
    lr: float = 1e-3,
    momentum: float = 0.9,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    step: int | None = None,
    stream: Any = 0,
) -> None:
    """Update a parameter and its velocity in place, v = momentum v + (1 - dampening) g, p -= lr v.

    The velocity begins as zeros. Of the first gradient PyTorch takes all, whatever the dampening,
    so with one `step` must be given, 1 for the first.
    """
    function = "momentum_step"
    if dampening and step is None:
        raise ValueError(
            f"{function}: expected step with dampening={dampening}, got None. Pass the number of "
            "the step, 1 for the first."
        )
    first = step is not None and launch.check_int(function, "step", step, least=1) == 1
    rates = lr, momentum, 1 if first else 1 - dampening, weight_decay
    step_in_place(function, MOMENTUM_VARIANTS, rates, stream, param, grad, velocity)


@signature.takes("param!: ..., grad: ..., velocity!: ...", layout="C")
def nesterov_step(
    param: Any,
    grad: Any,
    velocity: Any,
    *,
    lr: float = 1e-3,
    momentum: float = 0.9,
    weight_decay: float = 0.0,
    stream: Any = 0,
) -> None:
    """Update a parameter and its velocity in place, v = momentum v + g, p -= lr (g + momentum v).

    The velocity begins as zeros.
    """
    rates = lr, momentum, weight_decay
    step_in_place("nesterov_step", NESTEROV_VARIANTS, rates, stream, param, grad, velocity)


SGD_VARIANTS = (
    Variant("sgd", sgd_kernel, sgd_cost, sgd_reference, BLOCK),
    takes_float4("sgd_vectorised", sgd_vectorised_kernel, sgd_cost, sgd_reference),
)
MOMENTUM_VARIANTS = (
    Variant("momentum", momentum_kernel, momentum_cost, momentum_reference, BLOCK),
    takes_float4(
        "momentum_vectorised", momentum_vectorised_kernel, momentum_cost, momentum_reference
    ),
)
NESTEROV_VARIANTS = (
    Variant("nesterov", nesterov_kernel, nesterov_cost, nesterov_reference, BLOCK),
    takes_float4(
        "nesterov_vectorised", nesterov_vectorised_kernel, nesterov_cost, nesterov_reference
    ),
)
VARIANTS = (*SGD_VARIANTS, *MOMENTUM_VARIANTS, *NESTEROV_VARIANTS)
__all__ = launch.public_names(globals())
