"""Optimizers as fused kernels, each updating parameters and state in place.

`fused` applies an update rule in one launch that reads and writes every array once; `gradient`
(SGD, momentum, Nesterov), `adaptive` (Adagrad, RMSprop, Adadelta) and `adam` (Adam, AdamW) have the
rules; `clip` clips the norm of all gradients, `loss_scale` divides those of a scaled loss.

Many parameters of different sizes take one launch if they are views of one flat array, as made by
`flat_views`: an optimizer does not care which element belongs to which layer. A table of pointers
would avoid that array, as in PyTorch's "foreach" kernels, but then a kernel dereferences addresses
that no checker knows, and every launch copies a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels.optimizers import adam, adaptive, clip, gradient, loss_scale
from gpukit.kernels.optimizers.adam import adam_step, adamw_step
from gpukit.kernels.optimizers.adaptive import adadelta_step, adagrad_step, rmsprop_step
from gpukit.kernels.optimizers.clip import clip_grad_norm
from gpukit.kernels.optimizers.gradient import momentum_step, nesterov_step, sgd_step
from gpukit.kernels.optimizers.loss_scale import unscale
from gpukit.primitives.vectorized import WIDTH

VARIANTS = (
    *gradient.VARIANTS,
    *adaptive.VARIANTS,
    *adam.VARIANTS,
    *clip.VARIANTS,
    *loss_scale.VARIANTS,
)


def flat_views(
    shapes: Iterable[tuple[int, ...]], dtype: npt.DTypeLike = np.float32
) -> tuple[Any, list[Any]]:
    """Return one flat device array of zeros, and consecutive views of it in these shapes.

    Made for parameters, for their gradients and for each state of an optimizer, these arrays match
    element for element, and one launch updates all layers. Each view begins at a multiple of four
    elements, so that kernels can use 16-byte accesses; the elements in between stay zero.
    """
    wanted = [tuple(shape) for shape in shapes]
    places, total = flat_places(wanted)
    flat = cuda.to_device(np.zeros(total, dtype))
    views = [flat[place].reshape(shape) for place, shape in zip(places, wanted, strict=True)]
    return flat, views


def flat_places(shapes: Iterable[tuple[int, ...]]) -> tuple[list[slice], int]:
    """Return where `flat_views` puts arrays of these shapes, and the length of all.

    >>> flat_places([(2, 3), (5,)])
    ([slice(0, 6, None), slice(8, 13, None)], 16)
    """
    places, total = [], 0
    for size in map(math.prod, shapes):
        places.append(slice(total, total + size))
        total += launch.ceil_div(size, WIDTH) * WIDTH
    return places, total


__all__ = [
    "VARIANTS",
    "adadelta_step",
    "adagrad_step",
    "adam_step",
    "adamw_step",
    "clip_grad_norm",
    "flat_views",
    "momentum_step",
    "nesterov_step",
    "rmsprop_step",
    "sgd_step",
    "unscale",
]
