"""Matrix products in mixed precision: 16-bit factors, products and sums in float32.

The factors are float16 or bfloat16, half the bytes of float32 to load. A product of two float16 is
exact in float32, and so is one of two bfloat16, so all that is lost is the rounding of the factors:
summed in float16, even a mean of 4096 ones is wrong, as 2048 + 1 is 2048 there. The three forms are
those of a dense layer: forward a b^T, the gradient of x a b, that of the weights a^T b.

Tiles hold float32: each element is widened once, when it is loaded, and multiplied TILE times. On a
GPU without tensor cores, and on a CPU, the arithmetic is that of `tiled`; only loads are cheaper.

Legend
    M, N, K     rows of out, columns of out, the summed axis       31, 65, 33
    bias        (N,), added to every row of out; (0,) for no bias
    row, col    the element of out that this thread computes       [0, M), [0, N)
    t           start of the current tiles along the summed axis   0, 16, 32, ...
    k, kt       an index on that axis, and the index within a tile [0, K), [0, TILE)
    m, n        the column of a, the row of b, that this thread loads
    tx, ty      the thread's column and row in its block           [0, TILE)
    TILE        side of the block and of both tiles                16
    PADDED      width of a tile with a column of padding           17

All kernels
    Dtypes     float16 or uint16, the bits of bfloat16, the same for a and b; float32 bias, tiles,
               accumulator and out
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, TILE)); x = col, y = row
    Errors     the host function rejects sizes that do not fit; the kernel assumes them, and a block
               as given under Launch
    Source     Micikevicius and others, "Mixed Precision Training", ICLR 2018
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels.convert import SMALL
from gpukit.kernels.matmul.naive import TILE
from gpukit.launch import Cost, Variant, ceil_div
from gpukit.primitives import tensor
from gpukit.primitives.tensor import float_of

PADDED = TILE + 1  # a named constant: the shape of a shared array cannot be an expression


# --- Reference -------------------------------------------------------------------------------


def mixed_matmul_reference(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    bias: npt.ArrayLike | None = None,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> npt.NDArray[np.float64]:
    """Return the product of the numbers that a and b hold, plus the bias, in float64."""
    given = (np.asarray(a), np.asarray(b))
    left, right = (
        (tensor.from_bf16(x) if x.dtype == np.uint16 else x).astype(np.float64) for x in given
    )
    made: Any = (left.T if transpose_a else left) @ (right.T if transpose_b else right)
    return np.asarray(made if bias is None else made + np.asarray(bias))


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def matmul_mixed_kernel(a, b, out):
    """Multiply two matrices of 16-bit floats, one block per TILE x TILE tile of out.

    New here   matmul_tiled_kernel with factors in another dtype than the sums: a tile is widened
               as it is loaded
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Shared     2 * TILE * TILE * 4 bytes, static
    Cost       bytes: 2 M K ceil_div(N, TILE) + 2 K N ceil_div(M, TILE) + 4 M N;
               flops: 2 M' N' K', each size rounded up to a multiple of TILE;
               barriers: 2 ceil_div(K, TILE)
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    acc = np.float32(0)
    for t in range(0, a.shape[1], TILE):
        left, k = t + tx, t + ty
        a_tile[ty, tx] = (
            float_of(a[row, left]) if row < a.shape[0] and left < a.shape[1] else np.float32(0)
        )
        b_tile[ty, tx] = (
            float_of(b[k, col]) if k < b.shape[0] and col < b.shape[1] else np.float32(0)
        )
        cuda.syncthreads()  # both tiles are written before any thread reads them
        for kt in range(TILE):
            acc += a_tile[ty, kt] * b_tile[kt, tx]
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = acc


def matmul_mixed_cost(m: int, n: int, k: int) -> Cost:
    """Each block column loads all of a, each block row all of b; padding is multiplied too."""
    across, down, steps = (ceil_div(size, TILE) for size in (n, m, k))
    return Cost(
        bytes=2 * (m * k * across + k * n * down) + 4 * m * n,
        flops=2 * across * down * steps * TILE**3,
    )


