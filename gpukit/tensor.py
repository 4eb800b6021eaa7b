"""Tensor cores: a warp multiplies two small matrices and adds a third, in one instruction.

The 32 threads of a warp hold the matrices together, a few elements each, in an order that the
hardware has laid down. With group = lane // 4 and place = lane % 4 a thread has, of

    a (16, 8)    a0 = a[group, place]         a1 = a[group + 8, place]
                 a2 = a[group, place + 4]     a3 = a[group + 8, place + 4]
    b (8, 8)     b0 = b[place, group]         b1 = b[place + 4, group]
    c (16, 8)    c0 = c[group, 2 place]       c1 = c[group, 2 place + 1]
                 c2 = c[group + 8, 2 place]   c3 = c[group + 8, 2 place + 1]

    x = to_tf32(x)                                                round a float32 to TF32
    c0, c1, c2, c3 = mma_tf32(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3)     c + a b

TF32 has the range of float32 and 10 of its 23 bits of fraction. Elements of a and b must be rounded
first: what a tensor core makes of the other bits is nobody's promise. Sums are float32. All 32
threads of a warp must call `mma_tf32` together.

On a GPU these are instructions (`tensor_gpu`), from compute capability 8.0 on. Without one the warp
passes its elements round by shuffles and each thread adds up its own four: the same numbers but for
the order of additions. Source: NVIDIA, "Parallel Thread Execution ISA", mma.m16n8k8.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpukit import cuda, errors, target

__all__ = ["LEAST", "check_device", "mma_tf32", "tf32", "to_tf32"]

LEAST = (8, 0)  # compute capability that has them
WARP = 0xFFFFFFFF

if target.active().name == "cuda":
    from gpukit.tensor_gpu import mma_tf32, to_tf32
else:
    from gpukit.compiler.runtime.tensor import rounded_to_tf32

    @cuda.jit(device=True)
    def to_tf32(x):
        """Return a float32 rounded to TF32, to the nearest, halves away from zero."""
        return rounded_to_tf32(x)

    @cuda.jit(device=True)
    def mma_tf32(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3):
        """Return a thread's four elements of c + a b."""
        group, place = cuda.laneid // 4, cuda.laneid % 4
        for k in range(4):
            # Who has column k of the thread's rows of a, and row k of its columns of b.
            row, left, right = group * 4 + k, place * 8 + k, place * 8 + 4 + k
            top, bottom = cuda.shfl_sync(WARP, a0, row), cuda.shfl_sync(WARP, a1, row)
            first, second = cuda.shfl_sync(WARP, b0, left), cuda.shfl_sync(WARP, b0, right)
            c0, c1 = c0 + top * first, c1 + top * second
            c2, c3 = c2 + bottom * first, c3 + bottom * second
            top, bottom = cuda.shfl_sync(WARP, a2, row), cuda.shfl_sync(WARP, a3, row)
            first, second = cuda.shfl_sync(WARP, b1, left), cuda.shfl_sync(WARP, b1, right)
            c0, c1 = c0 + top * first, c1 + top * second
            c2, c3 = c2 + bottom * first, c3 + bottom * second
        return c0, c1, c2, c3

    # What GPU compilers get in their place (`gpukit.gpu_code`).
    for _function in (to_tf32, mma_tf32):
        _function.on_gpu = (str(Path(__file__).with_name("tensor_gpu.py")), _function.__name__)


def check_device(function: str, rung: str) -> None:
    """Raise LaunchError if the GPU in use has no tensor cores that take TF32."""
    if target.active().name != "cuda":
        return
    found = tuple(cuda.get_current_device().compute_capability)
    if found < LEAST:
        raise errors.LaunchError(
            f"{function}: expected a GPU of compute capability {LEAST[0]}.{LEAST[1]} or more for "
            f"rung {rung!r}, got {found[0]}.{found[1]}. Pick a rung without tensor cores."
        )


def tf32(x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return a float32 array rounded to TF32 on the host, as `to_tf32` does; NaN stays NaN."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    rounded = ((bits + np.uint32(1 << 12)) & np.uint32(0xFFFFE000)).view(np.float32)
    return np.where(np.isnan(x), x, rounded)
