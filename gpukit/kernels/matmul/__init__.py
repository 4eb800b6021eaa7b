"""Matrix product: out = a b, from one thread for one element to tensor cores, in this order.

`naive` (one thread for one element), `tiled` (tiles in shared memory), `registers` (tiles in
registers), `wide` (four elements at once), `tensor_tf32` and `bf16` (tensor cores); `batched`
multiplies many pairs in one launch. `matmul` takes all rungs, in `LADDER`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit import launch
from gpukit.kernels.matmul import bf16, naive, registers, tensor_tf32, tiled, wide
from gpukit.kernels.matmul.batched import batched_matmul
from gpukit.kernels.matmul.naive import matmul_reference

LADDER = (
    *naive.LADDER,
    *tiled.LADDER,
    *registers.LADDER,
    *wide.LADDER,
    *tensor_tf32.LADDER,
    *bf16.MATMUL_LADDER,
)


def matmul(a: Any, b: Any, *, rung: str = "tiled", out: Any = None, stream: Any = 0) -> Any:
    """Return the product of two float32 or two float64 matrices.

    (M, K) and (K, N) give (M, N): `[[1. 2.]] @ [[3.] [4.]]` is `[[11.]]`. A sum over K = 0 is zero.
    Rungs up to register_tile_2d take float64. vectorised, double_buffered and tensor_tf32 move rows
    in quads: K and N in multiples of 4, in C order from a multiple of 16 bytes on; for others they
    hand over to register_tile_2d, which gives the bits of all rungs but those on tensor cores:
    tensor_tf32 rounds a and b to 10 bits of fraction, those of bf16 to 7; they take any sizes, and
    uint16 too, the bits of bfloat16. Raises LaunchError (a ValueError) for more than 65535 blocks
    of rows (uncoalesced: of columns) and for a GPU without the tensor cores that a rung wants.
    """
    chosen = launch.pick("matmul", LADDER, rung)
    launch.check_gpu("matmul", chosen)
    a, b = launch.adopt(a), launch.adopt(b)
    _check_operands(chosen, a, b)
    m, k, n = a.shape[0], a.shape[1], b.shape[1]
    takes_bf16 = np.uint16 in chosen.dtypes
    dtype = np.float32 if takes_bf16 else a.dtype
    result = launch.Result("matmul", out, (m, n), dtype, a, b, stream=stream)
    launch.check_no_overlap("matmul", out, a=a, b=b)
    if k == 0:  # a product of zeros has the same shape and something to multiply
        a, b = np.zeros((m, 1), dtype), np.zeros((1, n), dtype)
    if m and n:
        if takes_bf16:
            inputs = bf16.as_bf16("a", a, stream), bf16.as_bf16("b", b, stream)
        else:
            inputs = launch.to_device(a, stream), launch.to_device(b, stream)
            if chosen.instead and not wide.fits(*inputs, result.array):
                chosen = launch.pick("matmul", LADDER, chosen.instead)
        chosen.kernel[chosen.grid("matmul", n, m), chosen.block, stream](*inputs, result.array)
    return result.get()


def _check_operands(rung: launch.Rung, a: Any, b: Any) -> None:
    """Raise unless a and b are matrices that can be multiplied, of a dtype that the rung takes."""
    more: tuple[type[np.generic], ...] = tuple(d for d in rung.dtypes if d not in launch.FLOATS)
    for name, array in (("a", a), ("b", b)):
        launch.check_array("matmul", name, array, ndim=2, dtypes=launch.FLOATS + more)
    launch.check_same_dtype("matmul", a=a, b=b)
    launch.check_rung_dtype("matmul", rung, a)
    if a.shape[1] != b.shape[0]:
        advice = "Did you mean b.T?" if a.shape[1] == b.shape[1] else "The inner sizes must agree."
        raise ValueError(
            "matmul: expected a.shape[1] == b.shape[0], "
            f"got {tuple(a.shape)} and {tuple(b.shape)}. {advice}"
        )


__all__ = ["LADDER", "batched_matmul", "matmul", "matmul_reference"]
