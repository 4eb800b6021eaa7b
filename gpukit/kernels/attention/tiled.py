"""Attention with tiles in shared memory (FlashAttention): the matrix of scores is never stored.

A block computes BM rows of out and loops over the keys, BN at a time. The weighted sum of values
needs no softmax before it: the sums so far are right up to one factor per row, e to the running
maximum, and when a step has a larger score they are rescaled by e^(old - new) (online softmax).
Inputs and outputs are read and written once, whatever L and S are.

x runs over the rows that the block computes, so that neighbouring threads read neighbouring
elements of the transposed tiles; y runs over the keys of a step and then over the
columns of out. All loads from global memory run along the rows, and so are coalesced.

Legend
    B, H, pair  batches, heads, and the head of a batch of this block       2, 4, [0, B H)
    L, S        queries, keys (and values)                                  128, 512
    D, Dv       size of a query and of a key, and of a value; at most HEAD  64
    row         a query, the row of out of this thread                      [0, L)
    first       the first row of the block                                  0, 32, 64, ...
    t           the first key of the step                                   0, 16, 32, ...
    k, d        a key, and an index in a query, key or value                [0, S), [0, D)
    tx, ty      the thread's column and row in its block                    [0, BM), [0, BN)
    BM, BN      rows per block, keys per step                               32, 16
    HEAD        columns of the tiles                                        64
    PADDED      width of a transposed tile, with a column of padding        33
    WIDTH       products that are added at once, to hide latency            4
    a0 ... a3   accumulators: columns ty, ty + BN, ... of this thread's row of out

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays, scale and the sums
    Launch     block (BM, BN), grid (ceil_div(L, BM), B H); x = row, y = key, then column
    Errors     the host function rejects shapes that do not fit and launches the naive variant where
               D or Dv is above HEAD; the kernel assumes they fit, and a block of (BM, BN)
"""

from __future__ import annotations

import math

from gpukit import cuda, launch
from gpukit.kernels.attention.naive import attention_reference
from gpukit.launch import Cost, Variant, ceil_div

BM, BN = 32, 16
HEAD = 4 * BN
PADDED = BM + 1
WIDTH = 4


@cuda.jit(device=True)
def load_on_side(rows, tile, first, tx, ty):
    """Load BM rows from `first` on as columns of a tile, zeros outside; all threads call it."""
    for r in range(ty, BM, BN):
        for d in range(tx, HEAD, BM):
            inside = first + r < rows.shape[0] and d < rows.shape[1]
            tile[d, r] = rows[first + r, d] if inside else rows.dtype.type(0)
    cuda.syncthreads()  # the tile is written before any thread reads it


@cuda.jit(device=True)
def load_step(rows, tile, t, tx, ty):
    """Load BN rows from t on into a tile, zeros outside; all threads of the block call it."""
    for d in range(tx, HEAD, BM):
        inside = t + ty < rows.shape[0] and d < rows.shape[1]
        tile[ty, d] = rows[t + ty, d] if inside else rows.dtype.type(0)
    cuda.syncthreads()  # the tile is written before any thread reads it


@cuda.jit(device=True)
def store_sums(a0, a1, a2, a3, tile, rows, first, tx, ty):
    """Store the threads' sums as rows from `first` on, through a transposed tile."""
    tile[ty, tx], tile[ty + BN, tx] = a0, a1
    tile[ty + 2 * BN, tx], tile[ty + 3 * BN, tx] = a2, a3
    cuda.syncthreads()  # the tile is written before any thread reads it
    for r in range(ty, BM, BN):
        for d in range(tx, HEAD, BM):
            if first + r < rows.shape[0] and d < rows.shape[1]:
                rows[first + r, d] = tile[d, r]


@cuda.jit(device=True)
def column_sum(value, tile, tx, ty):
    """Return the sum of value over the threads of one tx; all threads of the block call it."""
    tile[ty, tx] = value
    cuda.syncthreads()  # the tile is written before any thread reads it
    total = tile[0, tx]
    for y in range(1, BN):
        total += tile[y, tx]
    return total


@cuda.jit(device=True)
def product_of_rows(rows, tile, on_side, t, tx, ty):
    """Load BN rows from t on; return the product of row t + ty with the thread's column on_side."""
    load_step(rows, tile, t, tx, ty)
    product = rows.dtype.type(0)
    for d in range(0, rows.shape[1], WIDTH):
        low = on_side[d, tx] * tile[ty, d] + on_side[d + 1, tx] * tile[ty, d + 1]
        high = on_side[d + 2, tx] * tile[ty, d + 2] + on_side[d + 3, tx] * tile[ty, d + 3]
        product += low + high
    return product


@cuda.jit(device=True)
def add_rows(weights, tile, a0, a1, a2, a3, tx, ty):
    """Return a thread's four sums, with the rows of a tile times their weights added."""
    cuda.syncthreads()  # all weights and the whole tile are written
    for n in range(BN):
        weight = weights[n, tx]
        a0 += weight * tile[n, ty]
        a1 += weight * tile[n, ty + BN]
        a2 += weight * tile[n, ty + 2 * BN]
        a3 += weight * tile[n, ty + 3 * BN]
    return a0, a1, a2, a3


