"""A loop written out: `unrolled(3, step, a, b)` does step(0, a, b), step(1, a, b), step(2, a, b).

A GPU's compiler writes short loops out by itself. A long one, such as 16 steps through a tile in
each of which a thread adds 64 products, it leaves a loop, and every step pays for a counter, a jump
and addresses worked out anew: a fifth of its instructions. C++ writes `#pragma unroll`; in Numba
only calls that stand there are sure to be written out, and this puts them there (`unroll_gpu`).

    unrolled(count, step, *arguments)

`count` is a constant, a number or a module's name of one; `step` a device function that takes the
number of the step first. On a CPU it is the loop that it says, which every check sees as one.
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
