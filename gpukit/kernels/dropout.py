"""Dropout: set each element to 0 with probability p and scale the others by 1 / (1 - p).

    out       = x / (1 - p) where kept, else 0           in training; otherwise x
    grad_x    = grad_out / (1 - p) where kept, else 0    the same function, of the same mask

The mask is not stored: the backward pass draws the same numbers again (philox.py), which costs
arithmetic that a GPU has to spare, instead of a byte written and read per element.

Legend
    n       elements of the array, all axes together    1000
    p       the probability that an element becomes 0   0.5
    scale   1 / (1 - p), which preserves the mean       2
    words   the block's random words, in shared memory  TILE of them
    BLOCK   threads per block                           256
    TILE    elements per block                          1024
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels.philox import BLOCK, TILE, block_words, counted, rand_reference, uniform
from gpukit.launch import Cost, Variant

# --- Reference -------------------------------------------------------------------------------


def dropout_reference(
    x: npt.ArrayLike, p: float, seed: int, offset: int = 0
) -> npt.NDArray[np.float64]:
    """Return x with each element set to 0 or divided by 1 - p, at random."""
    x = np.asarray(x, np.float64)
    kept = rand_reference(x.size, seed, offset).reshape(x.shape) >= np.float32(p)
    return np.where(kept, x * _scale(p), 0)


# --- Kernel ----------------------------------------------------------------------------------


@cuda.jit
def dropout_kernel(x, p, scale, seed, offset, out):
    """Set elements to 0 at random and scale the others, four elements per thread.

    New here   the same kernel for forward and backward, where x is grad_out: the mask is a function
               of seed, offset and index, recomputed instead of stored
    Shapes     x (n,), out (n,); any n >= 1
    Dtypes     float32 or float64 for x, scale and out; p float32, seed and offset uint64
    Launch     block BLOCK, grid ceil_div(n, TILE); x = group of four elements
    Shared     TILE * 4 bytes, static
    Cost       bytes: 2 itemsize n; flops: 2 n; barriers: 1. The work is integer: 20 products per
               four elements
    Errors     the host function rejects an out of a different shape; the kernel does not check it,
               nor that its block is BLOCK. A dropped element is 0 even where x is NaN or infinite:
               PyTorch, which multiplies by 0, has NaN there
    Source     Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from
               Overfitting", 2014
    """
    words = cuda.shared.array(TILE, np.uint32)
    block_words(words, seed, offset)
    first = cuda.blockIdx.x * TILE
    for j in range(cuda.threadIdx.x, TILE, BLOCK):
        i = first + j
        if i < out.shape[0]:
            value = x[i] * scale  # for all elements, so that the choice below needs no branch
            out[i] = value if uniform(words[j]) >= p else x.dtype.type(0)


def dropout_cost(n: int, itemsize: int = 4) -> Cost:
    """One load, two products, of which one is for the random number, and one store."""
    return Cost(bytes=2 * itemsize * n, flops=2 * n)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("input: ... -> ...", in_place=True, layout="C")
def dropout(
    input: Any,
    p: float = 0.5,
    training: bool = True,
    *,
    seed: int,
    offset: int = 0,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return input with elements set to 0 at random and the others divided by 1 - p.

    Any shape gives the same shape and dtype, float32 or float64; `out` may be input itself. The
    mask depends on seed and offset alone: use another offset for each layer and step. With
    `training=False`, and with p = 0, input is copied.
    """
    return _drop("dropout", input, p if training else 0.0, seed, offset, out, stream)


@signature.takes("grad_out: ... -> ...", in_place=True, layout="C")
def dropout_backward(
    grad_out: Any, p: float = 0.5, *, seed: int, offset: int = 0, out: Any = None, stream: Any = 0
) -> Any:
    """Return the gradient of dropout's input, where seed and offset are those of the forward pass.

    Any shape gives the same shape and dtype, float32 or float64; `out` may be grad_out itself.
    """
    return _drop("dropout_backward", grad_out, p, seed, offset, out, stream)


def _drop(function: str, x: Any, p: float, seed: int, offset: int, out: Any, stream: Any) -> Any:
    """Launch dropout_kernel on an array of any shape."""
    if not 0 <= p <= 1:
        raise ValueError(f"{function}: expected 0 <= p <= 1, got {p}. Pass a probability.")
    chance = counted(function, seed, offset)
    if n := math.prod(out.shape):
        (variant,) = VARIANTS
        scale = x.dtype.type(_scale(p))
        grid = variant.grid(function, n)
        variant.kernel[grid, variant.block, stream](
            x.reshape(n), np.float32(p), scale, *chance, out.flat()
        )
    return out.get()


def _scale(p: float) -> float:
    """Return the factor of kept elements; with p = 1 there are none."""
    return 1 / (1 - p) if p < 1 else 0.0


VARIANTS = (Variant("dropout", dropout_kernel, dropout_cost, dropout_reference, BLOCK, TILE),)
__all__ = launch.public_names(globals())
