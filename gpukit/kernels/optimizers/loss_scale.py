"""Gradients of a scaled loss: divide by the scale, and find infinity or NaN, in one launch.

float16 loses gradients below 3e-8, so the loss is multiplied by a large power of two before the
backward pass; every gradient is larger by that factor. Before the update they are divided by it. A
scale that is too large makes gradients overflow: then the step must be skipped, so the same launch
looks for values that are not finite. `nn.MixedPrecision` chooses the scale.

Legend
    n         elements of the gradient, all axes together    1000
    grad      the gradient, updated in place
    factor    1 / scale                                      2^-16
    found     (1,): 1 where a value is not finite; else left as it is
    BLOCK     threads per block                              256
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels.optimizers.fused import BLOCK
from gpukit.kernels.vector import elementwise_cost
from gpukit.launch import Variant

# --- Reference -------------------------------------------------------------------------------


def unscale_reference(grad: npt.ArrayLike, factor: float) -> tuple[npt.NDArray[np.float64], bool]:
    """Return grad times factor, and whether a value is NaN or infinite."""
    made = np.asarray(grad, np.float64) * factor
    return made, not np.isfinite(made).all()


# --- Kernel ----------------------------------------------------------------------------------


@cuda.jit
def unscale_kernel(factor, found, grad):
    """Multiply a gradient by a factor in place and note values that are not finite.

    New here   an atomic that almost no thread reaches: values that are not finite are rare, so
               the flag costs a comparison per element and no memory traffic, where a reduction
               would need a barrier and a second launch. An atomic, because many may write it
    Shapes     factor scalar, found (1,), grad (n,); any n >= 1
    Dtypes     float32 or float64, the same for factor and grad; found int32
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Cost       bytes: 2 itemsize n, and an atomic per value that is not finite; flops: n;
               barriers: 0
    Errors     the host function casts factor and rejects other dtypes; the kernel checks nothing
    Source     PyTorch, _amp_foreach_non_finite_check_and_unscale_
    """
    i = cuda.grid(1)
    if i < grad.shape[0]:
        value = grad[i] * factor
        grad[i] = value
        if not math.isfinite(value):
            cuda.atomic.max(found, 0, 1)


unscale_cost = elementwise_cost(accesses=2, flops=1)


# --- Host function ---------------------------------------------------------------------------


@signature.takes("grad!: ..., found!: 1", found=(np.int32,), layout="C")
def unscale(grad: Any, found: Any, factor: float = 1.0, *, stream: Any = 0) -> None:
    """Multiply a gradient by factor in place; set found[0] to 1 if it has NaN or infinity.

    grad of any shape, float32 or float64; found (1,), int32, is left alone if all are finite. With
    factor 1 it only looks.
    """
    if n := grad.size:
        (variant,) = VARIANTS
        kernel = variant.kernel[variant.grid("unscale", n), variant.block, stream]
        kernel(grad.dtype.type(factor), found, grad.reshape(n))


VARIANTS = (Variant("unscale", unscale_kernel, unscale_cost, unscale_reference, BLOCK),)
__all__ = launch.public_names(globals())
