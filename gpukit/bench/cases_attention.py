"""Cases of attention: its parts with stored scores, and the kernels that never store them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.bench.register import comparison, group, launched, pick, poisoned, random
from gpukit.bench.rivals import attention_grad_scores
from gpukit.bench.timing import Comparison
from gpukit.kernels.attention import naive, naive_grad, tiled, tiled_grad
from gpukit.kernels.attention.naive import scores_reference, softmax_reference
from gpukit.launch import Variant

SCALE = np.float32(0.125)


def _sizes(quick: bool) -> tuple[int, int, int, int, int]:
    """Return B, H, L, S and D: the heads of the article's Transformer at a length of 128."""
    return pick(quick, (1, 2, 35, 50, 20), (16, 8, 128, 128, 64), (64, 8, 512, 512, 64))  # type: ignore[no-any-return]


def _operands(quick: bool) -> tuple[Any, ...]:
    """Return query, key, value and the gradient of the output, their numbers below 1 on average."""
    b, h, rows, keys, d = _sizes(quick)
    lengths = rows, keys, keys, rows
    return tuple(random(b, h, n, d, draw=k) for k, n in enumerate(lengths))


@group(naive.VARIANTS[0])
def _scores(name: str, variant: Variant, quick: bool) -> Comparison:
    b, h, rows, keys, d = _sizes(quick)
    query, key, *_ = _operands(quick)
    out, no_mask = poisoned((b, h, rows, keys), np.float32), np.empty((0, 0, 0, 0), np.float32)
    return comparison(
        name,
        f"{b} x {h} of {rows} x {keys} x {d}",
        launched(variant, (keys, rows, b * h), query, key, no_mask, False, SCALE, False, out),
        lambda _, query, key, scale: scale * (query @ key.swapaxes(-1, -2)),
        out,
        given=(query, key, SCALE),
        expected=lambda: variant.reference(query, key, scale=float(SCALE)),
        cost=variant.cost(b * h, rows, keys, d),
        terms=d,
    )


@group(naive.VARIANTS[1])
def _softmax(name: str, variant: Variant, quick: bool) -> Comparison:
    b, h, rows, keys, _ = _sizes(quick)
    n = b * h * rows
    scores, out = random(n, keys), poisoned((n, keys), np.float32)

    def work(xp: Any, scores: Any) -> Any:
        powers = xp.exp(scores - scores.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)

    return comparison(
        name,
        f"{n} x {keys}",
        launched(variant, (n,), scores, out, poisoned((n,), np.float32)),
        work,
        out,
        given=(scores,),
        expected=lambda: variant.reference(scores)[0],
        cost=variant.cost(n, keys),
        terms=keys,
    )


@group(naive.VARIANTS[2], naive_grad.VARIANTS[2])
def _sums(name: str, variant: Variant, quick: bool) -> Comparison:
    """The weights' columns are added up over their rows, or their rows over their columns."""
    b, h, rows, keys, d = _sizes(quick)
    turned = variant.name == "transposed"
    length, terms = (keys, rows) if turned else (rows, keys)
    weights, x = random(b, h, rows, keys), random(b, h, terms, d, draw=1)
    out = poisoned((b, h, length, d), np.float32)

    def work(_: Any, weights: Any, x: Any) -> Any:
        return (weights.swapaxes(-1, -2) if turned else weights) @ x

    return comparison(
        name,
        f"{b} x {h} of {length} x {d} x {terms}",
        launched(variant, (d, length, b * h), weights, x, out),
        work,
        out,
        given=(weights, x),
        expected=lambda: variant.reference(weights.astype(np.float64), x),
        cost=variant.cost(b * h, rows, keys, d),
        terms=terms,
    )


@group(*tiled.VARIANTS)
def _tiled(name: str, variant: Variant, quick: bool) -> Comparison:
    b, h, rows, keys, d = _sizes(quick)
    query, key, value, _ = _operands(quick)
    out, kept = poisoned((b, h, rows, d), np.float32), poisoned((b, h, rows), np.float32)

    def work(xp: Any, query: Any, key: Any, value: Any, scale: Any) -> Any:
        scores = scale * (query @ key.swapaxes(-1, -2))
        powers = xp.exp(scores - scores.max(-1, keepdims=True))
        return powers @ value / powers.sum(-1, keepdims=True)

    return comparison(
        name,
        f"{b} x {h} of {rows} x {keys} x {d}",
        launched(variant, (rows, b * h), query, key, value, SCALE, False, out, kept),
        work,
        out,
        given=(query, key, value, SCALE),
        expected=lambda: variant.reference(query, key, value, scale=float(SCALE)),
        cost=variant.cost(b * h, rows, keys, d, d),
        terms=d + keys,
    )


@group(naive_grad.VARIANTS[0])
def _delta(name: str, variant: Variant, quick: bool) -> Comparison:
    b, h, rows, _, d = _sizes(quick)
    grad, output = random(b, h, rows, d), random(b, h, rows, d, draw=1)
    out = poisoned((b, h, rows), np.float32)
    return comparison(
        name,
        f"{b} x {h} of {rows} x {d}",
        launched(variant, (rows, b * h), grad, output, out),
        lambda xp, grad, output: xp.sum(grad * output, -1),
        out,
        given=(grad, output),
        expected=lambda: variant.reference(grad, output),
        cost=variant.cost(b * h, rows, d),
        terms=d,
    )


@group(naive_grad.VARIANTS[1], *tiled_grad.VARIANTS)
def _gradients(name: str, variant: Variant, quick: bool) -> Comparison:
    """Of the scores, of the queries, or of keys and values, which lie in one array."""
    b, h, rows, keys, d = _sizes(quick)
    query, key, value, grad = _operands(quick)
    scores = scores_reference(query, key, scale=float(SCALE))
    weights, kept = softmax_reference(scores)
    delta = np.sum(grad * (weights @ value), -1)
    kept, delta = kept.astype(np.float32), delta.astype(np.float32)
    given = grad, query, key, value, kept, delta, SCALE
    what = name.removeprefix("attention_").removeprefix("tiled_")
    shape = {"grad_scores": (rows, keys), "grad_query": (rows, d)}.get(what, (keys, d))
    out = poisoned(((2,) if what == "grad_key_value" else ()) + (b, h, *shape), np.float32)
    if what == "grad_scores":
        made = scores.astype(np.float32)
        again = poisoned(scores.shape, np.float32)
        ours = launched(
            variant, (keys, rows, b * h), grad, value, made, kept, delta, SCALE, again, out
        )
        cost = variant.cost(b * h, rows, keys, d)
    else:
        outs = (out[0], out[1]) if what == "grad_key_value" else (out,)
        ours = launched(variant, (shape[0], b * h), *given, False, *outs)
        cost = variant.cost(b * h, rows, keys, d, d)

    def work(xp: Any, grad: Any, query: Any, key: Any, value: Any, *rest: Any) -> Any:
        weights, grads = attention_grad_scores(xp, grad, query, key, value, *rest)
        if what == "grad_scores":
            return grads
        if what == "grad_query":
            return grads @ key
        turned = grads.swapaxes(-1, -2) @ query, weights.swapaxes(-1, -2) @ grad
        return xp.stack(turned)

    def expected() -> Any:
        return work(np, *(np.asarray(x, np.float64) for x in given))

    return comparison(
        name,
        f"{b} x {h} of {rows} x {keys} x {d}",
        ours,
        work,
        out,
        given=given,
        expected=expected,
        cost=cost,
        terms=2 * d + max(rows, keys),
    )
