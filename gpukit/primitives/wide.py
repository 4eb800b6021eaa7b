"""Sixteen bytes at once: `load4` and `store4`, four neighbouring float32 in one access.

A thread that moves four elements asks memory once instead of four times, so a warp has more bytes
on the way with fewer instructions. C++ writes reinterpret_cast<float4*>(x)[k]; Numba has no such
type that it would load at once, so on a GPU these are intrinsics (`wide_gpu`). Without one they are
the view that the cast is: an access of 16 bytes, which checked mode sees and counts as one.

    a, b, c, d = load4(x, k)        the elements 4 k to 4 k + 3 of x
    store4(out, k, a, b, c, d)      to the same places of out

Both take a contiguous float32 vector whose first element lies at a multiple of 16 bytes, as new
arrays do and x[1:] does not: a GPU stops at a misaligned address. `is_aligned` says it on the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit import cuda, launch, target
from gpukit.compiler.runtime.quads import joined, parted, quads
from gpukit.primitives import of_this_target

__all__ = ["WIDTH", "is_aligned", "load4", "pays", "store4"]

WIDTH = 4  # elements of an access


def is_aligned(array: Any) -> bool:
    """Return whether an array on the host or the device begins at a multiple of 16 bytes."""
    on_device = launch.is_device_array(array)
    known = array.__cuda_array_interface__ if on_device else array.__array_interface__
    return bool(known["data"][0] % 16 == 0)


def pays(*vectors: Any) -> bool:
    """Return whether four elements of all these vectors can be moved at once, and gain by it.

    On a CPU they do not: its compiler joins the accesses of neighbouring threads by itself.
    """
    return target.active().name == "cuda" and all(
        x.dtype == np.float32 and launch.is_contiguous(x) and is_aligned(x) for x in vectors
    )


@cuda.jit(device=True)
def load4(array, k):
    """Return array[4 k] to array[4 k + 3], loaded at once."""
    whole = quads(array)
    return parted(whole[k])


@cuda.jit(device=True)
def store4(array, k, a, b, c, d):
    """Store a, b, c, d to array[4 k] to array[4 k + 3] at once."""
    whole = quads(array)
    whole[k] = joined(a, b, c, d)


load4, store4 = of_this_target("wide", load4, store4)
