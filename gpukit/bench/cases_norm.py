"""Cases of numbers by chance, dropout, moved images, embeddings, normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.bench.register import (
    Launch,
    Launches,
    comparison,
    group,
    launched,
    pick,
    poisoned,
    random,
    zeroed,
)
from gpukit.bench.timing import Comparison
from gpukit.kernels import (
    augment,
    batch_norm,
    batch_norm_grad,
    dropout,
    embedding,
    layer_norm,
    layer_norm_grad,
    philox,
)
from gpukit.launch import Variant

SEED = 20261125
EPS = np.float32(1e-5)


def _draw(xp: Any, mine: Any) -> None:
    """Fill an array with a library's own random numbers."""
    xp.random.default_rng(SEED).random(dtype=np.float32, out=mine)


@group(*philox.VARIANTS)
def _rand(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    chance, out = philox.rand_reference(n, SEED).astype(np.float32), poisoned((n,), np.float32)

    def rand(xp: Any, chance: Any, mine: Any) -> Any:
        _draw(xp, mine)  # others than ours, so the answer are the right ones
        return chance

    return comparison(
        name, f"{n:,}", launched(variant, (n,), np.uint64(SEED), np.uint64(0), out), rand, out,
        given=(chance, np.empty(n, np.float32)), expected=lambda: variant.reference(n, SEED),
        cost=variant.cost(n),
    )  # fmt: skip


@group(*dropout.VARIANTS)
def _dropout(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, out = random(n), poisoned((n,), np.float32)
    chance = philox.rand_reference(n, SEED).astype(np.float32)
    arguments = x, np.float32(0.5), np.float32(2), np.uint64(SEED), np.uint64(0), out

    def work(xp: Any, x: Any, chance: Any, mine: Any) -> None:
        _draw(xp, mine)  # it costs what it costs; but with our numbers the answers are the same
        kept = chance >= np.float32(0.5)
        xp.multiply(x, kept, out=mine)
        xp.multiply(mine, np.float32(2), out=mine)

    return comparison(
        name, f"{n:,}", launched(variant, (n,), *arguments), work, out,
        given=(x, chance, np.empty(n, np.float32)),
        expected=lambda: variant.reference(x, 0.5, SEED), cost=variant.cost(n),
    )  # fmt: skip


@group(*augment.VARIANTS)
def _augment(name: str, variant: Variant, quick: bool) -> Comparison:
    n, most = pick(quick, 20, 1000, 10_000), 4
    x, out = random(n, 3, 32, 32), poisoned((n, 3, 32, 32), np.float32)
    chance = philox.rand_reference(3 * n, SEED).astype(np.float32).reshape(n, 3)
    padded = np.zeros((n, 3, 32 + 2 * most, 32 + 2 * most), np.float32)

    def work(xp: Any, x: Any, chance: Any, padded: Any, mine: Any) -> None:
        padded[:, :, most:-most, most:-most] = x
        moved = xp.floor(chance[:, :2] * np.float32(2 * most + 1))
        for image in range(n):
            row, col = int(moved[image, 0]), int(moved[image, 1])
            whole = padded[image, :, :, ::-1] if chance[image, 2] < 0.5 else padded[image]
            mine[image] = whole[:, row : row + 32, col : col + 32]

    arguments = x, chance, most, True, np.float32(0), out
    return comparison(
        name, f"{n} x 3 x 32 x 32", launched(variant, (x.size,), *arguments), work, out,
        given=(x, chance, padded, np.empty_like(x)),
        expected=lambda: variant.reference(x, chance, most, True), cost=variant.cost(x.size),
        least=2 * x.nbytes + chance.nbytes,
    )  # fmt: skip


def _table(quick: bool) -> tuple[int, int, int, Any]:
    """Return how many indices there are, the height and width of the table, and the indices."""
    n, rows, cols = pick(quick, (500, 700, 96), (13_000, 5000, 768), (65_536, 50_257, 768))
    return n, rows, cols, np.random.default_rng(SEED).integers(0, rows, n)


@group(embedding.VARIANTS[0])
def _embedding(name: str, variant: Variant, quick: bool) -> Comparison:
    n, rows, cols, index = _table(quick)
    weight, out = random(rows, cols), poisoned((n, cols), np.float32)
    return comparison(
        name, f"{n} of {rows} x {cols}", launched(variant, (cols, n), index, weight, out),
        lambda xp, index, weight, mine: xp.take(weight, index, axis=0, out=mine), out,
        given=(index, weight, np.empty((n, cols), np.float32)),
        expected=lambda: variant.reference(index, weight), cost=variant.cost(n, cols),
        least=2 * 4 * n * cols + index.nbytes,
    )  # fmt: skip


@group(*embedding.GRAD_VARIANTS)
def _embedding_grad(name: str, variant: Variant, quick: bool) -> Comparison:
    n, rows, cols, index = _table(quick)
    grad, out = random(n, cols), poisoned((rows, cols), np.float32)
    mine = np.empty((rows, cols), np.float32)
    sizes = (cols,) if name.endswith("column") else (cols, n)

    def add_at(xp: Any, grad: Any, index: Any, mine: Any) -> None:
        mine[:] = 0
        xp.add.at(mine, index, grad)

    return comparison(
        name, f"{n} to {rows} x {cols}",
        Launches(zeroed(out.reshape(-1)), launched(variant, sizes, grad, index, out)), add_at, out,
        given=(grad, index, mine), terms=8, expected=lambda: variant.reference(grad, index, rows),
        cost=variant.cost(n, cols), least=grad.nbytes + index.nbytes + mine.nbytes,
    )  # fmt: skip


def _matrix(quick: bool) -> tuple[int, int]:
    return pick(quick, (300, 333), (10_000, 1000), (100_000, 1000))  # type: ignore[no-any-return]


@group(*layer_norm.VARIANTS)
def _layer_norm(name: str, variant: Variant, quick: bool) -> Comparison:
    rows, cols = _matrix(quick)
    x, weight, bias = random(rows, cols), random(cols), random(cols, draw=1)
    out = poisoned((rows, cols), np.float32)
    stats = [poisoned((rows,), np.float32) for _ in range(2)]
    grid, shared = variant.grid("bench", rows), 4 * cols if variant.name == "block" else 0

    def normalise(xp: Any, x: Any, weight: Any, bias: Any, mine: Any) -> None:
        xp.subtract(x, x.mean(axis=1, keepdims=True), out=mine)
        xp.divide(mine, xp.sqrt(x.var(axis=1, keepdims=True) + EPS), out=mine)
        xp.multiply(mine, weight, out=mine)
        xp.add(mine, bias, out=mine)

    return comparison(
        name, f"{rows} x {cols}",
        Launch(variant.kernel, grid, variant.block, x, weight, bias, EPS, *stats, out,
               shared=shared),
        normalise, out, given=(x, weight, bias, np.empty((rows, cols), np.float32)),
        expected=lambda: variant.reference(x, weight, bias), cost=variant.cost(rows, cols),
    )  # fmt: skip


@group(*layer_norm_grad.VARIANTS)
def _layer_norm_grad(name: str, variant: Variant, quick: bool) -> Comparison:
    rows, cols = _matrix(quick)
    grad, x, weight = random(rows, cols, draw=1), random(rows, cols), random(cols)
    mean = x.mean(axis=1)
    rstd = 1 / np.sqrt(x.var(axis=1) + EPS)

    def by_row(_xp: Any, grad: Any, x: Any, mean: Any, rstd: Any, weight: Any) -> Any:
        y, g = (x - mean[:, None]) * rstd[:, None], grad * weight
        along = (g * y).mean(axis=1, keepdims=True)
        return (g - g.mean(axis=1, keepdims=True) - y * along) * rstd[:, None]

    def by_column(_xp: Any, grad: Any, x: Any, mean: Any, rstd: Any) -> Any:
        return (grad * ((x - mean[:, None]) * rstd[:, None])).sum(axis=0)

    if variant.name == "grad_input":
        out = poisoned((rows, cols), np.float32)
        ours = launched(variant, (rows,), grad, x, mean, rstd, weight, out)
        return comparison(
            name, f"{rows} x {cols}", ours, by_row, out, given=(grad, x, mean, rstd, weight),
            expected=lambda: variant.reference(grad, x, weight)[0], cost=variant.cost(rows, cols),
            terms=64,
        )  # fmt: skip
    out, rest = (poisoned((1, cols), np.float32) for _ in range(2))
    ours = launched(variant, (cols, 1), grad, x, mean, rstd, out, rest)
    return comparison(
        name, f"{rows} x {cols}", ours, by_column, out, given=(grad, x, mean, rstd), terms=rows,
        expected=lambda: variant.reference(grad, x)[1][None], cost=variant.cost(rows, cols, 1),
    )  # fmt: skip


def _images(quick: bool) -> tuple[Any, Any, Any, tuple[Any, ...]]:
    """Return a batch, a gradient of one, mean and variance, and what else channels need."""
    n, c, s = pick(quick, (5, 7, 901), (64, 32, 4900), (512, 64, 4900))
    x, grad = random(n, c, s), random(n, c, s, draw=1)
    mean, var = (part.astype(np.float32) for part in batch_norm.batch_stats_reference(x))
    return x, grad, (mean, var), (random(c), random(c, draw=1))


def _size(x: Any) -> str:
    return " x ".join(map(str, x.shape))


@group(batch_norm.VARIANTS[0])
def _batch_stats(name: str, variant: Variant, quick: bool) -> Comparison:
    x, *_ = _images(quick)
    c = x.shape[1]
    running, out = (np.zeros(c, np.float32), np.ones(c, np.float32)), poisoned((c,), np.float32)
    mean = poisoned((c,), np.float32)

    def stats(_xp: Any, x: Any) -> Any:
        x.mean(axis=(0, 2))
        return x.var(axis=(0, 2))

    return comparison(
        name, _size(x), launched(variant, (c,), x, np.float32(0.1), *running, mean, out), stats,
        out, given=(x,), terms=x.size // c, expected=lambda: variant.reference(x)[1],
        cost=variant.cost(*x.shape),
    )  # fmt: skip


@group(batch_norm.VARIANTS[1])
def _batch_norm(name: str, variant: Variant, quick: bool) -> Comparison:
    x, _, (mean, var), (weight, bias) = _images(quick)
    (n, c, s), out = x.shape, poisoned(x.shape, np.float32)

    def normalise(xp: Any, x: Any, mean: Any, var: Any, *rest: Any) -> None:
        weight, bias, mine = rest
        xp.subtract(x, mean[:, None], out=mine)
        xp.multiply(mine, (weight / xp.sqrt(var + EPS))[:, None], out=mine)
        xp.add(mine, bias[:, None], out=mine)

    return comparison(
        name, _size(x), launched(variant, (s, c, n), x, mean, var, EPS, weight, bias, out),
        normalise, out, given=(x, mean, var, weight, bias, np.empty_like(x)),
        expected=lambda: variant.reference(x, mean, var, weight, bias), cost=variant.cost(n, c, s),
    )  # fmt: skip


@group(*batch_norm_grad.VARIANTS)
def _batch_norm_grad(name: str, variant: Variant, quick: bool) -> Comparison:
    x, grad, stats, (weight, _) = _images(quick)
    n, c, s = x.shape
    right = variant.reference(grad, x, *stats, weight)
    sums = [part.astype(np.float32) for part in right[1:]]

    def by_channel(xp: Any, grad: Any, x: Any, mean: Any, var: Any) -> Any:
        grad.sum(axis=(0, 2))
        rstd = 1 / xp.sqrt(var + EPS)
        return (grad * ((x - mean[:, None]) * rstd[:, None])).sum(axis=(0, 2))

    def by_element(xp: Any, grad: Any, x: Any, mean: Any, var: Any, *rest: Any) -> Any:
        weight, along, total = rest
        rstd = 1 / xp.sqrt(var + EPS)
        y = (x - mean[:, None]) * rstd[:, None]
        through = (total[:, None] + y * along[:, None]) / (n * s)
        return (weight * rstd)[:, None] * (grad - through)

    known = grad, x, *stats
    if variant.name == "grad_weight":
        out, rest = (poisoned((c,), np.float32) for _ in range(2))
        ours = launched(variant, (c,), *known, EPS, out, rest)
        return comparison(
            name, _size(x), ours, by_channel, out, given=known, terms=n * s,
            expected=lambda: right[1], cost=variant.cost(n, c, s),
        )  # fmt: skip
    out, share = poisoned(x.shape, np.float32), np.float32(1 / (n * s))
    return comparison(
        name, _size(x), launched(variant, (s, c, n), *known, EPS, weight, *sums, share, out),
        by_element, out, given=(*known, weight, *sums), expected=lambda: right[0],
        cost=variant.cost(n, c, s),
    )  # fmt: skip
