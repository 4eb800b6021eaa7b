"""Cases of softmax, losses and gradients. What is added up lies along axis 1 of each array."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit import launch
from gpukit.bench.register import Launches, comparison, group, launched, pick, poisoned, random
from gpukit.bench.timing import Comparison
from gpukit.kernels.losses import entropy, mse, totals
from gpukit.kernels.softmax import backward, groups, log, threads
from gpukit.launch import Cost, Variant

Sizes = tuple[int, ...]


def _sizes(name: str, quick: bool) -> Sizes:
    """Return rows and columns, or outer, n and inner where rows lie side by side."""
    if name.endswith("_inner"):
        sizes: Sizes = pick(quick, (3, 37, 65), (10, 1000, 1000), (64, 1000, 4096))
    else:
        sizes = pick(quick, (37, 300), (10_000, 1000), (65_536, 4096))
    return sizes


def _grid(sizes: Sizes) -> Sizes:
    """Return what a variant covers along x and y: rows, or the inner and the outer axis."""
    return sizes[:1] if len(sizes) == 2 else (sizes[2], sizes[0])


def _text(sizes: Sizes) -> str:
    return " x ".join(map(str, sizes))


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


@group(threads.VARIANTS[3], threads.VARIANTS[4], *groups.VARIANTS, *log.VARIANTS)
def _softmax(name: str, variant: Variant, quick: bool) -> Comparison:
    sizes = _sizes(name, quick)
    x, mine, out = random(*sizes), np.empty(sizes, np.float32), poisoned(sizes, np.float32)
    work = _log_softmax_by if name.startswith("log") else _softmax_by
    return comparison(
        name, _text(sizes), launched(variant, _grid(sizes), x, out), work, out,
        given=(x, mine), expected=lambda: variant.reference(x, 1), cost=variant.cost(*sizes),
        terms=sizes[1],
    )  # fmt: skip


@group(*threads.VARIANTS[:3])
def _three_pass(name: str, variant: Variant, quick: bool) -> Comparison:
    """Time the first launch alone, the first two, or all three."""
    rows, cols = _sizes(name, quick)
    x, mine = random(rows, cols), np.empty((rows, cols), np.float32)
    out = poisoned((rows, cols), np.float32)
    best, total = poisoned((rows,), np.float32), poisoned((rows,), np.float32)
    arrays = (launch.to_device(x), best, total, out)
    passes = threads.VARIANTS[: threads.VARIANTS.index(variant) + 1]
    parts = [
        launched(part, (rows,), *arrays[: at + 1], *arrays[at + 1 : at + 2])
        for at, part in enumerate(passes)
    ]
    costs = [part.cost(rows, cols) for part in passes]

    def work(xp: Any, x: Any, mine: Any) -> Any:
        if name == "softmax_max":
            return x.max(axis=1)
        if name == "softmax_sum":
            return _powers(xp, x, mine)[:, 0]
        return _softmax_by(xp, x, mine)

    def expected() -> Any:
        if name == "softmax_max":
            return x.max(axis=1)
        return _sums(x) if name == "softmax_sum" else variant.reference(x)

    return comparison(
        name, _text((rows, cols)), Launches(*parts), work, arrays[len(passes)],
        given=(x, mine), expected=expected, terms=cols, least=x.nbytes,
        cost=Cost(sum(cost.bytes for cost in costs), sum(cost.flops for cost in costs)),
    )  # fmt: skip


def _sums(x: Any) -> Any:
    return np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True)).sum(axis=1)


@group(*backward.VARIANTS)
def _backward(name: str, variant: Variant, quick: bool) -> Comparison:
    sizes = _sizes(name, quick)
    y, grad = np.empty(sizes, np.float32), random(*sizes, draw=1)
    logarithm = name.startswith("log")
    (_log_softmax_by if logarithm else _softmax_by)(np, random(*sizes), y)
    mine, out = np.empty(sizes, np.float32), poisoned(sizes, np.float32)

    def work(xp: Any, grad: Any, y: Any, mine: Any) -> None:
        if logarithm:
            xp.exp(y, out=mine)
            xp.multiply(mine, grad.sum(axis=1, keepdims=True), out=mine)
            xp.subtract(grad, mine, out=mine)
        else:
            xp.multiply(grad, y, out=mine)
            xp.subtract(grad, mine.sum(axis=1, keepdims=True), out=mine)
            xp.multiply(mine, y, out=mine)

    return comparison(
        name, _text(sizes), launched(variant, _grid(sizes), grad, y, out), work, out,
        given=(grad, y, mine), expected=lambda: variant.reference(grad, y, 1),
        cost=variant.cost(*sizes), terms=sizes[1],
    )  # fmt: skip


def _targets(rows: int, cols: int) -> Any:
    return np.random.default_rng(20261125).integers(0, cols, rows, np.int32)


@group(*entropy.VARIANTS)
def _cross_entropy(name: str, variant: Variant, quick: bool) -> Comparison:
    rows, cols = sizes = _sizes(name, quick)
    x, target, mine = random(rows, cols), _targets(rows, cols), np.empty(sizes, np.float32)
    losses, grad = poisoned((rows,), np.float32), poisoned(sizes, np.float32)
    one, ignored = np.ones(1, np.float32), -100

    def work(xp: Any, x: Any, target: Any, mine: Any) -> Any:
        total = _powers(xp, x, mine)
        everywhere = xp.arange(len(x))
        if variant is entropy.GRAD:
            xp.divide(mine, total, out=mine)
            mine[everywhere, target] -= 1
            return mine
        return xp.log(total[:, 0]) + x.max(axis=1) - x[everywhere, target]

    arguments: tuple[Any, ...] = (x, target, ignored, losses)
    if variant is entropy.GRAD:
        arguments = (x, target, ignored, one, one, losses, grad)
    return comparison(
        name, _text(sizes), launched(variant, (rows,), *arguments), work, arguments[-1],
        given=(x, target, mine), expected=lambda: variant.reference(x, target),
        cost=variant.cost(*sizes), terms=cols,
    )  # fmt: skip


@group(*totals.VARIANTS)
def _totals(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 1000, 10_000, 65_536)
    losses, target, counted = random(n), _targets(n, 10), np.full(1, n, np.float32)
    out = poisoned((1,), np.float32)
    if variant is totals.TOTAL:
        given: tuple[Any, ...] = (losses, counted)
        work: Any = lambda _, losses, counted: losses.sum(keepdims=True) / counted  # noqa: E731
    else:
        given = (target, 3)
        work = lambda xp, target, ignored: xp.count_nonzero(target != ignored)  # noqa: E731
    return comparison(
        name, f"{n:,}", launched(variant, (n,), *given, out), work, out,
        given=given, expected=lambda: np.array([variant.reference(*given)]), cost=variant.cost(n),
        terms=n,
    )  # fmt: skip


@group(*mse.VARIANTS)
def _mse(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, target, mine = random(n), random(n, draw=1), np.empty(n, np.float32)
    slope = np.float32(2 / n)
    more = (np.ones(1, np.float32), slope) if variant is mse.GRAD else ()
    out = poisoned((1,) if variant is mse.SUM else (n,), np.float32)
    ours = launched(variant, (n,), x, target, *more, out)
    if variant is mse.SUM:
        parts, one = poisoned(variant.grid("bench", n), np.float32), np.ones(1, np.float32)
        finish = launched(totals.TOTAL, parts.shape, parts, one, out)
        ours = Launches(launched(variant, (n,), x, target, parts), finish)

    def work(xp: Any, x: Any, target: Any, mine: Any) -> Any:
        xp.subtract(x, target, out=mine)
        xp.multiply(mine, slope if variant is mse.GRAD else mine, out=mine)
        return mine.sum(keepdims=True) if variant is mse.SUM else mine

    return comparison(
        name, f"{n:,}", ours, work, out,
        given=(x, target, mine), cost=variant.cost(n), least=2 * x.nbytes + out.nbytes,
        expected=lambda: np.reshape(variant.reference(x, target, *more), out.shape),
        terms=n if variant is mse.SUM else 1,
    )  # fmt: skip