@cuda.jit(device=True)
def online_softmax(score, p_tile, maximum, rescale, tx, ty):
    """Return e^(score - running maximum of its row), and store it in p_tile.

    Stores the factor for all earlier sums of the row in rescale.
    """
    p_tile[ty, tx] = score
    cuda.syncthreads()  # all scores of the step are written before their maximum is computed
    if ty == 0:
        best = maximum[tx]
        for n in range(BN):
            best = max(best, p_tile[n, tx])
        rescale[tx] = math.exp(maximum[tx] - best)
        maximum[tx] = best
    cuda.syncthreads()  # the maxima are written, and the scores have been read
    weight = math.exp(score - maximum[tx])
    p_tile[ty, tx] = weight
    return weight


@cuda.jit
def attention_tiled_kernel(query, key, value, scale, causal, out, logsumexp):
    """Compute attention for BM queries per block, which loops over all keys.

    New here   online softmax: a row needs only its running maximum and normalizer, which are
               rescaled, with the sums of values, when a larger score appears. Row 0 of the threads
               computes the maximum; each thread sums the exponentials of its own keys, and these
               sums are added at the end. Steps that no query of the block sees are skipped:
               with a causal mask about half of them
    Shapes     query (B, H, L, D), key (B, H, S, D), value (B, H, S, Dv), scale scalar, causal bool,
               out (B, H, L, Dv), logsumexp (B, H, L); any sizes >= 1, any strides
    Shared     (HEAD PADDED + 2 BN HEAD + BN BM + 2 BM) itemsize bytes, static
    Cost       bytes: itemsize B H (L D + (D + Dv) loaded + L Dv + L), where each block loads the
               keys it loops over, all S of them without the mask; flops: 2 BM BN (D + HEAD) per
               step for the products, with D rounded up to a multiple of WIDTH, and a tenth of it
               for the rest; barriers: 6 per step and 3
    Source     Dao and others, "FlashAttention: Fast and Memory-Efficient Exact Attention with
               IO-Awareness", 2022; Milakov and Gimelshein, "Online normalizer calculation for
               softmax", 2018
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first, heads = cuda.blockIdx.x * BM, query.shape[1]
    batch, head = cuda.blockIdx.y // heads, cuda.blockIdx.y % heads
    q_tile = cuda.shared.array((HEAD, PADDED), out.dtype)
    k_tile = cuda.shared.array((BN, HEAD), out.dtype)
    v_tile = cuda.shared.array((BN, HEAD), out.dtype)
    p_tile = cuda.shared.array((BN, BM), out.dtype)
    maximum = cuda.shared.array(BM, out.dtype)
    rescale = cuda.shared.array(BM, out.dtype)
    if ty == 0:
        maximum[tx] = out.dtype.type(-math.inf)
    load_on_side(query[batch, head], q_tile, first, tx, ty)
    row = first + tx
    total = a0 = a1 = a2 = a3 = out.dtype.type(0)
    for t in range(0, min(key.shape[2], first + BM) if causal else key.shape[2], BN):
        load_step(value[batch, head], v_tile, t, tx, ty)
        score = product_of_rows(key[batch, head], k_tile, q_tile, t, tx, ty)
        k = t + ty
        visible = k < key.shape[2] and (not causal or k <= row)
        score = scale * score if visible else out.dtype.type(-math.inf)
        weight = online_softmax(score, p_tile, maximum, rescale, tx, ty)
        factor = rescale[tx]
        total = total * factor + weight
        a0, a1, a2, a3 = a0 * factor, a1 * factor, a2 * factor, a3 * factor
        a0, a1, a2, a3 = add_rows(p_tile, v_tile, a0, a1, a2, a3, tx, ty)
        cuda.syncthreads()  # all threads have read all tiles before the next ones are loaded
    total = column_sum(total, p_tile, tx, ty)
    a0, a1, a2, a3 = a0 / total, a1 / total, a2 / total, a3 / total
    store_sums(a0, a1, a2, a3, q_tile, out[batch, head], first, tx, ty)
    if ty == 0 and row < query.shape[2]:
        logsumexp[batch, head, row] = maximum[tx] + math.log(total)


def attention_tiled_cost(
    pairs: int, rows: int, keys: int, d: int, dv: int, causal: bool = False, itemsize: int = 4
) -> Cost:
    """Each block loads its queries once, and the keys and values that it loops over."""
    blocks = ceil_div(rows, BM)
    walked = [min(keys, BM * (b + 1)) if causal else keys for b in range(blocks)]
    steps, loaded = walk(walked, keys)
    a_step = BM * BN * (products(d) + SUMS + 9) + 2 * BM
    return Cost(
        bytes=itemsize * pairs * (rows * (d + dv + 1) + loaded * (d + dv)),
        flops=pairs * (steps * a_step + blocks * BM * BN * (BN + 3) + 2 * rows),
    )


# Operations per thread in add_rows.
SUMS = 2 * 4 * BN


def products(d: int) -> int:
    """Return the operations per thread in product_of_rows."""
    return 2 * WIDTH * ceil_div(d, WIDTH)


def walk(walked: list[int], size: int) -> tuple[int, int]:
    """Return the steps of blocks that loop so far over `size` rows, and the rows they load."""
    steps = [ceil_div(far, BN) for far in walked]
    return sum(steps), sum(min(BN * n, size) for n in steps)


VARIANTS = (
    Variant(
        "tiled",
        attention_tiled_kernel,
        attention_tiled_cost,
        attention_reference,
        (BM, BN),
        (BM, 1),
        instead="naive",
    ),
)
__all__ = launch.public_names(globals())