@cuda.jit
def matmul_nt_mixed_kernel(a, b, bias, out):
    """Multiply a by the transpose of b, both of 16-bit floats, and add a bias.

    New here   matmul_nt_tiled_kernel, widened in the same way: the bias and the sums of a layer
               stay in float32
    Shapes     a (M, K), b (N, K), bias (N,) or (0,), out (M, N); any sizes >= 1, C order
    Shared     TILE * (TILE + PADDED) * 4 bytes, static
    Cost       bytes: 2 M K ceil_div(N, TILE) + 2 N K ceil_div(M, TILE) + 8 M N;
               flops: 2 M' N' K' + M N, each primed size rounded up to a multiple of TILE;
               barriers: 2 ceil_div(K, TILE)
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    n = cuda.blockIdx.x * TILE + ty
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, PADDED), np.float32)
    acc = np.float32(0)
    for t in range(0, a.shape[1], TILE):
        k = t + tx
        a_tile[ty, tx] = (
            float_of(a[row, k]) if row < a.shape[0] and k < a.shape[1] else np.float32(0)
        )
        b_tile[ty, tx] = float_of(b[n, k]) if n < b.shape[0] and k < b.shape[1] else np.float32(0)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        for kt in range(TILE):
            acc += a_tile[ty, kt] * b_tile[tx, kt]
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    if row < out.shape[0] and col < out.shape[1]:
        if bias.shape[0] > 0:
            acc += bias[col]
        out[row, col] = acc


def matmul_nt_mixed_cost(m: int, n: int, k: int, *, bias: bool = True) -> Cost:
    """Like matmul_mixed_cost, and a load and an addition of the bias per element of out."""
    product, each = matmul_mixed_cost(m, n, k), m * n if bias else 0
    return Cost(product.bytes + 4 * each, product.flops + each)


@cuda.jit
def matmul_tn_mixed_kernel(a, b, out):
    """Multiply the transpose of a by b, both of 16-bit floats.

    New here   matmul_tn_tiled_kernel, widened in the same way. The gradient of the weights leaves
               it in float32: it is added to weights in float32, which 16 bits would round away
    Shapes     a (K, M), b (K, N), out (M, N); any sizes >= 1, C order
    Shared     2 * TILE * TILE * 4 bytes, static
    Cost       as matmul_mixed_kernel
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m = cuda.blockIdx.y * TILE + tx
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    acc = np.float32(0)
    for t in range(0, a.shape[0], TILE):
        k = t + ty
        a_tile[ty, tx] = float_of(a[k, m]) if k < a.shape[0] and m < a.shape[1] else np.float32(0)
        b_tile[ty, tx] = (
            float_of(b[k, col]) if k < b.shape[0] and col < b.shape[1] else np.float32(0)
        )
        cuda.syncthreads()  # both tiles are written before any thread reads them
        for kt in range(TILE):
            acc += a_tile[kt, ty] * b_tile[kt, tx]
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = acc


# --- Host function ---------------------------------------------------------------------------


def mixed_matmul(
    a: Any,
    b: Any,
    bias: Any = None,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the product of two matrices of float16, or of bfloat16, in float32.

    (M, K) and (K, N) give (M, N). With transpose_a, a is (K, M); with transpose_b, b is (N, K), and
    a float32 bias (N,) may be added; not both. bfloat16 is held as its bits in uint16: `convert`
    makes both. Factors are multiplied and summed in float32.
    """
    form = bool(transpose_a), bool(transpose_b)
    if form not in _FORMS or (bias is not None and not transpose_b):
        raise ValueError(
            f"mixed_matmul: expected transpose_a or transpose_b, and bias only with transpose_b, "
            f"got transpose_a={transpose_a} and transpose_b={transpose_b}. Multiply b by a for the "
            "transpose of the result."
        )
    takes, variant = _FORMS[form]
    (a, b, bias), result = takes.bind("mixed_matmul", (a, b, bias), out, stream)
    m, n = result.shape
    if m and n:
        if a.shape[0 if transpose_a else 1] == 0:
            # an inner size of 1 filled with zeros gives the same result
            a = launch.zeros((1, m) if transpose_a else (m, 1), a.dtype, stream)
            b = launch.zeros((n, 1) if transpose_b else (1, n), a.dtype, stream)
        none = (launch.empty((0,), np.float32) if bias is None else bias,) if transpose_b else ()
        kernel = variant.kernel[variant.grid("mixed_matmul", n, m), variant.block, stream]
        kernel(a, b, *none, result.array)
    return result.get()


_variant = functools.partial(
    Variant, reference=mixed_matmul_reference, block=(TILE, TILE), dtypes=SMALL
)
VARIANTS = (
    _variant("mixed", matmul_mixed_kernel, matmul_mixed_cost),
    _variant("nt_mixed", matmul_nt_mixed_kernel, matmul_nt_mixed_cost),
    _variant("tn_mixed", matmul_tn_mixed_kernel, matmul_mixed_cost),
)
_takes = functools.partial(
    signature.Signature, inner="k", dtypes=SMALL, dtype=np.float32, bias=(np.float32,)
)
_FORMS = {
    (False, False): (_takes("a: m k, b: k n, bias?: n -> m n"), VARIANTS[0]),
    (False, True): (_takes("a: m k, b: n k, bias?: n -> m n"), VARIANTS[1]),
    (True, False): (_takes("a: k m, b: k n, bias?: n -> m n"), VARIANTS[2]),
}
__all__ = launch.public_names(globals())
