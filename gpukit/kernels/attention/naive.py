"""Attention in three launches by its formula: scores, softmax, weighted sums of values.

    scores = scale query key^T          -inf where a query must not see a key
    weights = softmax of each row       positive, sum 1
    out = weights value                 a weighted mean of values per query

The matrix of scores is stored: L x S elements per head of each batch, written by the first
kernel, read and written by the second, read by the third. At L = S = 4096 and D = 64 it is 64 times
as large as the queries.

Legend
    B, H, pair  batches, heads, and the head of a batch of this block  2, 4, [0, B H)
    L, S        queries, keys (and values)                             128, 512
    D, Dv       size of a query and of a key, and of a value           64, 64
    row, col    a query, and a key or an index in a value              [0, L), [0, S)
    k           the summed axis; the docstring of each kernel says which
    n           rows of all matrices of scores together                B H L
    TILE        side of a block of the products                        16
    ROWS        rows per block of the softmax, one warp each           8

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays, scale and the sums
    Launch     block (TILE, TILE, 1), grid (ceil_div(columns of out, TILE), ceil_div(L, TILE), B H);
               x = col, y = row, z = pair
    Errors     the host function rejects shapes that do not fit; the kernel assumes they do
    Source     Vaswani and others, "Attention Is All You Need", 2017
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.collectives import WARP, larger, warp_all_max, warp_all_sum
from gpukit.launch import Cost, Variant

TILE = 16
ROWS = 8

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def scores_reference(
    query: npt.ArrayLike,
    key: npt.ArrayLike,
    is_causal: bool = False,
    scale: float | None = None,
    attn_mask: npt.NDArray[Any] | None = None,
) -> Float64:
    """Return scale query key^T plus a mask; -inf where a query must not see a key."""
    query, key = np.asarray(query, np.float64), np.asarray(key, np.float64)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores: Float64 = factor * (query @ np.swapaxes(key, -1, -2))
    seen = np.tril(np.ones(scores.shape, np.bool_)) if is_causal else np.True_
    if attn_mask is not None and attn_mask.dtype == np.bool_:
        seen = seen & attn_mask
    elif attn_mask is not None:
        scores = scores + attn_mask
    return np.where(seen, scores, -np.inf)


def softmax_reference(scores: npt.ArrayLike) -> tuple[Float64, Float64]:
    """Return e to the scores, divided by their sum over each row, and the logarithm of that sum."""
    scores = np.asarray(scores, np.float64)
    maximum = scores.max(-1, keepdims=True)
    exponentials = np.exp(scores - maximum)
    total = exponentials.sum(-1, keepdims=True)
    return exponentials / total, (maximum + np.log(total))[..., 0]


def attention_reference(
    query: npt.ArrayLike,
    key: npt.ArrayLike,
    value: npt.ArrayLike,
    is_causal: bool = False,
    scale: float | None = None,
    attn_mask: npt.NDArray[Any] | None = None,
) -> Float64:
    """Return the weighted mean of values for each query."""
    weights, _ = softmax_reference(scores_reference(query, key, is_causal, scale, attn_mask))
    return weights @ np.asarray(value, np.float64)


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def attention_scores_kernel(query, key, mask, keeps, scale, causal, scores):
    """Compute the score of each key for each query, one score per thread.

    New here   a causal mask: a query that must not look ahead gets -inf for the keys after it,
               which softmax turns into 0. Queries and keys are both counted from the first, so
               that query 0 sees key 0 alone, whatever L and S are. Any other mask is an array:
               values to add or, where it `keeps`, whether a query sees a key. k is the index in
               a query; neighbouring threads read keys D apart: not coalesced
    Shapes     query (B, H, L, D), key (B, H, S, D), mask (B, H, L, S), of which each may be 1, or
               all 0 for none, keeps bool, scale scalar, causal bool, scores (B, H, L, S); any
               sizes >= 1, any strides
    Dtypes     as the others; mask may be bool
    Cost       bytes: itemsize B H (2 D seen + L S); flops: B H (2 D + 1) seen, where seen is the
               number of pairs of a query and a key that it sees, L S without the causal mask;
               with a mask one load and, unless it is bool, one addition per pair; barriers: 0
    """
    col, row, pair = cuda.grid(3)
    batch, head = pair // query.shape[1], pair % query.shape[1]
    if row < scores.shape[2] and col < scores.shape[3]:
        if causal and col > row:
            scores[batch, head, row, col] = scores.dtype.type(-math.inf)
        else:
            acc = scores.dtype.type(0)
            for k in range(query.shape[3]):
                acc += query[batch, head, row, k] * key[batch, head, col, k]
            score = scale * acc
            if mask.shape[0] > 0:
                b, h = min(batch, mask.shape[0] - 1), min(head, mask.shape[1] - 1)
                value = mask[b, h, min(row, mask.shape[2] - 1), min(col, mask.shape[3] - 1)]
                if not keeps:
                    score += scores.dtype.type(value)
                elif not value:
                    score = scores.dtype.type(-math.inf)
            scores[batch, head, row, col] = score


def attention_scores_cost(
    pairs: int,
    rows: int,
    keys: int,
    d: int,
    causal: bool = False,
    itemsize: int = 4,
    *,
    masksize: int = 0,
) -> Cost:
    """Per computed score a query and a key loaded, per score one store.

    `masksize` is the number of bytes of an element of a mask, 1 where it is bool.
    """
    seen = pairs * pairs_seen(rows, keys, causal)
    return Cost(
        bytes=itemsize * (2 * d * seen + pairs * rows * keys) + masksize * seen,
        flops=(2 * d + 1 + (masksize > 1)) * seen,
    )


def pairs_seen(rows: int, keys: int, causal: bool) -> int:
    """Return the number of pairs of a query and a key that it sees.

    >>> pairs_seen(4, 3, causal=True)
    9
    """
    return sum(min(row + 1, keys) for row in range(rows)) if causal else rows * keys


@cuda.jit
def attention_softmax_kernel(scores, weights, logsumexp):
    """Compute the softmax of rows of scores, one warp per row.

    New here   three passes over a row: the maximum, the sum of e^(score - maximum), and the
               division. A collective leaves its result in lane 0; a shuffle broadcasts it. The
               logarithm of the sum is stored: with it the backward pass recomputes a weight from
               its score alone, as e^(score - logsumexp)
    Shapes     scores (n, S), weights (n, S), logsumexp (n,); any sizes >= 1. weights may be scores
    Launch     block (WARP, ROWS), grid ceil_div(n, ROWS); x = lane, y = row
    Cost       bytes: itemsize n (4 S + 1); flops: n (6 S + 2 + 160), 2 S of them calls of
               exp, 2 for the logarithm, 160 for the sum of a warp; barriers: 0
    """
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    if row < scores.shape[0]:
        best = scores.dtype.type(-math.inf)
        for k in range(lane, scores.shape[1], WARP):
            score = scores[row, k]
            if larger(score, best):
                best = score
        best = warp_all_max(best)
        total = scores.dtype.type(0)
        for k in range(lane, scores.shape[1], WARP):
            total += math.exp(scores[row, k] - best)
        total = warp_all_sum(total)
        for k in range(lane, scores.shape[1], WARP):
            weights[row, k] = math.exp(scores[row, k] - best) / total
        if lane == 0:
            logsumexp[row] = best + math.log(total)


def attention_softmax_cost(rows: int, keys: int, itemsize: int = 4) -> Cost:
    """Three loads and a store per element; a warp's sum takes 5 steps of 32 lanes."""
    return Cost(bytes=itemsize * rows * (4 * keys + 1), flops=rows * (6 * keys + 2 + 5 * WARP))


