"""Gradients of attention with tiles in shared memory (FlashAttention): scores are recomputed.

Two kernels, for two sums in two directions. Computing both in one would take atomics, whose order
differs from run to run; here it is the same in every run. The helpers are those of tiled.py: in
the second kernel keys and queries exchange their roles.

Legend
    B, H        batches, heads                                              2, 4
    L, S        queries, keys (and values)                                  128, 512
    D, Dv       size of a query and of a key, and of a value; at most HEAD  64
    row, k      a query and a key                                           [0, L), [0, S)
    first       the first row, or key, of the block                         0, 32, 64, ...
    t           the first key, or row, of the step                          0, 16, 32, ...
    tx, ty      the thread's column and row in its block                    [0, BM), [0, BN)
    BM, BN      rows (keys) per block, keys (rows) per step                 32, 16
    HEAD        columns of the tiles                                        64
    PADDED      width of a transposed tile, with a column of padding        33
    a0 ... a3   accumulators of grad_query or grad_value: columns ty, ty + BN, ...
    b0 ... b3   the same for grad_key

All kernels
    Shapes     query (B, H, L, D), key (B, H, S, D), value (B, H, S, Dv), grad_out (B, H, L, Dv),
               logsumexp and delta (B, H, L), scale scalar, causal bool, gradients of the shapes
               of their arrays; any sizes >= 1, any strides
    Dtypes     float32 or float64, the same for all arrays, scale and the sums
    Shared     (2 HEAD PADDED + BN HEAD + BN BM) itemsize bytes, static
    Errors     the host function rejects shapes that do not fit and launches the naive variant where
               D or Dv is above HEAD; the kernel assumes they fit, and a block of (BM, BN)
    Source     Dao and others, "FlashAttention: Fast and Memory-Efficient Exact Attention with
               IO-Awareness", 2022, algorithm 4; two kernels instead of atomics: Dao,
               "FlashAttention-2", 2023
"""

from __future__ import annotations

import functools
import math

from gpukit import cuda, launch
from gpukit.kernels.attention.naive import pairs_seen
from gpukit.kernels.attention.naive_grad import attention_backward_reference
from gpukit.kernels.attention.tiled import (
    BM,
    BN,
    HEAD,
    PADDED,
    SUMS,
    add_rows,
    load_on_side,
    load_step,
    product_of_rows,
    products,
    store_sums,
    walk,
)
from gpukit.launch import Cost, Variant


