"""Cases of softmax, losses and gradients. What is added up lies along axis 1 of each array."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit import launch
from gpukit.bench.calls import Launches, launched, poisoned, together
from gpukit.bench.register import Example, ThreeSizes, answered, example, group, past_a_tile, random
from gpukit.kernels.losses import entropy, mse, totals
from gpukit.kernels.softmax import backward, groups, log, threads
from gpukit.launch import Variant

# Rows and columns, or outer, n and inner where rows lie side by side.
ROWS = (37, 300), (10_000, 1000), (65_536, 4096)
INNER = (3, 37, 65), (10, 1000, 1000), (64, 1000, 4096)
MAX, SUM, THREE_PASS, THREAD, SOFTMAX_INNER = threads.VARIANTS
LOG_SOFTMAX, LOG_SOFTMAX_INNER = log.VARIANTS


def _sizes(variant: Variant) -> ThreeSizes:
    inner = (SOFTMAX_INNER, LOG_SOFTMAX_INNER, *backward.VARIANTS[2:])
    return INNER if variant in inner else ROWS


def _covered(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return what a variant covers along x and y: rows, or the inner and the outer axis."""
    return sizes[:1] if len(sizes) == 2 else (sizes[2], sizes[0])


def _powers(xp: Any, x: Any, mine: Any) -> Any:
    """Write e^(x - largest) and return its sums, which keep their axis."""
    xp.subtract(x, x.max(axis=1, keepdims=True), out=mine)
    xp.exp(mine, out=mine)
    return mine.sum(axis=1, keepdims=True)


def _softmax_by(xp: Any, x: Any, mine: Any) -> None:
    xp.divide(mine, _powers(xp, x, mine), out=mine)


def _log_softmax_by(xp: Any, x: Any, mine: Any) -> None:
    xp.subtract(x, x.max(axis=1, keepdims=True), out=mine)
    xp.subtract(mine, xp.log(xp.exp(mine).sum(axis=1, keepdims=True)), out=mine)


@group(THREAD, SOFTMAX_INNER, *groups.VARIANTS, *log.VARIANTS, sizes=_sizes)
def _softmax(variant: Variant, *sizes: int) -> Example:
    x, work = random(*sizes), _log_softmax_by if variant in log.VARIANTS else _softmax_by
    covers = _covered(sizes)
    return example(variant, covers, (x,), sizes, work, mine=True, told=(x, 1), terms=sizes[1])


def _largest(_xp: Any, x: Any, _mine: Any) -> Any:
    return x.max(axis=1)


def _sums(xp: Any, x: Any, mine: Any) -> Any:
    return _powers(xp, x, mine)[:, 0]


def _exact_sums(x: Any) -> Any:
    return np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True)).sum(axis=1)


@group(MAX, SUM, THREE_PASS, sizes=ROWS)
def _three_pass(variant: Variant, rows: int, cols: int) -> Example:
    """Time the first launch alone, the first two, or all three."""
    x, per_row = random(rows, cols), poisoned((rows,), np.float32)
    out = poisoned((rows, cols), np.float32)
    arrays = launch.to_device(x), per_row, poisoned((rows,), np.float32), out
    passes = threads.VARIANTS[: threads.VARIANTS.index(variant) + 1]
    parts = [launched(part, (rows,), *arrays[: at + 2]) for at, part in enumerate(passes)]
    work = (_largest, _sums, _softmax_by)[len(passes) - 1]
    right = (lambda: x.max(axis=1), lambda: _exact_sums(x), lambda: variant.reference(x))
    return answered(
        variant,
        Launches(*parts),
        (x,),
        arrays[len(passes)],
        work,
        terms=cols,
        least=x.nbytes,
        given=(x, np.empty((rows, cols), np.float32)),
        expected=right[len(passes) - 1],
        cost=together(*(part.cost(rows, cols) for part in passes)),
    )


