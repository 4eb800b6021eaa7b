"""Cases of kernels that train: optimizers, clipping, backward passes, bias and activation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpukit import launch
from gpukit.bench.calls import Launches, launched, poisoned, together
from gpukit.bench.register import Example, answered, example, group, random
from gpukit.bench.rivals import normal_below
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


N = (100_003,), (10_000_000,), (100_000_000,)


@group(*gradient.VARIANTS, *adaptive.VARIANTS, *adam.VARIANTS, sizes=N)
def _optimizer(variant: Variant, n: int) -> Example:
    short = variant.name.removesuffix("_vectorized")
    states = variant.kernel.py_func.__code__.co_argcount - 3
    rates, told = RATES[short]
    numbers = tuple(map(np.float32, rates))
    param, grad = random(n), random(n, draw=1)
    state = [np.abs(random(n, draw=2 + k)) for k in range(states)]
    # Updated in place: the answer of the first launch is the one that is checked.
    out = launch.to_device(param.copy())
    after = [launch.to_device(x.copy()) for x in state]
    ours = launched(variant, (n,), out, grad, *after, numbers)
    mine, spare = [x.copy() for x in (param, *state)], [np.empty(n, np.float32) for _ in range(2)]

    def work(xp: Any, grad: Any, *given: Any) -> Any:
        return _WORK[short](xp, numbers, grad, *given)

    return answered(
        variant,
        ours,
        (),
        out,
        work,
        given=(grad, *mine, *spare),
        told=(param, grad, *state),
        named={"lr": LR, "weight_decay": DECAY, **told},
        part=0 if states else None,
        terms=8,
    )


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
    "sgd": _sgd,
    "momentum": _momentum,
    "nesterov": _nesterov,
    "adagrad": _adagrad,
    "rmsprop": _rmsprop,
    "adadelta": _adadelta,
    "adam": _adam,
    "adamw": _adamw,
}


# ---- clipping -------------------------------------------------------------------------------


@group(*clip.SQUARE_SUM_VARIANTS, sizes=N)
def _square_sum(variant: Variant, n: int) -> Example:
    x, partials = random(n), poisoned(variant.grid("bench", n), np.float32)
    out, scale = (poisoned((1,), np.float32) for _ in range(2))
    finish = launched(clip.CLIP_SCALE, (1,), partials, np.float32(1), out, scale)

    def work(xp: Any, x: Any) -> Any:
        return xp.sqrt(xp.dot(x, x))

    return answered(
        variant,
        Launches(launched(variant, (n,), x, 0, partials), finish),
        (x,),
        out,
        work,
        terms=n,
        expected=lambda: np.sqrt([variant.reference(x)]),
        least=x.nbytes,
        cost=together(variant.cost(n), clip.CLIP_SCALE.cost(partials.shape[0])),
    )


@group(clip.CLIP_SCALE, sizes=((300,), (1024,), (1024,)))
def _clip_scale(variant: Variant, blocks: int) -> Example:
    partials, norm, most = np.abs(random(blocks)), poisoned((1,), np.float32), np.float32(2)

    def work(xp: Any, partials: Any) -> Any:
        return xp.minimum(most / (xp.sqrt(xp.sum(partials)) + clip.EPS), 1)

    return example(
        variant,
        (1,),
        (partials, most, norm),
        (1,),
        work,
        given=(partials,),
        terms=blocks,
        expected=lambda: np.minimum(
            2 / (np.sqrt(partials.sum(dtype=np.float64, keepdims=True)) + clip.EPS), 1
        ),
    )


@group(*clip.SCALE_VARIANTS, sizes=N)
def _scale(variant: Variant, n: int) -> Example:
    x, factor = random(n), np.ones(1, np.float32)

    def work(xp: Any, mine: Any) -> Any:
        return xp.multiply(mine, factor[0], out=mine)

    return example(
        variant,
        (n,),
        (factor,),
        launch.to_device(x.copy()),
        work,
        given=(x.copy(),),
        expected=lambda: x.astype(np.float64),
    )


# ---- bias and activation in one pass ---------------------------------------------------------


ADD_BIAS, BIAS_RELU, BIAS_GELU, RELU_GRAD, GELU_GRAD = bias_activation.VARIANTS


@group(ADD_BIAS, BIAS_RELU, BIAS_GELU, sizes=((300, 100), (20_000, 500), (100_000, 1000)))
def _bias_forward(variant: Variant, rows: int, cols: int) -> Example:
    def work(xp: Any, x: Any, bias: Any, mine: Any) -> Any:
        xp.add(x, bias, out=mine)
        if variant is BIAS_RELU:
            xp.maximum(mine, 0, out=mine)
        elif variant is BIAS_GELU:
            below = xp.empty_like(mine)
            normal_below(xp, mine, below)
            xp.multiply(mine, below, out=mine)
        return mine

    inputs = random(rows, cols), random(cols, draw=1)
    return example(variant, (cols, rows), inputs, (rows, cols), work, mine=True)


def _relu_back(xp: Any, grad: Any, y: Any, mine: Any) -> Any:
    xp.multiply(grad, xp.greater(y, 0), out=mine)
    xp.sum(mine, axis=0)
    return mine


def _gelu_back(xp: Any, grad: Any, x: Any, bias: Any, mine: Any) -> Any:
    value = x + bias
    normal_below(xp, value, mine)
    value *= xp.exp(value * value * np.float32(-0.5)) * np.float32(activations_grad.PEAK)
    xp.add(mine, value, out=mine)
    xp.multiply(mine, grad, out=mine)
    xp.sum(mine, axis=0)
    return mine


@group(RELU_GRAD, GELU_GRAD, sizes=((600, 100), (20_000, 500), (100_000, 1000)))
def _bias_backward(variant: Variant, rows: int, cols: int) -> Example:
    of_gelu, chunks = variant is GELU_GRAD, columns.chunks_of(rows)
    bias = (random(cols, draw=2),) if of_gelu else ()
    return example(
        variant,
        (cols, chunks),
        (random(rows, cols), random(rows, cols, draw=1), *bias),
        (rows, cols),
        _gelu_back if of_gelu else _relu_back,
        after=(poisoned((chunks, cols), np.float32),),
        mine=True,
        part=0,
    )


# ---- the backward pass of a layer in three ways ----------------------------------------------


BY_LAYER, BY_WEIGHT, DELTA = sharing.VARIANTS


@group(*sharing.VARIANTS, sizes=((5, 40, 37, 6), (64, 784, 128, 10), (256, 4096, 1024, 1024)))
def _backprop(variant: Variant, n: int, i: int, o: int, k: int) -> Example:
    x, weight, above = random(n, i), random(k, o, draw=1), random(n, k, draw=2)
    y = 1 / (1 + np.exp(-random(n, o, draw=3)))
    deltas, out, alone = (
        poisoned((n, o), np.float32),
        poisoned((o, i), np.float32),
        variant is DELTA,
    )
    ours = launched(
        variant, (1,) if variant is BY_LAYER else (i, o), above, weight, y, x, deltas, out
    )
    if alone:
        ours = launched(variant, (o, n), above, weight, y, deltas)

    def work(_: Any, above: Any, weight: Any, y: Any, x: Any) -> Any:
        delta = above @ weight * y * (1 - y)
        return delta if alone else delta.T @ x

    return answered(
        variant,
        ours,
        (above, weight, y, x),
        deltas if alone else out,
        work,
        terms=n + k,
        expected=lambda: work(np, np.asarray(above, np.float64), weight, y, x),
        cost=variant.cost(n, o, k) if alone else None,
        size=f"{n} x {i} to {o} to {k}",
    )
