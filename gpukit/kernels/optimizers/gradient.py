"""Gradient descent (SGD), and SGD with momentum and with Nesterov momentum.

    sgd        p -= lr g
    momentum   v = momentum v + g;   p -= lr v                     a ball that rolls downhill
    nesterov   v = momentum v + g;   p -= lr (g + momentum v)      the same, one step ahead

Formulas and defaults are those of `torch.optim.SGD`, where weight decay is part of the gradient:
g + decay p instead of g.

Legend
    velocity, v the running sum of gradients, decayed by `momentum` at each step
    lr          learning rate                                   0.001
    momentum    momentum coefficient                            0.9
    scale       coefficient of the new gradient, 1 - dampening  1
    decay       weight decay                                    0.0
    the others  as in `fused`

All kernels
    Shapes     all arrays (n,); any n >= 1
    Dtypes     as in `fused`
    Launch     as in `fused`
    Errors     as in `fused`
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels.optimizers.fused import (
    step_in_place,
    update_four,
    update_four_with_one,
    variants,
)
from gpukit.kernels.vector import elementwise_cost

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
    scale = 1 if step == 1 else 1 - dampening
    v = momentum * v + scale * (g + weight_decay * p)
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
    lr, momentum, scale, decay = rates
    v = momentum * v + scale * (g + decay * p)
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
    """Update weights by SGD, one weight per thread.

    New here   the output is an input: a thread reads only its own weight, so the new
               value can overwrite it
    Cost       bytes: 3 itemsize n; flops: 4 n; barriers: 0
    Source     Robbins and Monro, "A Stochastic Approximation Method", 1951
    """
    i = cuda.grid(1)
    if i < param.shape[0]:
        param[i] = sgd_rule(param[i], grad[i], rates)


# Two loads and one store; two products, a sum and a difference.
sgd_cost = elementwise_cost(accesses=3, flops=4)


@cuda.jit
def sgd_vectorized_kernel(param, grad, rates):
    """Update weights by SGD, four weights per thread.

    New here   16-byte loads and stores: as many bytes with a quarter of the instructions
    Cost       bytes: 12 n; flops: 4 n; barriers: 0
    Source     Justin Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA
               blog, 2013
    """
    update_four(sgd_rule, param, grad, rates, cuda.grid(1))


@cuda.jit
def momentum_kernel(param, grad, velocity, rates):
    """Update weights by SGD with momentum, one weight per thread.

    New here   a state that persists between steps, an array as large as the parameter: the memory
               of an optimizer is counted in such arrays, here one
    Cost       bytes: 5 itemsize n; flops: 7 n; barriers: 0
    Source     Polyak, "Some Methods of Speeding up the Convergence of Iteration Methods", 1964
    """
    i = cuda.grid(1)
    if i < param.shape[0]:
        param[i], velocity[i] = momentum_rule(param[i], grad[i], velocity[i], rates)


# Three loads and two stores; four products, two sums and a difference.
momentum_cost = elementwise_cost(accesses=5, flops=7)


@cuda.jit
def momentum_vectorized_kernel(param, grad, velocity, rates):
    """Update weights by SGD with momentum, four weights per thread.

    New here   both arrays that change have 16-byte stores
    Cost       bytes: 20 n; flops: 7 n; barriers: 0
    Source     Polyak, "Some Methods of Speeding up the Convergence of Iteration Methods", 1964
    """
    update_four_with_one(momentum_rule, param, grad, velocity, rates, cuda.grid(1))


@cuda.jit
def nesterov_kernel(param, grad, velocity, rates):
    """Update weights by SGD with Nesterov momentum, one weight per thread.

    New here   the formula of PyTorch and most others: the gradient is that at the current weights,
               rewritten from Nesterov's formula, which evaluates it one step ahead
    Cost       bytes: 5 itemsize n; flops: 8 n; barriers: 0
    Source     Sutskever, Martens, Dahl and Hinton, "On the Importance of Initialization and
               Momentum in Deep Learning", ICML 2013
    """
    i = cuda.grid(1)
    if i < param.shape[0]:
        param[i], velocity[i] = nesterov_rule(param[i], grad[i], velocity[i], rates)


# Three loads and two stores; four products, three sums and a difference.
nesterov_cost = elementwise_cost(accesses=5, flops=8)


@cuda.jit
def nesterov_vectorized_kernel(param, grad, velocity, rates):
    """Update weights by SGD with Nesterov momentum, four weights per thread.

    New here   another rule, the same function
    Cost       bytes: 20 n; flops: 8 n; barriers: 0
    Source     Sutskever, Martens, Dahl and Hinton, "On the Importance of Initialization and
               Momentum in Deep Learning", ICML 2013
    """
    update_four_with_one(nesterov_rule, param, grad, velocity, rates, cuda.grid(1))


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

    The velocity starts at zero. PyTorch does not dampen the first gradient, so with `dampening`
    the argument `step` is required, 1 for the first.
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

    The velocity starts at zero.
    """
    rates = lr, momentum, weight_decay
    step_in_place("nesterov_step", NESTEROV_VARIANTS, rates, stream, param, grad, velocity)


SGD_VARIANTS = variants("sgd", sgd_kernel, sgd_vectorized_kernel, sgd_cost, sgd_reference)
MOMENTUM_VARIANTS = variants(
    "momentum", momentum_kernel, momentum_vectorized_kernel, momentum_cost, momentum_reference
)
NESTEROV_VARIANTS = variants(
    "nesterov", nesterov_kernel, nesterov_vectorized_kernel, nesterov_cost, nesterov_reference
)
VARIANTS = (*SGD_VARIANTS, *MOMENTUM_VARIANTS, *NESTEROV_VARIANTS)
__all__ = launch.public_names(globals())
