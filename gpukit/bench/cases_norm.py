"""Cases of numbers by chance, dropout, moved images, embeddings, normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.bench.calls import Launches, launched, poisoned, zeroed
from gpukit.bench.register import Example, answered, example, group, random
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
N = (100_000,), (10_000_000,), (100_000_000,)


def _draw(xp: Any, mine: Any) -> None:
    """Fill an array with a library's own random numbers."""
    xp.random.default_rng(SEED).random(dtype=np.float32, out=mine)


def _chance(n: int) -> Any:
    """Return the random numbers of our kernels."""
    return philox.rand_reference(n, SEED).astype(np.float32)


@group(*philox.VARIANTS, sizes=N)
def _rand(variant: Variant, n: int) -> Example:
    def work(xp: Any, chance: Any, mine: Any) -> Any:
        _draw(xp, mine)  # others than ours, so the answer are the right ones
        return chance

    inputs = np.uint64(SEED), np.uint64(0)
    return example(
        variant, (n,), inputs, (n,), work, given=(_chance(n),), mine=True, told=(n, SEED)
    )


@group(*dropout.VARIANTS, sizes=N)
def _dropout(variant: Variant, n: int) -> Example:
    def work(xp: Any, x: Any, chance: Any, mine: Any) -> None:
        _draw(xp, mine)  # it costs what it costs; but with our numbers the answers are the same
        kept = chance >= np.float32(0.5)
        xp.multiply(x, kept, out=mine)
        xp.multiply(mine, np.float32(2), out=mine)

    x = random(n)
    inputs = x, np.float32(0.5), np.float32(2), np.uint64(SEED), np.uint64(0)
    given, told = (x, _chance(n)), (x, 0.5, SEED)
    return example(variant, (n,), inputs, (n,), work, given=given, mine=True, told=told)


@group(*augment.VARIANTS, sizes=((20, 3, 32, 32), (1000, 3, 32, 32), (10_000, 3, 32, 32)))
def _augment(variant: Variant, n: int, c: int, rows: int, cols: int) -> Example:
    x, chance, most = random(n, c, rows, cols), _chance(3 * n).reshape(n, 3), 4
    padded = np.zeros((n, c, rows + 2 * most, cols + 2 * most), np.float32)

    def work(xp: Any, x: Any, chance: Any, padded: Any, mine: Any) -> None:
        padded[:, :, most:-most, most:-most] = x
        moved = xp.floor(chance[:, :2] * np.float32(2 * most + 1))
        for image in range(n):
            row, col = int(moved[image, 0]), int(moved[image, 1])
            whole = padded[image, :, :, ::-1] if chance[image, 2] < 0.5 else padded[image]
            mine[image] = whole[:, row : row + rows, col : col + cols]

    return example(
        variant,
        (x.size,),
        (x, chance, most, True, np.float32(0)),
        x.shape,
        work,
        given=(x, chance, padded),
        mine=True,
        told=(x, chance, most, True),
        cost=variant.cost(x.size),
        least=2 * x.nbytes + chance.nbytes,
    )


# ---- embeddings -----------------------------------------------------------------------------

TABLE = (500, 700, 96), (13_000, 5000, 768), (65_536, 50_257, 768)  # indices; rows, columns


def _index(n: int, rows: int) -> Any:
    return np.random.default_rng(SEED).integers(0, rows, n)


@group(embedding.VARIANTS[0], sizes=TABLE)
def _embedding(variant: Variant, n: int, rows: int, cols: int) -> Example:
    def work(xp: Any, index: Any, weight: Any, mine: Any) -> Any:
        return xp.take(weight, index, axis=0, out=mine)

    inputs = index, _ = _index(n, rows), random(rows, cols)
    return example(
        variant,
        (cols, n),
        inputs,
        (n, cols),
        work,
        mine=True,
        cost=variant.cost(n, cols),
        least=2 * 4 * n * cols + index.nbytes,
        size=f"{n} of {rows} x {cols}",
    )


@group(*embedding.GRAD_VARIANTS, sizes=TABLE)
def _embedding_grad(variant: Variant, n: int, rows: int, cols: int) -> Example:
    inputs, out = (random(n, cols), _index(n, rows)), poisoned((rows, cols), np.float32)
    covers = (cols,) if variant.name == "column" else (cols, n)

    def work(xp: Any, grad: Any, index: Any, mine: Any) -> None:
        mine[:] = 0
        xp.add.at(mine, index, grad)

    return answered(
        variant,
        Launches(zeroed(out.reshape(-1)), launched(variant, covers, *inputs, out)),
        inputs,
        out,
        work,
        mine=True,
        told=(*inputs, rows),
        cost=variant.cost(n, cols),
        terms=8,
        size=f"{n} to {rows} x {cols}",
    )


# ---- normalisation --------------------------------------------------------------------------

ROWS = (300, 333), (10_000, 1000), (100_000, 1000)
GRAD_INPUT, GRAD_WEIGHT = layer_norm_grad.VARIANTS


@group(*layer_norm.VARIANTS, sizes=ROWS, small=[(11, 300), (2, 1)])
def _layer_norm(variant: Variant, rows: int, cols: int) -> Example:
    given = random(rows, cols), random(cols), random(cols, draw=1)
    stats = [poisoned((rows,), np.float32) for _ in range(2)]

    def work(xp: Any, x: Any, weight: Any, bias: Any, mine: Any) -> None:
        xp.subtract(x, x.mean(axis=1, keepdims=True), out=mine)
        xp.divide(mine, xp.sqrt(x.var(axis=1, keepdims=True) + EPS), out=mine)
        xp.multiply(mine, weight, out=mine)
        xp.add(mine, bias, out=mine)

    return example(
        variant,
        (rows,),
        (*given, EPS, *stats),
        (rows, cols),
        work,
        given=given,
        mine=True,
        told=given,
        shared=4 * cols if variant.name == "block" else 0,
    )