@group(*backward.VARIANTS, sizes=_sizes)
def _backward(variant: Variant, *sizes: int) -> Example:
    y, grad = np.empty(sizes, np.float32), random(*sizes, draw=1)
    logarithm = variant in backward.VARIANTS[1::2]
    (_log_softmax_by if logarithm else _softmax_by)(np, random(*sizes), y)

    def work(xp: Any, grad: Any, y: Any, mine: Any) -> None:
        if logarithm:
            xp.exp(y, out=mine)
            xp.multiply(mine, grad.sum(axis=1, keepdims=True), out=mine)
            xp.subtract(grad, mine, out=mine)
        else:
            xp.multiply(grad, y, out=mine)
            xp.subtract(grad, mine.sum(axis=1, keepdims=True), out=mine)
            xp.multiply(mine, y, out=mine)

    inputs, covers = (grad, y), _covered(sizes)
    return example(
        variant, covers, inputs, sizes, work, mine=True, told=(*inputs, 1), terms=sizes[1]
    )


# ---- losses ---------------------------------------------------------------------------------

ONE = np.ones(1, np.float32)


def _targets(rows: int, cols: int) -> Any:
    return np.random.default_rng(20261125).integers(0, cols, rows, np.int32)


@group(*entropy.VARIANTS, sizes=ROWS)
def _cross_entropy(variant: Variant, rows: int, cols: int) -> Example:
    given, ignored = (random(rows, cols), _targets(rows, cols)), -100
    mine = np.empty((rows, cols), np.float32)
    inputs: tuple[Any, ...] = (*given, ignored)
    shape: tuple[int, ...] = (rows,)
    if variant is entropy.GRAD:
        inputs, shape = (*inputs, ONE, ONE, poisoned(shape, np.float32)), (rows, cols)

    def work(xp: Any, x: Any, target: Any, mine: Any) -> Any:
        total = _powers(xp, x, mine)
        everywhere = xp.arange(len(x))
        if variant is entropy.GRAD:
            xp.divide(mine, total, out=mine)
            mine[everywhere, target] -= 1
            return mine
        return xp.log(total[:, 0]) + x.max(axis=1) - x[everywhere, target]

    return example(
        variant, (rows,), inputs, shape, work, given=(*given, mine), told=given, terms=cols
    )


MANY = (1000,), (10_000,), (65_536,)


@group(totals.TOTAL, sizes=MANY)
def _total(variant: Variant, n: int) -> Example:
    def work(_: Any, losses: Any, counted: Any) -> Any:
        return losses.sum(keepdims=True) / counted

    return example(variant, (n,), (random(n), np.full(1, n, np.float32)), (1,), work, terms=n)


@group(totals.COUNT, sizes=MANY)
def _count(variant: Variant, n: int) -> Example:
    def work(xp: Any, target: Any, ignored: Any) -> Any:
        return xp.count_nonzero(target != ignored)

    inputs = _targets(n, 10), 3
    return example(variant, (n,), inputs, (1,), work, given=inputs, terms=n)


@group(*mse.VARIANTS, sizes=((100_000,), (10_000_000,), (100_000_000,)), small=past_a_tile)
def _mse(variant: Variant, n: int) -> Example:
    x, target, slope = random(n), random(n, draw=1), np.float32(2 / n)
    inputs = (x, target, ONE, slope) if variant is mse.GRAD else (x, target)
    out = poisoned((1,) if variant is mse.SUM else (n,), np.float32)
    ours = launched(variant, (n,), *inputs, out)
    if variant is mse.SUM:
        parts = poisoned(variant.grid("bench", n), np.float32)
        ours = Launches(
            launched(variant, (n,), x, target, parts),
            launched(totals.TOTAL, parts.shape, parts, ONE, out),
        )

    def work(xp: Any, x: Any, target: Any, mine: Any) -> Any:
        xp.subtract(x, target, out=mine)
        xp.multiply(mine, slope if variant is mse.GRAD else mine, out=mine)
        return mine.sum(keepdims=True) if variant is mse.SUM else mine

    return answered(
        variant,
        ours,
        inputs,
        out,
        work,
        given=(x, target, np.empty(n, np.float32)),
        least=2 * x.nbytes + out.nbytes,
        terms=n if variant is mse.SUM else 1,
    )
