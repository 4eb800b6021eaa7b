"""Loop unrolling: `unrolled(3, step, a, b)` does step(0, a, b), step(1, a, b), step(2, a, b).

A GPU's compiler unrolls short loops by itself, but not a long one, such as 16 steps through a tile
in each of which a thread adds 64 products; every step then pays for a counter, a jump and
recomputed addresses: a fifth of its instructions. C++ has `#pragma unroll`; in Numba only
separate calls are sure to be unrolled, and this generates them (`unroll_gpu`).

    unrolled(count, step, *arguments)

`count` is a constant, a literal or a global name of one; `step` a device function whose first
parameter is the number of the step. On a CPU it is an ordinary loop, which every check sees as one.
"""

from __future__ import annotations

from gpukit import cuda
from gpukit.primitives import of_this_target

__all__ = ["unrolled"]


@cuda.jit(device=True)
def unrolled(count, step, *arguments):
    """Call step(k, *arguments) for k = 0 to count - 1."""
    for k in range(count):
        step(k, *arguments)


(unrolled,) = of_this_target("unroll", unrolled)