@cuda.jit
def attention_tiled_grad_query_kernel(
    grad_out, query, key, value, logsumexp, delta, scale, causal, grad_query
):
    """Compute the gradient of BM queries per block, which loops over all keys.

    New here   two products with the same tile, first of values, then of keys: two tiles would
               exceed 48 KB in float64. The keys stay in the tile for the sum
    Launch     block (BM, BN), grid (ceil_div(L, BM), B H); x = row, y = key, then column
    Cost       bytes: itemsize B H (L (2 D + Dv + 2 BN) + (D + Dv) loaded), the keys that the blocks
               loop over; flops: 2 BM BN (D + Dv + HEAD) per step, with D and Dv rounded up to
               multiples of WIDTH, and 6 per score; barriers: 5 per step and 3
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first, heads = cuda.blockIdx.x * BM, query.shape[1]
    batch, head = cuda.blockIdx.y // heads, cuda.blockIdx.y % heads
    q_tile = cuda.shared.array((HEAD, PADDED), query.dtype)
    g_tile = cuda.shared.array((HEAD, PADDED), query.dtype)
    tile = cuda.shared.array((BN, HEAD), query.dtype)
    s_tile = cuda.shared.array((BN, BM), query.dtype)
    load_on_side(query[batch, head], q_tile, first, tx, ty)
    load_on_side(grad_out[batch, head], g_tile, first, tx, ty)
    row = first + tx
    inside = row < query.shape[2]
    a0 = a1 = a2 = a3 = normaliser = common = query.dtype.type(0)
    if inside:
        normaliser, common = logsumexp[batch, head, row], delta[batch, head, row]
    for t in range(0, min(key.shape[2], first + BM) if causal else key.shape[2], BN):
        slope = product_of_rows(value[batch, head], tile, g_tile, t, tx, ty)
        cuda.syncthreads()  # all threads have read the values before keys overwrite them
        score = product_of_rows(key[batch, head], tile, q_tile, t, tx, ty)
        k = t + ty
        grad = query.dtype.type(0)
        if inside and k < key.shape[2] and (not causal or k <= row):
            grad = scale * math.exp(scale * score - normaliser) * (slope - common)
        s_tile[ty, tx] = grad
        a0, a1, a2, a3 = add_rows(s_tile, tile, a0, a1, a2, a3, tx, ty)
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    store_sums(a0, a1, a2, a3, q_tile, grad_query[batch, head], first, tx, ty)


def attention_tiled_grad_query_cost(
    pairs: int, rows: int, keys: int, d: int, dv: int, causal: bool = False, itemsize: int = 4
) -> Cost:
    """Each block loads its queries and gradients once, and all its keys and values."""
    ends = range(BM, rows + BM, BM)
    steps, loaded = walk([min(keys, end) if causal else keys for end in ends], keys)
    a_step = BM * BN * (products(d) + products(dv) + SUMS)
    return Cost(
        bytes=itemsize * pairs * (rows * (2 * d + dv + 2 * BN) + loaded * (d + dv)),
        flops=pairs * (steps * a_step + 6 * pairs_seen(rows, keys, causal)),
    )


@cuda.jit
def attention_tiled_grad_key_value_kernel(
    grad_out, query, key, value, logsumexp, delta, scale, causal, grad_key, grad_value
):
    """Compute the gradients of BM keys and values per block, which loops over all queries.

    New here   two sums over the same steps, one of grad_out, one of queries, with the same tile:
               the queries are loaded once for the scores and again for the sum
    Launch     block (BM, BN), grid (ceil_div(S, BM), B H); x = key, y = row, then column
    Cost       bytes: itemsize B H (2 S (D + Dv) + (2 D + Dv) walked + 2 seen), the rows that the
               blocks loop over and the scores that they compute; flops: 2 BM BN (D + Dv + 2 HEAD)
               per step, with D and Dv rounded up to multiples of WIDTH, and 6 per score;
               barriers: 8 per step and 4
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first, heads = cuda.blockIdx.x * BM, query.shape[1]
    batch, head = cuda.blockIdx.y // heads, cuda.blockIdx.y % heads
    k_tile = cuda.shared.array((HEAD, PADDED), query.dtype)
    v_tile = cuda.shared.array((HEAD, PADDED), query.dtype)
    tile = cuda.shared.array((BN, HEAD), query.dtype)
    s_tile = cuda.shared.array((BN, BM), query.dtype)
    load_on_side(key[batch, head], k_tile, first, tx, ty)
    load_on_side(value[batch, head], v_tile, first, tx, ty)
    k = first + tx
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = query.dtype.type(0)
    for t in range(first if causal else 0, query.shape[2], BN):
        score = product_of_rows(query[batch, head], tile, k_tile, t, tx, ty)
        cuda.syncthreads()  # all threads have read the queries before gradients overwrite them
        slope = product_of_rows(grad_out[batch, head], tile, v_tile, t, tx, ty)
        row = t + ty
        weight = grad = query.dtype.type(0)
        if row < query.shape[2] and k < key.shape[2] and (not causal or k <= row):
            weight = math.exp(scale * score - logsumexp[batch, head, row])
            grad = scale * weight * (slope - delta[batch, head, row])
        s_tile[ty, tx] = weight
        a0, a1, a2, a3 = add_rows(s_tile, tile, a0, a1, a2, a3, tx, ty)
        cuda.syncthreads()  # all threads have read both tiles before they are written again
        s_tile[ty, tx] = grad
        load_step(query[batch, head], tile, t, tx, ty)
        b0, b1, b2, b3 = add_rows(s_tile, tile, b0, b1, b2, b3, tx, ty)
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    store_sums(a0, a1, a2, a3, v_tile, grad_value[batch, head], first, tx, ty)
    store_sums(b0, b1, b2, b3, k_tile, grad_key[batch, head], first, tx, ty)


def attention_tiled_grad_key_value_cost(
    pairs: int, rows: int, keys: int, d: int, dv: int, causal: bool = False, itemsize: int = 4
) -> Cost:
    """Each block loads its keys and values once, all rows of its loop, and two values per score."""
    begins = range(0, keys, BM)
    walked = [max(0, rows - begin) if causal else rows for begin in begins]
    steps, seen = walk(walked, rows)[0], pairs_seen(rows, keys, causal)
    a_step = BM * BN * (products(d) + products(dv) + 2 * SUMS)
    return Cost(
        bytes=itemsize * pairs * (2 * keys * (d + dv) + sum(walked) * (2 * d + dv) + 2 * seen),
        flops=pairs * (steps * a_step + 6 * seen),
    )


_variant = functools.partial(
    Variant, reference=attention_backward_reference, block=(BM, BN), tile=(BM, 1), instead="naive"
)
VARIANTS = (
    _variant("tiled", attention_tiled_grad_query_kernel, attention_tiled_grad_query_cost),
    _variant(
        "key_value", attention_tiled_grad_key_value_kernel, attention_tiled_grad_key_value_cost
    ),
)
__all__ = launch.public_names(globals())