@cuda.jit
def attention_values_kernel(weights, value, out):
    """Sum values times their weights, one element of out per thread.

    New here   nothing: a matrix product per pair; k is the key. The gradient of the
               queries is the same sum, of keys times gradients of scores
    Shapes     weights (B, H, L, S), value (B, H, S, Dv), out (B, H, L, Dv); any sizes >= 1, any
               strides
    Cost       bytes: itemsize B H L Dv (2 S + 1); flops: 2 B H L Dv S; barriers: 0
    """
    col, row, pair = cuda.grid(3)
    batch, head = pair // value.shape[1], pair % value.shape[1]
    if row < out.shape[2] and col < out.shape[3]:
        acc = out.dtype.type(0)
        for k in range(weights.shape[3]):
            acc += weights[batch, head, row, k] * value[batch, head, k, col]
        out[batch, head, row, col] = acc


def attention_values_cost(pairs: int, rows: int, keys: int, dv: int, itemsize: int = 4) -> Cost:
    """Per element of out S weights and S values loaded, one store."""
    elements = pairs * rows * dv
    return Cost(bytes=itemsize * elements * (2 * keys + 1), flops=2 * elements * keys)


_variant = functools.partial(Variant, block=(TILE, TILE, 1))
VARIANTS = (
    _variant("naive", attention_scores_kernel, attention_scores_cost, scores_reference),
    Variant(
        "softmax",
        attention_softmax_kernel,
        attention_softmax_cost,
        softmax_reference,
        (WARP, ROWS),
        ROWS,
    ),
    _variant("values", attention_values_kernel, attention_values_cost, np.matmul),
)
__all__ = launch.public_names(globals())
