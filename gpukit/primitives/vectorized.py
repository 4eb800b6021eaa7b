"""16-byte vectorized access (float4): `load4` and `store4`, four consecutive float32 at once.

A thread that moves four elements issues one memory instruction instead of four, so a warp has more
bytes in flight with fewer instructions. C++ writes reinterpret_cast<float4*>(x)[k]; Numba has no
type that it would load like that, so on a GPU these are intrinsics (`vectorized_gpu`). Without one
they are views like that cast: an access of 16 bytes, which checked mode counts as one.

    a, b, c, d = load4(x, k)        the elements 4 k to 4 k + 3 of x
    store4(out, k, a, b, c, d)      to the same indices of out
    map4(function, given, k, x, out)       the same elements of out from those of x, and one of the
    zip4(function, given, k, x, y, out)    remaining elements after the last four; or from x and y

Both take a contiguous float32 vector whose first element is at a multiple of 16 bytes, as in new
arrays but not x[1:]: a GPU faults on a misaligned address. `is_aligned` tests it on the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit import cuda, launch, target
from gpukit.compiler.runtime.float4 import as_float4, joined, parted
from gpukit.primitives import of_this_target

__all__ = ["WIDTH", "fits", "is_aligned", "load4", "map4", "pays", "store4", "zip4"]

WIDTH = 4  # elements per access


def is_aligned(array: Any) -> bool:
    """Return whether an array on the host or the device begins at a multiple of 16 bytes."""
    on_device = launch.is_device_array(array)
    known = array.__cuda_array_interface__ if on_device else array.__array_interface__
    return bool(known["data"][0] % 16 == 0)


def fits(*arrays: Any) -> bool:
    """Return whether arrays allow 16-byte access: contiguous float32, at multiples of 16 bytes."""
    return all(
        array.dtype == np.float32 and launch.is_contiguous(array) and is_aligned(array)
        for array in arrays
    )


def pays(*arrays: Any) -> bool:
    """Return whether arrays allow 16-byte access, and a kernel gains by it.

    On a CPU it does not: its compiler vectorizes the accesses of neighbouring threads by itself.
    """
    return target.active().name == "cuda" and fits(*arrays)


@cuda.jit(device=True)
def load4(array, k):
    """Return array[4 k] to array[4 k + 3], loaded at once."""
    whole = as_float4(array)
    return parted(whole[k])


@cuda.jit(device=True)
def store4(array, k, a, b, c, d):
    """Store a, b, c, d to array[4 k] to array[4 k + 3] at once."""
    whole = as_float4(array)
    whole[k] = joined(a, b, c, d)


load4, store4 = of_this_target("vectorized", load4, store4)


@cuda.jit(device=True)
def map4(function, given, k, x, out):
    """Set elements 4 k to 4 k + 3 of out to function(value of x, given); the remainder too.

    The threads k = 0, 1 and 2 set the up to three elements after the last group of four.
    """
    fours = out.shape[0] // WIDTH
    if k < fours:
        a, b, c, d = load4(x, k)
        a, b, c, d = function(a, given), function(b, given), function(c, given), function(d, given)
        store4(out, k, a, b, c, d)
    i = fours * WIDTH + k
    if i < out.shape[0]:
        out[i] = function(x[i], given)


@cuda.jit(device=True)
def zip4(function, given, k, x, y, out):
    """Set the same elements of out to function(value of x, value of y, given)."""
    fours = out.shape[0] // WIDTH
    if k < fours:
        a, b, c, d = load4(x, k)
        p, q, r, s = load4(y, k)
        a, b = function(a, p, given), function(b, q, given)
        c, d = function(c, r, given), function(d, s, given)
        store4(out, k, a, b, c, d)
    i = fours * WIDTH + k
    if i < out.shape[0]:
        out[i] = function(x[i], y[i], given)
