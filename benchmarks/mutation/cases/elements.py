"""Launches of activations and their gradients, over all the intervals that they distinguish."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from benchmarks.mutation.cases.register import Array, Case, case, of, values
from gpukit.kernels import activations, activations_grad

FLOAT4S = 1301  # with float4 accesses: two blocks, one element after the last four


def _signed(n: int) -> Array:
    """Return values of both signs from -3 to 3, none of them near 0."""
    x = 2 * values(n) - 1
    return np.where(np.arange(n) % 2, x, -x).astype(np.float32)


def _activation(name: str, n: int) -> Iterator[Case]:
    # Some beyond the limits of gelu, where float32 gives 0 and x.
    x = _signed(n)
    x[:2] = -50, 50
    reference = getattr(activations, f"{name}_reference")
    yield case(2, activations.BLOCK, (x,), reference(x))
    yield case(1, activations.BLOCK, (x[2:13],), reference(x[2:13]))


for _variant in activations.VARIANTS:
    _name = _variant.name.removesuffix("_vectorized")
    of(_variant.kernel)(functools.partial(_activation, _name, FLOAT4S if _variant.tile else 300))


def _activation_grad(name: str, n: int) -> Iterator[Case]:
    grad, x = values(n), _signed(n)
    x[5] = 0  # where relu has no derivative, and the gradient is 0 by convention
    if name in ("sigmoid_grad", "tanh_grad"):
        x = (1 / (1 + np.exp(-x))).astype(np.float32)
    reference = getattr(activations_grad, f"{name}_reference")
    yield case(2, activations.BLOCK, (grad, x), reference(grad, x))
    if name == "gelu_grad":
        x = np.array([-1e20, -50, 50, 1e20], np.float32)
        yield case(1, activations.BLOCK, (grad[:4], x), reference(grad[:4], x))


for _variant in activations_grad.VARIANTS:
    _name = _variant.name.removesuffix("_vectorized")
    of(_variant.kernel)(
        functools.partial(_activation_grad, _name, FLOAT4S if _variant.tile else 300)
    )
