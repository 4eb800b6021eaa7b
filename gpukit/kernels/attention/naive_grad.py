"""Gradients of attention, with the matrices of weights and of their gradients in memory.

    out = weights value                     grad_value = weights^T grad_out
    weights = softmax(scores)               grad_weights = grad_out value^T
                                            grad_scores = weights (grad_weights - delta)
    scores = scale query key^T              grad_query = scale grad_scores key
                                            grad_key = scale grad_scores^T query

delta is the sum over a row of weights times grad_weights: softmax lowers all other weights of a row
when one of them grows. It equals the sum of out times grad_out, which needs neither matrix.

Legend
    B, H, pair  batches, heads, and the head of a batch of this block  2, 4, [0, B H)
    L, S        queries, keys (and values)                             128, 512
    D, Dv       size of a query and of a key, and of a value           64, 64
    row, col    a query or a key, and a key or an index in one         [0, L), [0, S)
    k           the summed axis; the docstring of each kernel says which
    TILE        side of a block of the products                        16
    BLOCK       threads per block of the sums of rows                  128

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays, scale and the sums
    Launch     block (TILE, TILE, 1), grid (ceil_div(columns of out, TILE),
               ceil_div(rows of out, TILE), B H); x = col, y = row, z = pair
    Errors     the host function rejects shapes that do not fit; the kernel assumes they do
    Source     Dao and others, "FlashAttention: Fast and Memory-Efficient Exact Attention with
               IO-Awareness", 2022, appendix B, for delta; the rest is the chain rule
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels.attention.naive import TILE, scores_reference, softmax_reference
from gpukit.launch import Cost, Variant

BLOCK = 128

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def attention_backward_reference(
    grad_out: npt.ArrayLike,
    query: npt.ArrayLike,
    key: npt.ArrayLike,
    value: npt.ArrayLike,
    is_causal: bool = False,
    scale: float | None = None,
    attn_mask: npt.NDArray[Any] | None = None,
) -> tuple[Float64, Float64, Float64]:
    """Return the gradients of query, key and value."""
    grad_out, query, key = (np.asarray(x, np.float64) for x in (grad_out, query, key))
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    weights, _ = softmax_reference(scores_reference(query, key, is_causal, scale, attn_mask))
    grad_weights = grad_out @ np.swapaxes(np.asarray(value, np.float64), -1, -2)
    delta = (weights * grad_weights).sum(-1, keepdims=True)
    grad_scores = factor * weights * (grad_weights - delta)
    turned = np.swapaxes(grad_scores, -1, -2)
    return grad_scores @ key, turned @ query, np.swapaxes(weights, -1, -2) @ grad_out


def delta_reference(grad_out: npt.ArrayLike, output: npt.ArrayLike) -> Float64:
    """Return the sum of grad_out times output over each row."""
    made: Float64 = (np.asarray(grad_out, np.float64) * np.asarray(output, np.float64)).sum(-1)
    return made


def transposed_reference(weights: npt.ArrayLike, rows: npt.ArrayLike) -> Float64:
    """Return weights^T rows."""
    made: Float64 = np.swapaxes(np.asarray(weights, np.float64), -1, -2) @ np.asarray(rows)
    return made


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def attention_delta_kernel(grad_out, output, delta):
    """Compute delta, the term common to all gradients of a row of scores, one row per thread.

    New here   the sum of grad_out times output, all that the gradient of a softmax needs
               of the rest of the row
    Shapes     grad_out and output (B, H, L, Dv), delta (B, H, L); any sizes >= 1, any strides
    Launch     block BLOCK, grid (ceil_div(L, BLOCK), B H); x = row, y = pair
    Cost       bytes: itemsize B H L (2 Dv + 1); flops: 2 B H L Dv; barriers: 0
    """
    row, pair = cuda.grid(2)
    batch, head = pair // output.shape[1], pair % output.shape[1]
    if row < output.shape[2]:
        acc = delta.dtype.type(0)
        for k in range(output.shape[3]):
            acc += grad_out[batch, head, row, k] * output[batch, head, row, k]
        delta[batch, head, row] = acc


def attention_delta_cost(pairs: int, rows: int, dv: int, itemsize: int = 4) -> Cost:
    """Per row Dv gradients and Dv outputs loaded, one store."""
    return Cost(bytes=itemsize * pairs * rows * (2 * dv + 1), flops=2 * pairs * rows * dv)


@cuda.jit
def attention_grad_scores_kernel(
    grad_out, value, scores, logsumexp, delta, scale, weights, grad_scores
):
    """Recompute the weights and compute the gradients of the scores, one score per thread.

    New here   a weight from its score alone: e^(score - logsumexp) is already normalized by the sum
               of the row. k is the index in a value; grad_scores include the factor scale, which
               both query and key would need
    Shapes     grad_out (B, H, L, Dv), value (B, H, S, Dv), scores, weights and grad_scores
               (B, H, L, S), logsumexp and delta (B, H, L), scale scalar; any sizes >= 1, any
               strides. weights may be scores
    Cost       bytes: itemsize B H L S (2 Dv + 5); flops: B H L S (2 Dv + 5), one of them exp;
               barriers: 0
    """
    col, row, pair = cuda.grid(3)
    batch, head = pair // value.shape[1], pair % value.shape[1]
    if row < scores.shape[2] and col < scores.shape[3]:
        acc = scores.dtype.type(0)
        for k in range(value.shape[3]):
            acc += grad_out[batch, head, row, k] * value[batch, head, col, k]
        weight = math.exp(scores[batch, head, row, col] - logsumexp[batch, head, row])
        weights[batch, head, row, col] = weight
        grad_scores[batch, head, row, col] = scale * weight * (acc - delta[batch, head, row])


def attention_grad_scores_cost(
    pairs: int, rows: int, keys: int, dv: int, itemsize: int = 4
) -> Cost:
    """Per score a gradient, a value and three scalars loaded, two stores."""
    scores = pairs * rows * keys
    return Cost(bytes=itemsize * scores * (2 * dv + 5), flops=scores * (2 * dv + 5))


@cuda.jit
def attention_transposed_kernel(weights, rows, out):
    """Sum rows times the weights of a column, one element of out per thread.

    New here   nothing: the sum of attention_values_kernel with weights^T; k is the query. It
               computes the gradient of the values from weights and grad_out, and that of the keys
               from grad_scores and query
    Shapes     weights (B, H, L, S), rows (B, H, L, D), out (B, H, S, D); any sizes >= 1, any
               strides
    Cost       bytes: itemsize B H S D (2 L + 1); flops: 2 B H S D L; barriers: 0
    """
    col, row, pair = cuda.grid(3)
    batch, head = pair // rows.shape[1], pair % rows.shape[1]
    if row < out.shape[2] and col < out.shape[3]:
        acc = out.dtype.type(0)
        for k in range(weights.shape[2]):
            acc += weights[batch, head, k, row] * rows[batch, head, k, col]
        out[batch, head, row, col] = acc


def attention_transposed_cost(pairs: int, rows: int, keys: int, d: int, itemsize: int = 4) -> Cost:
    """Per element of out L weights and L elements of rows loaded, one store."""
    elements = pairs * keys * d
    return Cost(bytes=itemsize * elements * (2 * rows + 1), flops=2 * elements * rows)


_variant = functools.partial(Variant, block=(TILE, TILE, 1))
VARIANTS = (
    Variant(
        "delta", attention_delta_kernel, attention_delta_cost, delta_reference, BLOCK, (BLOCK, 1)
    ),
    _variant(
        "naive",
        attention_grad_scores_kernel,
        attention_grad_scores_cost,
        attention_backward_reference,
    ),
    _variant(
        "transposed", attention_transposed_kernel, attention_transposed_cost, transposed_reference
    ),
)
__all__ = launch.public_names(globals())
