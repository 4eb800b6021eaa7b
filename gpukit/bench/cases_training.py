"""Cases of kernels that train: optimizers, clipping, backward passes, bias and activation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpukit import launch
from gpukit.bench.cases_elements import _normal_below
from gpukit.bench.register import Launches, comparison, group, launched, pick, poisoned, random
from gpukit.bench.timing import Comparison
from gpukit.kernels import activations_grad
from gpukit.kernels.backprop import bias_activation, columns, sharing
from gpukit.kernels.optimizers import adam, adaptive, clip, gradient
from gpukit.launch import Variant

STEP, LR, DECAY = 3, 0.01, 0.001
# What the kernel and what the reference are told, by the beginning of a case's name.
RATES: dict[str, tuple[tuple[float, ...], dict[str, float]]] = {
    "sgd": ((LR, DECAY), {}),
    "momentum": ((LR, 0.9, 1, DECAY), {}),
    "nesterov": ((LR, 0.9, DECAY), {}),
    "adagrad": ((LR, 1e-10, DECAY), {}),
    "rmsprop": ((LR, 0.99, 0.01, 1e-8, DECAY), {}),
    "adadelta": ((LR, 0.9, 0.1, 1e-6, DECAY), {}),
    "adam": (adam._rates("bench", STEP, LR, (0.9, 0.999), 1e-8, DECAY), {"step": STEP}),
    "adamw": (adam._rates("bench", STEP, LR, (0.9, 0.999), 1e-8, LR * DECAY), {"step": STEP}),
}


@group(*gradient.VARIANTS, *adaptive.VARIANTS, *adam.VARIANTS)
def _optimizer(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_003, 10_000_000, 100_000_000)
    short = name.removesuffix("_vectorised")
    states = variant.kernel.py_func.__code__.co_argcount - 3
    rates, told = RATES[short]
    param, grad = random(n), random(n, draw=1)
    state = [np.abs(random(n, draw=2 + k)) for k in range(states)]
    # Updated in place: the answer of the first launch is the one that is checked.
    out = launch.to_device(param.copy())
    moved = [launch.to_device(x.copy()) for x in state]
    numbers = tuple(map(np.float32, rates))
    ours = launched(variant, (n,), out, grad, *moved, numbers)
    mine, spare = [x.copy() for x in (param, *state)], [np.empty(n, np.float32) for _ in range(2)]
    return comparison(
        name,
        f"{n:,}",
        ours,
        lambda xp, grad, *given: _WORK[short](xp, numbers, grad, *given),
        out,
        given=(grad, *mine, *spare),
        expected=lambda: _parameter(
            variant.reference(param, grad, *state, lr=LR, weight_decay=DECAY, **told)
        ),
        cost=variant.cost(n),
        terms=8,
    )


def _parameter(made: Any) -> Any:
    return made[0] if isinstance(made, tuple) else made


# ---- what NumPy does: a pass for each operation, into arrays that are there -------------------


def _decayed(xp: Any, decay: Any, g: Any, p: Any, out: Any) -> None:
    xp.multiply(p, decay, out=out)
    xp.add(out, g, out=out)


def _sgd(xp: Any, rates: Any, g: Any, p: Any, a: Any, _b: Any) -> Any:
    lr, decay = rates
    _decayed(xp, decay, g, p, a)
    xp.multiply(a, lr, out=a)
    return xp.subtract(p, a, out=p)


def _momentum(xp: Any, rates: Any, g: Any, p: Any, v: Any, a: Any, _b: Any) -> Any:
    lr, momentum, _, decay = rates
    _decayed(xp, decay, g, p, a)
    xp.multiply(v, momentum, out=v)
    xp.add(v, a, out=v)
    xp.multiply(v, lr, out=a)
    return xp.subtract(p, a, out=p)


def _nesterov(xp: Any, rates: Any, g: Any, p: Any, v: Any, a: Any, b: Any) -> Any:
    lr, momentum, decay = rates
    _decayed(xp, decay, g, p, a)
    xp.multiply(v, momentum, out=v)
    xp.add(v, a, out=v)
    xp.multiply(v, momentum, out=b)
    xp.add(a, b, out=a)
    xp.multiply(a, lr, out=a)
    return xp.subtract(p, a, out=p)


def _step(xp: Any, lr: Any, eps: Any, g: Any, p: Any, s: Any, root: Any) -> Any:
    xp.sqrt(s, out=root)
    xp.add(root, eps, out=root)
    xp.divide(g, root, out=root)
    xp.multiply(root, lr, out=root)
    return xp.subtract(p, root, out=p)


def _average(xp: Any, keep: Any, share: Any, x: Any, s: Any, spare: Any) -> None:
    xp.multiply(x, x, out=spare)
    xp.multiply(spare, share, out=spare)
    xp.multiply(s, keep, out=s)
    xp.add(s, spare, out=s)


def _adagrad(xp: Any, rates: Any, g: Any, p: Any, s: Any, a: Any, b: Any) -> Any:
    lr, eps, decay = rates
    _decayed(xp, decay, g, p, a)
    xp.multiply(a, a, out=b)
    xp.add(s, b, out=s)
    return _step(xp, lr, eps, a, p, s, b)


def _rmsprop(xp: Any, rates: Any, g: Any, p: Any, s: Any, a: Any, b: Any) -> Any:
    lr, keep, share, eps, decay = rates
    _decayed(xp, decay, g, p, a)
    _average(xp, keep, share, a, s, b)
    return _step(xp, lr, eps, a, p, s, b)


def _adadelta(xp: Any, rates: Any, g: Any, p: Any, s: Any, u: Any, a: Any, b: Any) -> Any:
    lr, keep, share, eps, decay = rates
    _decayed(xp, decay, g, p, a)
    _average(xp, keep, share, a, s, b)
    xp.add(s, eps, out=b)
    xp.divide(a, xp.sqrt(b, out=b), out=a)
    xp.add(u, eps, out=b)
    xp.multiply(a, xp.sqrt(b, out=b), out=a)
    _average(xp, keep, share, a, u, b)
    xp.multiply(a, lr, out=a)
    return xp.subtract(p, a, out=p)


def _averages(xp: Any, rates: Any, g: Any, m: Any, v: Any, spare: Any) -> None:
    _, share1, keep2, share2, *_ = rates
    xp.multiply(m, 1 - share1, out=m)
    xp.multiply(g, share1, out=spare)
    xp.add(m, spare, out=m)
    _average(xp, keep2, share2, g, v, spare)


def _adam_step(xp: Any, rates: Any, p: Any, m: Any, v: Any, spare: Any) -> Any:
    length, *_, root, eps, _ = rates
    xp.sqrt(v, out=spare)
    xp.multiply(spare, root, out=spare)
    xp.add(spare, eps, out=spare)
    xp.divide(m, spare, out=spare)
    xp.multiply(spare, length, out=spare)
    return xp.subtract(p, spare, out=p)


def _adam(xp: Any, rates: Any, g: Any, p: Any, m: Any, v: Any, a: Any, b: Any) -> Any:
    _decayed(xp, rates[-1], g, p, a)
    _averages(xp, rates, a, m, v, b)
    return _adam_step(xp, rates, p, m, v, b)


def _adamw(xp: Any, rates: Any, g: Any, p: Any, m: Any, v: Any, _a: Any, b: Any) -> Any:
    xp.multiply(p, 1 - rates[-1], out=p)
    _averages(xp, rates, g, m, v, b)
    return _adam_step(xp, rates, p, m, v, b)


_WORK: dict[str, Callable[..., Any]] = {
    "sgd": _sgd, "momentum": _momentum, "nesterov": _nesterov, "adagrad": _adagrad,
    "rmsprop": _rmsprop, "adadelta": _adadelta, "adam": _adam, "adamw": _adamw,
}  # fmt: skip


# ---- clipping -------------------------------------------------------------------------------


@group(*clip.SQUARE_SUM_VARIANTS)
def _square_sum(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_003, 10_000_000, 100_000_000)
    x = random(n)
    partials, out = poisoned(variant.grid("bench", n), np.float32), poisoned((1,), np.float32)
    scale, blocks = poisoned((1,), np.float32), partials.shape[0]
    finish = launched(clip.CLIP_SCALE, (1,), partials, np.float32(1), out, scale)
    parts = variant.cost(n), clip.CLIP_SCALE.cost(blocks)
    return comparison(
        name,
        f"{n:,}",
        Launches(launched(variant, (n,), x, 0, partials), finish),
        lambda xp, x: xp.sqrt(xp.dot(x, x)),
        out,
        given=(x,),
        terms=n,
        expected=lambda: np.sqrt([variant.reference(x)]),
        cost=launch.Cost(sum(part.bytes for part in parts), sum(part.flops for part in parts)),
        least=x.nbytes,
    )


@group(clip.CLIP_SCALE)
def _clip_scale(name: str, variant: Variant, quick: bool) -> Comparison:
    blocks = pick(quick, 300, 1024, 1024)
    partials, out = np.abs(random(blocks)), poisoned((1,), np.float32)
    norm, most = poisoned((1,), np.float32), np.float32(2)
    return comparison(
        name,
        f"{blocks:,}",
        launched(variant, (1,), partials, most, norm, out),
        lambda xp, partials: xp.minimum(most / (xp.sqrt(xp.sum(partials)) + clip.EPS), 1),
        out,
        given=(partials,),
        terms=blocks,
        expected=lambda: np.minimum(
            2 / (np.sqrt(partials.sum(dtype=np.float64, keepdims=True)) + clip.EPS), 1
        ),
        cost=variant.cost(blocks),
    )


@group(*clip.SCALE_VARIANTS)
def _scale(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_003, 10_000_000, 100_000_000)
    x, mine, factor = random(n), random(n).copy(), np.ones(1, np.float32)
    out = launch.to_device(x.copy())
    return comparison(
        name,
        f"{n:,}",
        launched(variant, (n,), factor, out),
        lambda xp, mine: xp.multiply(mine, factor[0], out=mine),
        out,
        given=(mine,),
        expected=lambda: x.astype(np.float64),
        cost=variant.cost(n),
    )


# ---- bias and activation in one pass ---------------------------------------------------------


@group(*bias_activation.VARIANTS[:3])
def _bias_forward(name: str, variant: Variant, quick: bool) -> Comparison:
    rows, cols = pick(quick, (300, 100), (20_000, 500), (100_000, 1000))
    x, bias, mine = random(rows, cols), random(cols, draw=1), np.empty((rows, cols), np.float32)
    out = poisoned((rows, cols), np.float32)

    def work(xp: Any, x: Any, bias: Any, mine: Any) -> Any:
        xp.add(x, bias, out=mine)
        if name == "bias_relu":
            xp.maximum(mine, 0, out=mine)
        elif name == "bias_gelu":
            below = xp.empty_like(mine)
            _normal_below(xp, mine, below)
            xp.multiply(mine, below, out=mine)
        return mine

    return comparison(
        name,
        f"{rows} x {cols}",
        launched(variant, (cols, rows), x, bias, out),
        work,
        out,
        given=(x, bias, mine),
        expected=lambda: variant.reference(x, bias),
        cost=variant.cost(rows, cols),
    )


@group(*bias_activation.VARIANTS[3:])
def _bias_backward(name: str, variant: Variant, quick: bool) -> Comparison:
    rows, cols = pick(quick, (600, 100), (20_000, 500), (100_000, 1000))
    grad, x, bias = random(rows, cols), random(rows, cols, draw=1), random(cols, draw=2)
    told = (x,) if name == "bias_relu_grad" else (x, bias)
    mine, out = np.empty((rows, cols), np.float32), poisoned((rows, cols), np.float32)
    chunks = columns.chunks_of(rows)
    sums = poisoned((chunks, cols), np.float32)

    def relu(xp: Any, grad: Any, y: Any, mine: Any) -> Any:
        xp.multiply(grad, xp.greater(y, 0), out=mine)
        xp.sum(mine, axis=0)
        return mine

    def gelu(xp: Any, grad: Any, x: Any, bias: Any, mine: Any) -> Any:
        value = x + bias
        _normal_below(xp, value, mine)
        value *= xp.exp(value * value * np.float32(-0.5)) * np.float32(activations_grad.PEAK)
        xp.add(mine, value, out=mine)
        xp.multiply(mine, grad, out=mine)
        xp.sum(mine, axis=0)
        return mine

    return comparison(
        name,
        f"{rows} x {cols}",
        launched(variant, (cols, chunks), grad, *told, out, sums),
        relu if name == "bias_relu_grad" else gelu,
        out,
        given=(grad, *told, mine),
        expected=lambda: variant.reference(grad, *told)[0],
        cost=variant.cost(rows, cols),
    )


# ---- the backward pass of a layer in three ways ----------------------------------------------


@group(*sharing.VARIANTS)
def _backprop(name: str, variant: Variant, quick: bool) -> Comparison:
    n, i, o, k = pick(quick, (5, 40, 37, 6), (64, 784, 128, 10), (256, 4096, 1024, 1024))
    x, weight, above = random(n, i), random(k, o, draw=1), random(n, k, draw=2)
    y = 1 / (1 + np.exp(-random(n, o, draw=3)))
    deltas, out = poisoned((n, o), np.float32), poisoned((o, i), np.float32)
    one_block, alone = name == "backprop_by_layer", name == "backprop_delta"
    sizes = (1,) if one_block else (o, n) if alone else (i, o)
    arrays = (above, weight, y, deltas) if alone else (above, weight, y, x, deltas, out)

    def expected() -> Any:
        delta = np.asarray(above, np.float64) @ weight * y * (1 - y)
        return delta if alone else delta.T @ x

    def work(_: Any, above: Any, weight: Any, y: Any, x: Any) -> Any:
        delta = above @ weight * y * (1 - y)
        return delta if alone else delta.T @ x

    return comparison(
        name,
        f"{n} x {i} to {o} to {k}",
        launched(variant, sizes, *arrays),
        work,
        deltas if alone else out,
        given=(above, weight, y, x),
        expected=expected,
        cost=variant.cost(n, o, k) if alone else variant.cost(n, i, o, k),
        terms=n + k,
    )
