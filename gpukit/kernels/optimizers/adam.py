"""Adam and AdamW: momentum and an adaptive step size per weight.

    m = beta1 m + (1 - beta1) g        average of gradients
    v = beta2 v + (1 - beta2) g^2      average of their squares
    p -= lr m' / (sqrt(v') + eps)      with m' = m / (1 - beta1^t), v' = v / (1 - beta2^t)

Both averages start at zero and are biased towards it at first; the divisors correct that. In the
first step m' is g and v' is g^2: every weight moves by lr, whether its gradient is 0.001 or 1000.

Adam adds weight decay to the gradient, where it is divided by sqrt(v') with the rest; AdamW
decays the weight itself: p -= lr decay p. Formulas and defaults are those of `torch.optim`,
without `amsgrad`.

Legend
    m, v        averages of gradients and of their squares
    t, step     the index of the step, 1 for the first
    lr          learning rate                     0.001
    alpha1, alpha2  1 - beta1, 1 - beta2
    betas       decay rates of m and v            0.9, 0.999
    eps         keeps the divisor from 0          1e-8
    decay       weight decay; for AdamW times lr  0.0
    length      lr / (1 - beta1^t)
    root        1 / sqrt(1 - beta2^t), so sqrt(v') = root sqrt(v)
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
from gpukit.kernels.optimizers.fused import step_in_place, update_four_with_two, variants
from gpukit.kernels.vector import elementwise_cost

Float64 = npt.NDArray[np.float64]
Betas = tuple[float, float]


# --- References ------------------------------------------------------------------------------


def adam_reference(
    param: npt.ArrayLike,
    grad: npt.ArrayLike,
    m: npt.ArrayLike,
    v: npt.ArrayLike,
    *,
    step: int,
    lr: float = 1e-3,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Float64, Float64, Float64]:
    """Return the parameter and both averages after a step of Adam."""
    p, g, m, v = (np.asarray(x, np.float64) for x in (param, grad, m, v))
    g = g + weight_decay * p
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    unbiased_m, unbiased_v = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return p - lr * unbiased_m / (np.sqrt(unbiased_v) + eps), m, v


def adamw_reference(
    param: npt.ArrayLike,
    grad: npt.ArrayLike,
    m: npt.ArrayLike,
    v: npt.ArrayLike,
    *,
    step: int,
    lr: float = 1e-3,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 1e-2,
) -> tuple[Float64, Float64, Float64]:
    """Return the parameter, which shrinks first, and both averages after a step of AdamW."""
    smaller = np.asarray(param, np.float64) * (1 - lr * weight_decay)
    return adam_reference(smaller, grad, m, v, step=step, lr=lr, betas=betas, eps=eps)


# --- Rules for one weight --------------------------------------------------------------------


@cuda.jit(device=True)
def averages(g, m, v, rates):
    """Return the new averages of the gradients and of their squares."""
    alpha1, beta2, alpha2 = rates
    return m + alpha1 * (g - m), beta2 * v + alpha2 * g * g


@cuda.jit(device=True)
def adam_rule(p, g, m, v, rates):
    """Return the new weight and its new averages; weight decay is added to the gradient."""
    length, alpha1, beta2, alpha2, root, eps, decay = rates
    m, v = averages(g + decay * p, m, v, (alpha1, beta2, alpha2))
    return p - length * m / (math.sqrt(v) * root + eps), m, v


@cuda.jit(device=True)
def adamw_rule(p, g, m, v, rates):
    """Return the new weight and its new averages; weight decay is decoupled from the gradient."""
    length, alpha1, beta2, alpha2, root, eps, decay = rates
    m, v = averages(g, m, v, (alpha1, beta2, alpha2))
    # One difference, not two: decay p is so small that p - decay p is mostly rounding.
    return p - (decay * p + length * m / (math.sqrt(v) * root + eps)), m, v


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def adam_kernel(param, grad, m, v, rates):
    """Update weights by Adam, one weight per thread.

    New here   two states, and rates that change with every step: the bias corrections, which do
               not depend on the weight, are computed once on the host, in float64
    Cost       bytes: 7 itemsize n; flops: 15 n, one of them the call of sqrt; barriers: 0
    Source     Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015
    """
    i = cuda.grid(1)
    if i < param.shape[0]:
        param[i], m[i], v[i] = adam_rule(param[i], grad[i], m[i], v[i], rates)


# Four loads and three stores; g 2, m 3, v 4, the step 6.
adam_cost = elementwise_cost(accesses=7, flops=15)


@cuda.jit
def adam_vectorized_kernel(param, grad, m, v, rates):
    """Update weights by Adam, four weights per thread.

    New here   16-byte accesses, seven per four weights
    Cost       bytes: 28 n; flops: 15 n; barriers: 0
    Source     Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015
    """
    update_four_with_two(adam_rule, param, grad, m, v, rates, cuda.grid(1))


@cuda.jit
def adamw_kernel(param, grad, m, v, rates):
    """Update weights by AdamW, one weight per thread.

    New here   weight decay decoupled from the gradient: the averages do not include it, and weights
               with large gradients decay as fast as the others
    Cost       bytes: 7 itemsize n; flops: 15 n, one of them the call of sqrt; barriers: 0
    Source     Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019
    """
    i = cuda.grid(1)
    if i < param.shape[0]:
        param[i], m[i], v[i] = adamw_rule(param[i], grad[i], m[i], v[i], rates)


@cuda.jit
def adamw_vectorized_kernel(param, grad, m, v, rates):
    """Update weights by AdamW, four weights per thread.

    New here   16-byte accesses, seven per four weights
    Cost       bytes: 28 n; flops: 15 n; barriers: 0
    Source     Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019
    """
    update_four_with_two(adamw_rule, param, grad, m, v, rates, cuda.grid(1))


# --- Host functions --------------------------------------------------------------------------


@signature.takes("param!: ..., grad: ..., m!: ..., v!: ...", layout="C")
def adam_step(
    param: Any,
    grad: Any,
    m: Any,
    v: Any,
    *,
    step: int,
    lr: float = 1e-3,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    stream: Any = 0,
) -> None:
    """Update a parameter and its averages of gradients and of their squares in place by Adam.

    `step` is the index of the step, 1 for the first; m and v start at zero. Weight decay is added
    to the gradient.
    """
    rates = _rates("adam_step", step, lr, betas, eps, weight_decay)
    step_in_place("adam_step", ADAM_VARIANTS, rates, stream, param, grad, m, v)


@signature.takes("param!: ..., grad: ..., m!: ..., v!: ...", layout="C")
def adamw_step(
    param: Any,
    grad: Any,
    m: Any,
    v: Any,
    *,
    step: int,
    lr: float = 1e-3,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 1e-2,
    stream: Any = 0,
) -> None:
    """Update a parameter and its averages of gradients and of their squares in place by AdamW.

    As `adam_step`, but weight decay shrinks the parameter itself, by the factor
    1 - lr weight_decay.
    """
    rates = _rates("adamw_step", step, lr, betas, eps, lr * weight_decay)
    step_in_place("adamw_step", ADAMW_VARIANTS, rates, stream, param, grad, m, v)


def _rates(
    function: str, step: int, lr: float, betas: Betas, eps: float, decay: float
) -> tuple[float, ...]:
    """Return the rates that the rules of Adam and AdamW unpack."""
    step = launch.check_int(function, "step", step, least=1)
    beta1, beta2 = betas
    length, root = lr / (1 - beta1**step), (1 - beta2**step) ** -0.5
    return length, 1 - beta1, beta2, 1 - beta2, root, eps, decay


ADAM_VARIANTS = variants("adam", adam_kernel, adam_vectorized_kernel, adam_cost, adam_reference)
ADAMW_VARIANTS = variants(
    "adamw", adamw_kernel, adamw_vectorized_kernel, adam_cost, adamw_reference
)
VARIANTS = (*ADAM_VARIANTS, *ADAMW_VARIANTS)
__all__ = launch.public_names(globals())
