"""Scaled dot-product attention, forward and backward: with stored scores, and tiled.

`naive` and `naive_grad` write the matrices of scores and weights to memory, `tiled` and
`tiled_grad` hold one tile of them (FlashAttention). `scaled_dot_product_attention` and its
backward take both variants.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpukit import launch, signature
from gpukit.kernels.attention import naive, naive_grad, tiled, tiled_grad
from gpukit.kernels.attention.naive import attention_reference
from gpukit.kernels.attention.naive_grad import attention_backward_reference
from gpukit.results import Result, check_no_overlap

FORWARD_VARIANTS = (naive.VARIANTS[0], tiled.VARIANTS[0])
BACKWARD_VARIANTS = (naive_grad.VARIANTS[1], tiled_grad.VARIANTS[0])
VARIANTS = (*naive.VARIANTS, *tiled.VARIANTS, *naive_grad.VARIANTS, *tiled_grad.VARIANTS)


@signature.takes("query: b h l d, value: b h s dv, key: b h s d -> b h l dv", layout="strided")
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    is_causal: bool = False,
    scale: float | None = None,
    *,
    attn_mask: Any = None,
    variant: str = "tiled",
    out: Any = None,
    logsumexp: Any = None,
    stream: Any = 0,
) -> Any:
    """Return, for each query, the mean of the values weighted by softmax(scale query key^T).

    (B, H, L, D), (B, H, S, D) and (B, H, S, Dv) give (B, H, L, Dv), all float32 or all float64.
    Any strides are accepted: (B, L, H, D) with its axes exchanged is not copied. scale is
    1 / sqrt(D) by default. With `is_causal` query i sees keys 0 to i, whatever L and S are.
    `attn_mask`, broadcastable to (B, H, L, S), is added to the scores or, where it is bool, says
    which keys a query sees; a query that sees none is NaN. Without keys the result is zeros.
    `logsumexp` (B, H, L) is written for the backward. tiled requires D and Dv up to 64 and no
    attn_mask, and falls back to naive, which stores all scores. Raises LaunchError (a
    ValueError) for B H above 65535.
    """
    function = "scaled_dot_product_attention"
    chosen = launch.pick(function, FORWARD_VARIANTS, variant)
    batch, heads, rows = query.shape[:3]
    (keys, dv), pairs, dtype = value.shape[2:], batch * heads, query.dtype
    shape = batch, heads, rows
    kept = Result(f"{function} (logsumexp)", logsumexp, shape, dtype, out.inputs, stream=stream)
    factor = _scale(scale, query)
    mask = _mask(function, attn_mask, (*shape, keys), dtype, stream)
    if attn_mask is not None:
        check_no_overlap(function, out.out, attn_mask=mask[0])
    if chosen.instead and attn_mask is None and _fits(query, value):
        arguments = query, key, value, factor, bool(is_causal), out.array, kept.array
        _launch(function, chosen, (rows, pairs), stream, *arguments)
    else:
        of_scores, of_softmax, of_values = naive.VARIANTS
        scores = launch.empty((batch, heads, rows, keys), dtype)
        sizes = keys, rows, pairs
        given = query, key, *mask, factor, bool(is_causal), scores
        _launch(function, of_scores, sizes, stream, *given)
        n = pairs * rows
        flat = scores.reshape(n, keys)
        _launch(function, of_softmax, (n,), stream, flat, flat, kept.flat())
        _launch(function, of_values, (dv, rows, pairs), stream, scores, value, out.array)
    if logsumexp is not None:
        kept.get()
    return out.get()


@signature.takes(
    "query: b h l d, value: b h s dv, key: b h s d, grad_out: b h l dv, output: b h l dv,"
    " logsumexp: b h l -> b h l d, b h s d, b h s dv",
    layout="strided",
)
def scaled_dot_product_attention_backward(
    grad_out: Any,
    query: Any,
    key: Any,
    value: Any,
    output: Any,
    logsumexp: Any,
    is_causal: bool = False,
    scale: float | None = None,
    *,
    attn_mask: Any = None,
    variant: str = "tiled",
    out: Any = None,
    stream: Any = 0,
) -> tuple[Any, Any, Any]:
    """Return the gradients of query, key and value.

    `output` and `logsumexp` are what the forward returned and wrote, grad_out (B, H, L, Dv) is the
    gradient of its output; the other arguments are those of the forward. `out` takes three arrays.
    Sums have the same order in every run. tiled recomputes the scores and requires D and Dv up to
    64 and no attn_mask; naive, to which it falls back, stores them and their gradients.
    """
    function = "scaled_dot_product_attention_backward"
    chosen = launch.pick(function, BACKWARD_VARIANTS, variant)
    batch, heads, rows, d = query.shape
    (keys, dv), pairs, dtype = value.shape[2:], batch * heads, query.dtype
    grad_query, grad_key, grad_value = (result.array for result in out)
    factor, causal = _scale(scale, query), bool(is_causal)
    of_delta, of_grad_scores, transposed = naive_grad.VARIANTS
    delta = launch.empty((batch, heads, rows), dtype)
    _launch(function, of_delta, (rows, pairs), stream, grad_out, output, delta)
    mask = _mask(function, attn_mask, (batch, heads, rows, keys), dtype, stream)
    if chosen.instead and attn_mask is None and _fits(query, value):
        given = grad_out, query, key, value, logsumexp, delta, factor, causal
        by_query, by_key = tiled_grad.VARIANTS
        _launch(function, by_query, (rows, pairs), stream, *given, grad_query)
        _launch(function, by_key, (keys, pairs), stream, *given, grad_key, grad_value)
    else:
        of_scores, _, of_values = naive.VARIANTS
        weights, grads = (launch.empty((batch, heads, rows, keys), dtype) for _ in range(2))
        sizes = keys, rows, pairs
        _launch(function, of_scores, sizes, stream, query, key, *mask, factor, causal, weights)
        arguments = grad_out, value, weights, logsumexp, delta, factor, weights, grads
        _launch(function, of_grad_scores, sizes, stream, *arguments)
        _launch(function, of_values, (d, rows, pairs), stream, grads, key, grad_query)
        _launch(function, transposed, (d, keys, pairs), stream, grads, query, grad_key)
        _launch(function, transposed, (dv, keys, pairs), stream, weights, grad_out, grad_value)
    first, second, third = (result.get() for result in out)
    return first, second, third


def _launch(
    function: str, variant: launch.Variant, sizes: tuple[int, ...], stream: Any, *arguments: Any
) -> None:
    """Launch a variant over so many elements along x, y and z, unless there is none."""
    if math.prod(sizes):
        variant.kernel[variant.grid(function, *sizes), variant.block, stream](*arguments)


def _scale(scale: float | None, query: Any) -> Any:
    """Return the factor of all scores, in the dtype of the arrays."""
    return query.dtype.type(1 / math.sqrt(max(query.shape[3], 1)) if scale is None else scale)


def _mask(
    function: str, mask: Any, shape: tuple[int, ...], dtype: Any, stream: Any
) -> tuple[Any, bool]:
    """Return a mask with four axes for the kernel, and whether it is bool; raise if it cannot be.

    None becomes an array without elements: a kernel takes no None.
    """
    if mask is None:
        return launch.empty((0, 0, 0, 0), dtype), False
    mask = launch.as_array(mask)
    launch.check_array(function, "attn_mask", mask, ndim=None, dtypes=(np.bool_, dtype.type))
    four = (*(1,) * (4 - mask.ndim), *mask.shape)
    if len(four) != 4 or any(n not in (1, full) for n, full in zip(four, shape, strict=True)):
        raise ValueError(
            f"{function}: expected attn_mask.shape to be {shape} or 1 along an axis, got "
            f"{tuple(mask.shape)}. Axes are batch, head, query and key."
        )
    moved = launch.to_device(mask, stream, strided=True)
    return moved.reshape(four), mask.dtype == np.bool_


def _fits(query: Any, value: Any) -> bool:
    """Return whether rows fit into tiles, and there is at least one."""
    return bool(max(query.shape[3], value.shape[3]) <= tiled.HEAD and value.shape[2] > 0)


__all__ = [
    "BACKWARD_VARIANTS",
    "FORWARD_VARIANTS",
    "VARIANTS",
    "attention_backward_reference",
    "attention_reference",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
]
