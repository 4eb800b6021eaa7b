"""Masks of pruned weights: what is masked is zero, and stays zero while the others train.

    magnitude pruning   the fraction of a matrix with the smallest magnitudes becomes zero
    2:4                 of every four neighbours in a row, the two of smallest magnitude

Which weights they are is decided once, on the host; the kernel applies the mask after every update
of the optimizer, whose momentum or weight decay would move masked weights again.

Legend
    n       elements of the weights, all axes together           1000
    mask    1 where a weight is kept, 0 where it is pruned
    x       the weights, updated in place
    BLOCK   threads per block                                    256
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.launch import Cost, Variant

BLOCK = 256
GROUP = 4  # neighbours of 2:4 sparsity
KEPT = 2  # of each group

Mask = npt.NDArray[np.uint8]


# --- Reference -------------------------------------------------------------------------------


def apply_mask_reference(x: npt.ArrayLike, mask: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return x where the mask is not 0, else 0."""
    return np.where(np.asarray(mask) != 0, np.asarray(x, np.float64), 0)


# --- Kernel ----------------------------------------------------------------------------------


@cuda.jit
def apply_mask_kernel(mask, x):
    """Set masked elements to 0 in place, one element per thread.

    New here   a choice instead of a product, which would keep the sign of -0 and make NaN of an
               infinite weight
    Shapes     mask (n,), x (n,); any n >= 1
    Dtypes     uint8 mask, float32 or float64 x
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Cost       bytes: (2 itemsize + 1) n; flops: 0; barriers: 0
    Errors     the host function rejects unequal shapes; the kernel assumes they match
    Source     Han, Pool, Tran and Dally, "Learning both Weights and Connections for Efficient
               Neural Networks", 2015
    """
    i = cuda.grid(1)
    if i < x.shape[0]:
        value = x[i]
        x[i] = value if mask[i] != 0 else x.dtype.type(0)


def apply_mask_cost(n: int, itemsize: int = 4) -> Cost:
    """One load of each array and one store."""
    return Cost(bytes=(2 * itemsize + 1) * n, flops=0)


# --- Host functions --------------------------------------------------------------------------


def magnitude_mask(weight: npt.ArrayLike, fraction: float) -> Mask:
    """Return the mask that prunes the fraction of smallest magnitudes; weight is on the host.

    Exactly round(fraction * size) weights are pruned; of equal ones those that come first.
    """
    if not 0 <= fraction <= 1:
        raise ValueError(
            f"magnitude_mask: expected 0 <= fraction <= 1, got {fraction}. Pass the fraction of "
            "weights that become zero."
        )
    weight = np.asarray(weight)
    mask = np.ones(weight.size, np.uint8)
    order = np.argsort(np.abs(weight).reshape(-1), kind="stable")
    mask[order[: round(fraction * weight.size)]] = 0
    return mask.reshape(weight.shape)


def mask_2_4(weight: npt.ArrayLike) -> Mask:
    """Return the mask that keeps the two largest magnitudes of every four neighbours in a row.

    Rows are those of the first axis, with all other axes as one; weight is on the host. Of equal
    ones those that come first are kept.
    """
    weight = np.asarray(weight)
    rows = weight.reshape(len(weight), -1)
    if rows.shape[1] % GROUP:
        raise ValueError(
            f"mask_2_4: expected rows of a multiple of {GROUP} weights, got shape {weight.shape}. "
            "Pad them with zeros, or leave this matrix as it is."
        )
    order = np.argsort(-np.abs(rows).reshape(-1, GROUP), axis=1, kind="stable")
    mask = np.zeros(order.shape, np.uint8)
    np.put_along_axis(mask, order[:, :KEPT], 1, axis=1)
    return mask.reshape(weight.shape)


@signature.takes("x!: ..., mask: ...", mask=(np.uint8,), layout="C")
def apply_mask(x: Any, mask: Any, *, stream: Any = 0) -> None:
    """Set the elements of x whose mask is 0 to 0, in place.

    Any shape, float32 or float64 for x and uint8 for the mask.
    """
    if n := x.size:
        (variant,) = VARIANTS
        kernel = variant.kernel[variant.grid("apply_mask", n), variant.block, stream]
        kernel(mask.reshape(n), x.reshape(n))


VARIANTS = (Variant("apply_mask", apply_mask_kernel, apply_mask_cost, apply_mask_reference, BLOCK),)
__all__ = launch.public_names(globals())
