"""Matrix product: out = a b, from one element per thread to tensor cores, in this order.

`naive` (one element per thread), `tiled` (tiles in shared memory), `registers` (tiles in
registers), `vectorized` (16-byte accesses), `tensor_tf32` and `bf16` (tensor cores); `batched`
multiplies many pairs of matrices in one launch; `nt` and `tn` multiply by a transposed matrix.
`matmul` takes all variants, in `VARIANTS`; `mixed` has `mixed_matmul`, for 16-bit factors.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gpukit import launch, signature
from gpukit.kernels.matmul import bf16, naive, nt, registers, tensor_tf32, tiled, tn, vectorized
from gpukit.kernels.matmul.batched import batched_matmul
from gpukit.kernels.matmul.mixed import mixed_matmul
from gpukit.kernels.matmul.naive import matmul_reference

VARIANTS = (
    *naive.VARIANTS,
    *tiled.VARIANTS,
    *registers.VARIANTS,
    *vectorized.VARIANTS,
    *tensor_tf32.VARIANTS,
    *bf16.MATMUL_VARIANTS,
)


# By transpose_a and transpose_b; a variant that is not in all three takes no transposed matrix.
_FORMS = {(False, False): VARIANTS, (False, True): nt.VARIANTS, (True, False): tn.VARIANTS}
_TURNS = tuple(("b", f"Did you mean transpose_b={turned}?") for turned in (True, False))
_takes = functools.partial(signature.Signature, inner="k")
_SIGNATURES = {
    (False, False): _takes("a: m k, b: k n -> m n", turn=_TURNS[0]),
    (False, True): _takes("a: m k, b: n k -> m n", turn=_TURNS[1]),
    (True, False): _takes("a: k m, b: k n -> m n"),
}
_BF16 = _takes(
    "a: m k, b: k n -> m n", turn=_TURNS[0], dtypes=(*launch.FLOATS, np.uint16), dtype=np.float32
)


@signature.takes_old_names
def matmul(
    a: Any,
    b: Any,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    variant: str = "tiled",
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the product of two float32 or two float64 matrices.

    (M, K) and (K, N) give (M, N): `[[1. 2.]] @ [[3.] [4.]]` is `[[11.]]`. A sum over K = 0 is zero.
    With transpose_a, a is (K, M); with transpose_b, b is (N, K); not both. The variants "tiled"
    and "vectorized" transpose while they load.

    Variants up to register_tile_2d take float64. vectorized, double_buffered and tensor_tf32 use
    16-byte accesses: row lengths of all three matrices must be multiples of 4, in C order, aligned
    to 16 bytes. Otherwise they fall back to register_tile_2d (transposed: to tiled), whose results
    equal those of all variants bit for bit, except on tensor cores: tensor_tf32 rounds a and b to
    10 bits of fraction, those of bf16 to 7; the latter take any sizes, and uint16 too, the bits of
    bfloat16. Raises LaunchError (a ValueError) for more than 65535 blocks of rows (uncoalesced: of
    columns) and for a GPU without the tensor cores that a variant needs.
    """
    if transpose_a and transpose_b:
        raise ValueError(
            "matmul: expected transpose_a or transpose_b, got both. Multiply b by a: the result is "
            "the transpose."
        )
    form = bool(transpose_a), bool(transpose_b)
    variants = _FORMS[form]
    chosen = launch.pick("matmul", variants, variant)
    launch.check_gpu("matmul", chosen)
    takes_bf16 = np.uint16 in chosen.dtypes
    takes = _BF16 if takes_bf16 else _SIGNATURES[form]
    (a, b), result = takes.bind("matmul", (a, b), out, stream)
    launch.check_variant_dtype("matmul", chosen, a)
    (m, n), dtype = result.shape, result.dtype
    if a.shape[0 if transpose_a else 1] == 0:
        # an inner size of 1 filled with zeros gives the same result
        a = launch.zeros((1, m) if transpose_a else (m, 1), dtype, stream)
        b = launch.zeros((n, 1) if transpose_b else (1, n), dtype, stream)
    if m and n:
        inputs: tuple[Any, ...] = a, b
        if takes_bf16:
            given = (a, b) if a.shape[1] == 1 else result.inputs.values()
            inputs = tuple(bf16.as_bf16(n, x, stream) for n, x in zip("ab", given, strict=True))
        elif chosen.instead and not vectorized.fits(a, b, result.array):
            chosen = launch.pick("matmul", variants, chosen.instead)
        more = (launch.empty((0,), dtype),) if transpose_b else ()  # no bias
        grid = chosen.grid("matmul", n, m)
        chosen.kernel[grid, chosen.block, stream](*inputs, *more, result.array)
    return result.get()


__all__ = ["VARIANTS", "batched_matmul", "matmul", "matmul_reference", "mixed_matmul"]
