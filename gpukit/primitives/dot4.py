"""Dot products of four int8 each, added to an int32: one instruction (dp4a) on a GPU.

    c = dot4(a, b, c)     c + a0 b0 + a1 b1 + a2 b2 + a3 b3

a and b are int32 words of four int8 each, the first in the lowest 8 bits: what a little-endian
machine reads from int8 rows viewed as int32, `x.view(np.int32)`. c is an int32. Products and sums
are exact; the sum wraps around like all int32 arithmetic, for which it takes 131,072 products of
the largest magnitude.

On a GPU it is the PTX instruction dp4a (`dot4_gpu`), from compute capability 6.1 on. Numba has no
name for it. Elsewhere the bytes are extracted by shifts. Source: NVIDIA, "Parallel Thread Execution
ISA", dp4a.
"""

from __future__ import annotations

import numpy as np

from gpukit import cuda
from gpukit.primitives import of_this_target

__all__ = ["PACKED", "dot4"]

PACKED = 4  # int8 per word


@cuda.jit(device=True)
def dot4(a, b, c):
    """Return c plus the dot product of the four int8 in a and the four in b."""
    acc = np.int32(c)
    for k in range(4):
        shift = np.int32(24 - 8 * k)  # up to the sign bit and back down: the sign is extended
        x = np.int32(np.int32(a << shift) >> np.int32(24))
        y = np.int32(np.int32(b << shift) >> np.int32(24))
        acc = np.int32(acc + np.int32(x * y))
    return acc


(dot4,) = of_this_target("dot4", dot4)