def _layer_norm_known(rows: int, cols: int) -> tuple[Any, ...]:
    """Return the gradient of the output, the input, and its means and 1 / deviations."""
    grad, x = random(rows, cols, draw=1), random(rows, cols)
    return grad, x, x.mean(axis=1), 1 / np.sqrt(x.var(axis=1) + EPS)


@group(GRAD_INPUT, sizes=ROWS, small=[(11, 70), (3, 1)])
def _layer_norm_grad_input(variant: Variant, rows: int, cols: int) -> Example:
    known, weight = _layer_norm_known(rows, cols), random(cols)

    def work(_: Any, grad: Any, x: Any, mean: Any, rstd: Any, weight: Any) -> Any:
        y, g = (x - mean[:, None]) * rstd[:, None], grad * weight
        along = (g * y).mean(axis=1, keepdims=True)
        return (g - g.mean(axis=1, keepdims=True) - y * along) * rstd[:, None]

    told = (*known[:2], weight)
    return example(
        variant, (rows,), (*known, weight), (rows, cols), work, told=told, part=0, terms=64
    )


@group(GRAD_WEIGHT, sizes=ROWS)
def _layer_norm_grad_weight(variant: Variant, rows: int, cols: int) -> Example:
    known, rest = _layer_norm_known(rows, cols), poisoned((1, cols), np.float32)

    def work(_: Any, grad: Any, x: Any, mean: Any, rstd: Any) -> Any:
        return (grad * ((x - mean[:, None]) * rstd[:, None])).sum(axis=0)

    return example(
        variant,
        (cols, 1),
        known,
        (1, cols),
        work,
        after=(rest,),
        told=known[:2],
        part=1,
        terms=rows,
    )


BATCH = (5, 7, 901), (64, 32, 4900), (512, 64, 4900)
STATS, NORMALISE = batch_norm.VARIANTS
GRAD_OF_WEIGHT, GRAD_OF_INPUT = batch_norm_grad.VARIANTS


def _batch(n: int, c: int, s: int) -> tuple[Any, ...]:
    """Return images, their mean and variance, and the weights and biases of channels."""
    x = random(n, c, s)
    mean, var = (part.astype(np.float32) for part in batch_norm.batch_stats_reference(x))
    return x, mean, var, random(c), random(c, draw=1)


CHANNELS = [(2, 3, 300), (5, 2, 1)]


@group(STATS, sizes=BATCH, small=CHANNELS)
def _batch_stats(variant: Variant, n: int, c: int, s: int) -> Example:
    x, mean = random(n, c, s), poisoned((c,), np.float32)
    inputs = x, np.float32(0.1), np.zeros(c, np.float32), np.ones(c, np.float32), mean

    def work(_: Any, x: Any) -> Any:
        x.mean(axis=(0, 2))
        return x.var(axis=(0, 2))

    return example(
        variant, (c,), inputs, (c,), work, given=(x,), told=(x,), part=1, terms=x.size // c
    )


@group(NORMALISE, sizes=BATCH, small=[(2, 7, 70)])
def _batch_norm(variant: Variant, n: int, c: int, s: int) -> Example:
    given = x, mean, var, weight, bias = _batch(n, c, s)

    def work(xp: Any, x: Any, mean: Any, var: Any, *rest: Any) -> None:
        weight, bias, mine = rest
        xp.subtract(x, mean[:, None], out=mine)
        xp.multiply(mine, (weight / xp.sqrt(var + EPS))[:, None], out=mine)
        xp.add(mine, bias[:, None], out=mine)

    inputs = x, mean, var, EPS, weight, bias
    return example(variant, (s, c, n), inputs, x.shape, work, given=given, mine=True, told=given)


@group(GRAD_OF_WEIGHT, sizes=BATCH, small=CHANNELS)
def _batch_norm_grad_weight(variant: Variant, n: int, c: int, s: int) -> Example:
    x, mean, var, weight, _ = _batch(n, c, s)
    known, rest = (random(n, c, s, draw=1), x, mean, var), poisoned((c,), np.float32)

    def work(xp: Any, grad: Any, x: Any, mean: Any, var: Any) -> Any:
        grad.sum(axis=(0, 2))
        rstd = 1 / xp.sqrt(var + EPS)
        return (grad * ((x - mean[:, None]) * rstd[:, None])).sum(axis=(0, 2))

    return example(
        variant,
        (c,),
        (*known, EPS),
        (c,),
        work,
        after=(rest,),
        told=(*known, weight),
        part=1,
        terms=n * s,
    )


@group(GRAD_OF_INPUT, sizes=BATCH, small=[(2, 7, 70)])
def _batch_norm_grad_input(variant: Variant, n: int, c: int, s: int) -> Example:
    x, mean, var, weight, _ = _batch(n, c, s)
    known = random(n, c, s, draw=1), x, mean, var
    sums = tuple(part.astype(np.float32) for part in variant.reference(*known, weight)[1:])

    def work(xp: Any, grad: Any, x: Any, mean: Any, var: Any, *rest: Any) -> Any:
        weight, along, total = rest
        rstd = 1 / xp.sqrt(var + EPS)
        y = (x - mean[:, None]) * rstd[:, None]
        through = (total[:, None] + y * along[:, None]) / (n * s)
        return (weight * rstd)[:, None] * (grad - through)

    inputs = *known, EPS, weight, *sums, np.float32(1 / (n * s))
    return example(variant, (s, c, n), inputs, x.shape, work, told=(*known, weight), part=0)
