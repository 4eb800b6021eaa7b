"""Cases of attention: its parts with stored scores, and the kernels that never store them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.bench.calls import poisoned
from gpukit.bench.register import Example, example, group, random
from gpukit.bench.rivals import attention_grad_scores
from gpukit.kernels.attention import naive, naive_grad, tiled, tiled_grad
from gpukit.kernels.attention.naive import scores_reference, softmax_reference
from gpukit.launch import Variant

SCALE = np.float32(0.125)
SCALED: dict[str, Any] = {"scale": float(SCALE)}
# B, H, L, S and D: the heads of the article's Transformer at a length of 128.
HEADS = (1, 2, 35, 50, 20), (16, 8, 128, 128, 64), (64, 8, 512, 512, 64)
SCORES, SOFTMAX, VALUES = naive.VARIANTS
DELTA, GRAD_SCORES, TRANSPOSED = naive_grad.VARIANTS
GRAD_QUERY, GRAD_KEY_VALUE = tiled_grad.VARIANTS


def _operands(b: int, h: int, rows: int, keys: int, d: int) -> tuple[Any, ...]:
    """Return query, key, value and the gradient of the output, their numbers below 1 on average."""
    return tuple(random(b, h, n, d, draw=k) for k, n in enumerate((rows, keys, keys, rows)))


def _softmax_of(xp: Any, scores: Any) -> tuple[Any, Any]:
    """Return exponentials and their sums."""
    powers = xp.exp(scores - scores.max(-1, keepdims=True))
    return powers, powers.sum(-1, keepdims=True)


@group(SCORES, sizes=HEADS)
def _scores(variant: Variant, b: int, h: int, rows: int, keys: int, d: int) -> Example:
    query, key, *_ = _operands(b, h, rows, keys, d)

    def work(_: Any, query: Any, key: Any, scale: Any) -> Any:
        return scale * (query @ key.swapaxes(-1, -2))

    inputs = query, key, np.empty((0, 0, 0, 0), np.float32), False, SCALE, False
    return example(
        variant,
        (keys, rows, b * h),
        inputs,
        (b, h, rows, keys),
        work,
        given=(query, key, SCALE),
        told=(query, key),
        named=SCALED,
        cost=variant.cost(b * h, rows, keys, d),
        terms=d,
        size=f"{b} x {h} of {rows} x {keys} x {d}",
    )


@group(SOFTMAX, sizes=HEADS)
def _softmax(variant: Variant, b: int, h: int, rows: int, keys: int, _d: int) -> Example:
    n = b * h * rows

    def work(xp: Any, scores: Any) -> Any:
        powers, sums = _softmax_of(xp, scores)
        return powers / sums

    return example(
        variant,
        (n,),
        (random(n, keys),),
        (n, keys),
        work,
        after=(poisoned((n,), np.float32),),
        part=0,
        cost=variant.cost(n, keys),
        terms=keys,
        size=f"{n} x {keys}",
    )


@group(VALUES, TRANSPOSED, sizes=HEADS)
def _sums(variant: Variant, b: int, h: int, rows: int, keys: int, d: int) -> Example:
    """The weights' columns are added up over their rows, or their rows over their columns."""
    turned = variant is TRANSPOSED
    length, terms = (keys, rows) if turned else (rows, keys)
    weights, x = random(b, h, rows, keys), random(b, h, terms, d, draw=1)

    def work(_: Any, weights: Any, x: Any) -> Any:
        return (weights.swapaxes(-1, -2) if turned else weights) @ x

    return example(
        variant,
        (d, length, b * h),
        (weights, x),
        (b, h, length, d),
        work,
        told=(weights.astype(np.float64), x),
        cost=variant.cost(b * h, rows, keys, d),
        terms=terms,
        size=f"{b} x {h} of {length} x {d} x {terms}",
    )


@group(*tiled.VARIANTS, sizes=HEADS)
def _tiled(variant: Variant, b: int, h: int, rows: int, keys: int, d: int) -> Example:
    qkv = _operands(b, h, rows, keys, d)[:3]

    def work(xp: Any, query: Any, key: Any, value: Any, scale: Any) -> Any:
        powers, sums = _softmax_of(xp, scale * (query @ key.swapaxes(-1, -2)))
        return powers @ value / sums

    return example(
        variant,
        (rows, b * h),
        (*qkv, SCALE, False),
        (b, h, rows, d),
        work,
        after=(poisoned((b, h, rows), np.float32),),
        given=(*qkv, SCALE),
        told=qkv,
        named=SCALED,
        cost=variant.cost(b * h, rows, keys, d, d),
        terms=d + keys,
        size=f"{b} x {h} of {rows} x {keys} x {d}",
    )


@group(DELTA, sizes=HEADS)
def _delta(variant: Variant, b: int, h: int, rows: int, _keys: int, d: int) -> Example:
    inputs = random(b, h, rows, d), random(b, h, rows, d, draw=1)

    def work(xp: Any, grad: Any, output: Any) -> Any:
        return xp.sum(grad * output, -1)

    return example(
        variant,
        (rows, b * h),
        inputs,
        (b, h, rows),
        work,
        cost=variant.cost(b * h, rows, d),
        terms=d,
        size=f"{b} x {h} of {rows} x {d}",
    )


@group(GRAD_SCORES, GRAD_QUERY, GRAD_KEY_VALUE, sizes=HEADS)
def _gradients(variant: Variant, b: int, h: int, rows: int, keys: int, d: int) -> Example:
    """Of the scores, of the queries, or of keys and values, which lie in one array."""
    query, key, value, grad = _operands(b, h, rows, keys, d)
    scores = scores_reference(query, key, **SCALED)
    weights, kept = softmax_reference(scores)
    delta = np.sum(grad * (weights @ value), -1).astype(np.float32)
    kept = kept.astype(np.float32)
    given = grad, query, key, value, kept, delta, SCALE
    inputs: tuple[Any, ...] = (*given, False)
    after: tuple[Any, ...] = ()
    covers: tuple[int, ...] = (rows, b * h)
    sizes: tuple[int, ...] = (b * h, rows, keys, d, d)
    out = target = poisoned((b, h, rows, d), np.float32)
    if variant is GRAD_KEY_VALUE:
        covers, out = (keys, b * h), poisoned((2, b, h, keys, d), np.float32)
        target, after = out[0], (out[1],)
    elif variant is GRAD_SCORES:
        covers, sizes, again = (keys, rows, b * h), sizes[:4], poisoned(scores.shape, np.float32)
        inputs = grad, value, scores.astype(np.float32), kept, delta, SCALE, again
        out = target = poisoned(scores.shape, np.float32)

    def work(xp: Any, grad: Any, query: Any, key: Any, value: Any, *rest: Any) -> Any:
        weights, grads = attention_grad_scores(xp, grad, query, key, value, *rest)
        if variant is GRAD_SCORES:
            return grads
        if variant is GRAD_QUERY:
            return grads @ key
        return xp.stack((grads.swapaxes(-1, -2) @ query, weights.swapaxes(-1, -2) @ grad))

    made = example(
        variant,
        covers,
        inputs,
        target,
        work,
        after=after,
        given=given,
        cost=variant.cost(*sizes),
        terms=2 * d + max(rows, keys),
        size=f"{b} x {h} of {rows} x {keys} x {d}",
        expected=lambda: work(np, *(np.asarray(x, np.float64) for x in given)),
    )
    return made._replace(out=out)
