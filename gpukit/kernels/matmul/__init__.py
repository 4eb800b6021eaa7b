"""Matrix product: out = a b, from one thread for one element to tensor cores, in this order.

`naive` (one thread for one element), `tiled` (tiles in shared memory), `registers` (tiles in
registers), `wide` (four elements at once), `tensor_tf32` and `bf16` (tensor cores); `batched`
multiplies many pairs in one launch; `nt` and `tn` multiply by a transposed matrix. `matmul` takes
all variants, in `VARIANTS`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit import launch
from gpukit.kernels.matmul import bf16, naive, nt, registers, tensor_tf32, tiled, tn, wide
from gpukit.kernels.matmul.batched import batched_matmul
from gpukit.kernels.matmul.naive import matmul_reference

VARIANTS = (
    *naive.VARIANTS,
    *tiled.VARIANTS,
    *registers.VARIANTS,
    *wide.VARIANTS,
    *tensor_tf32.VARIANTS,
    *bf16.MATMUL_VARIANTS,
)


# By transpose_a and transpose_b; a variant that is not in all three takes no transposed matrix.
_FORMS = {(False, False): VARIANTS, (False, True): nt.VARIANTS, (True, False): tn.VARIANTS}


def matmul(
    a: Any, b: Any, *, transpose_a: bool = False, transpose_b: bool = False, variant: str = "tiled",
    out: Any = None, stream: Any = 0,
) -> Any:  # fmt: skip
    """Return the product of two float32 or two float64 matrices.

    (M, K) and (K, N) give (M, N): `[[1. 2.]] @ [[3.] [4.]]` is `[[11.]]`. A sum over K = 0 is zero.
    With transpose_a, a is (K, M), with transpose_b, b is (N, K), not both; they are turned while
    they are loaded, by the variants "tiled" and "vectorised".

    Variants up to register_tile_2d take float64. vectorised, double_buffered and tensor_tf32 move
    rows as float4s: rows of all three matrices in multiples of 4, in C order from a multiple of 16
    bytes on; for others they hand over to register_tile_2d (transposed, to tiled), which gives the
    bits of all variants but those on tensor cores: tensor_tf32 rounds a and b to 10 bits of
    fraction, those of bf16 to 7; they take any sizes, and uint16 too, the bits of bfloat16. Raises
    LaunchError (a ValueError) for more than 65535 blocks of rows (uncoalesced: of columns) and for
    a GPU without the tensor cores that a variant wants.
    """
    if transpose_a and transpose_b:
        raise ValueError(
            "matmul: expected transpose_a or transpose_b, got both. Multiply b by a: the result is "
            "the transpose."
        )
    variants = _FORMS[bool(transpose_a), bool(transpose_b)]
    chosen = launch.pick("matmul", variants, variant)
    launch.check_gpu("matmul", chosen)
    a, b = launch.as_array(a), launch.as_array(b)
    _check_operands(chosen, a, b, transpose_a, transpose_b)
    (k, m) = a.shape if transpose_a else a.shape[::-1]
    n = b.shape[0 if transpose_b else 1]
    takes_bf16 = np.uint16 in chosen.dtypes
    dtype = np.float32 if takes_bf16 else a.dtype
    result = launch.Result("matmul", out, (m, n), dtype, a, b, stream=stream)
    launch.check_no_overlap("matmul", out, a=a, b=b)
    if k == 0:  # a product of zeros has the same shape and something to multiply
        a = np.zeros((1, m) if transpose_a else (m, 1), dtype)
        b = np.zeros((n, 1) if transpose_b else (1, n), dtype)
    if m and n:
        if takes_bf16:
            inputs = bf16.as_bf16("a", a, stream), bf16.as_bf16("b", b, stream)
        else:
            inputs = launch.to_device(a, stream), launch.to_device(b, stream)
            if chosen.instead and not wide.fits(*inputs, result.array):
                chosen = launch.pick("matmul", variants, chosen.instead)
        more = (launch.empty((0,), dtype),) if transpose_b else ()  # no bias
        grid = chosen.grid("matmul", n, m)
        chosen.kernel[grid, chosen.block, stream](*inputs, *more, result.array)
    return result.get()


def _check_operands(
    variant: launch.Variant, a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False
) -> None:
    """Raise unless a and b are matrices that can be multiplied, of a dtype the variant takes."""
    more: tuple[type[np.generic], ...] = tuple(d for d in variant.dtypes if d not in launch.FLOATS)
    for name, array in (("a", a), ("b", b)):
        launch.check_array("matmul", name, array, ndim=2, dtypes=launch.FLOATS + more)
    launch.check_same_dtype("matmul", a=a, b=b)
    launch.check_variant_dtype("matmul", variant, a)
    at_a, at_b = 0 if transpose_a else 1, 1 if transpose_b else 0
    if a.shape[at_a] != b.shape[at_b]:
        turned = a.shape[at_a] == b.shape[1 - at_b] and not transpose_a
        advice = f"Did you mean transpose_b={not transpose_b}?"
        raise ValueError(
            f"matmul: expected a.shape[{at_a}] == b.shape[{at_b}], "
            f"got {tuple(a.shape)} and {tuple(b.shape)}. "
            + (advice if turned else "The inner sizes must agree.")
        )


__all__ = ["VARIANTS", "batched_matmul", "matmul", "matmul_reference"]
