"""Cases of kernels on matrices and layers: products, dense layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.bench.calls import Launches, launched, poisoned, together
from gpukit.bench.register import Example, answered, example, group, random
from gpukit.kernels import backprop, matmul, matvec
from gpukit.kernels.backprop import columns
from gpukit.kernels.matmul import batched, bf16, nt, tensor_tf32, tn
from gpukit.launch import Variant
from gpukit.primitives import tensor

SQUARE = (128,) * 3, (512,) * 3, (4096,) * 3
LARGER_SQUARE = (136,) * 3, (512,) * 3, (8192,) * 3
MATRIX = (130, 300), (4000, 2500), (16_384, 16_384)


def _product(xp: Any, a: Any, b: Any, mine: Any) -> Any:
    return xp.matmul(a, b, out=mine)


def _few_rows(variant: Variant) -> list[tuple[int, ...]]:
    """Return rows of more columns than a block has threads, or than lanes; and with few columns."""
    thread, warp, block, _ = matvec.VARIANTS
    if variant is thread:
        return [(300, 11), (5, 37)]
    return (
        [(3, 1100), (4, 101)]
        if variant is block
        else [(11, 70 if variant is warp else 140), (31, 39)]
    )


@group(*matvec.VARIANTS, sizes=MATRIX, small=_few_rows)
def _matvec(variant: Variant, rows: int, cols: int) -> Example:
    inputs = random(rows, cols), random(cols, draw=1)
    return example(variant, (rows,), inputs, (rows,), _product, mine=True, terms=cols)


def _rounds(variant: Variant) -> bool:
    """Whether a variant takes the bits of bfloat16."""
    return np.uint16 in variant.dtypes


def _past_a_tile(variant: Variant) -> list[tuple[int, ...]]:
    """Return sizes of two blocks along every axis along which a block has a tile, and of one."""
    cols, rows = variant.tile or variant.block  # type: ignore[misc]
    if (
        variant in tensor_tf32.VARIANTS
    ):  # slow in an interpreter: two down or two across, never both
        return [(rows + 4, 24, 20), (4, cols + 4, 4), (4, 8, 4)]
    if variant.instead:  # rows of fours
        return [(rows + 4, cols + 20, 20), (4, 8, 4)]
    return [(rows + 2, cols + 9, 17), (3, 20, 5)]


@group(
    *matmul.VARIANTS,
    sizes=lambda variant: LARGER_SQUARE if _rounds(variant) else SQUARE,
    small=lambda variant: () if _rounds(variant) else _past_a_tile(variant),
)
def _matmul(variant: Variant, m: int, n: int, k: int) -> Example:
    given = inputs = random(m, k), random(k, n, draw=1)
    if _rounds(variant):  # for NumPy, numbers that are rounded already
        inputs = tensor.bf16(inputs[0]), tensor.bf16(inputs[1])
        given = tensor.from_bf16(inputs[0]), tensor.from_bf16(inputs[1])
    return example(
        variant, (n, m), inputs, (m, n), _product, given=given, mine=True, told=given, terms=k
    )


@group(bf16.VARIANTS[0], sizes=((33, 65), *MATRIX[1:]))
def _round_bf16(variant: Variant, rows: int, cols: int) -> Example:
    def work(xp: Any, x: Any, mine: Any) -> Any:
        bits = x.view(xp.uint32)
        odd = bits >> xp.uint32(16) & xp.uint32(1)
        mine[...] = (bits + xp.uint32(0x7FFF) + odd) >> xp.uint32(16)
        return mine

    out = poisoned((rows, cols), np.uint16)
    cost = variant.cost(rows, cols, cols)
    return example(variant, (cols, rows), (random(rows, cols),), out, work, mine=True, cost=cost)


@group(
    *batched.VARIANTS,
    sizes=((3, 33, 33, 33), (64, 128, 128, 128), (64, 1024, 1024, 1024)),
    small=[(2, 18, 25, 17)],
)
def _batched_matmul(variant: Variant, batches: int, m: int, n: int, k: int) -> Example:
    inputs = random(batches, m, k), random(batches, k, n, draw=1)
    shape, size = (batches, m, n), f"{batches} of {m} x {n} x {k}"
    return example(variant, shape[::-1], inputs, shape, _product, mine=True, size=size, terms=k)


@group(*nt.VARIANTS, sizes=SQUARE, small=_past_a_tile)
def _matmul_nt(variant: Variant, m: int, n: int, k: int) -> Example:
    def work(xp: Any, a: Any, b: Any, bias: Any, mine: Any) -> Any:
        made = xp.matmul(a, b.T, out=mine)
        return xp.add(made, bias, out=made)

    inputs = random(m, k), random(n, k, draw=1), random(n, draw=2)
    return example(variant, (n, m), inputs, (m, n), work, mine=True, terms=k)


@group(*tn.VARIANTS, sizes=SQUARE, small=_past_a_tile)
def _matmul_tn(variant: Variant, m: int, n: int, k: int) -> Example:
    def work(xp: Any, a: Any, b: Any, mine: Any) -> Any:
        return xp.matmul(a.T, b, out=mine)

    inputs = random(k, m), random(k, n, draw=1)
    return example(variant, (n, m), inputs, (m, n), work, mine=True, terms=k)


# ---- dense layers ---------------------------------------------------------------------------

LAYER = (16, 64, 32), (64, 1024, 512), (4096, 4096, 4096)


def _layer(n: int, i: int, o: int) -> tuple[Any, ...]:
    """Return x, weight, bias and the gradient of the output."""
    return tuple(random(*s, draw=k) for k, s in enumerate([(n, i), (o, i), (o,), (n, o)]))


@group(backprop.FORWARD_VARIANTS[0], sizes=LAYER, small=[(18, 17, 25)])
def _linear(variant: Variant, n: int, i: int, o: int) -> Example:
    def work(_: Any, x: Any, weight: Any, bias: Any) -> Any:
        return x @ weight.T + bias

    inputs, size = _layer(n, i, o)[:3], f"{n} x {i} to {o}"
    return example(variant, (o, n), inputs, (n, o), work, terms=max(n, i, o), size=size)


@group(*backprop.BACKWARD_VARIANTS, sizes=LAYER, small=[(18, 25, 5), (5, 18, 25)])
def _linear_grad(variant: Variant, n: int, i: int, o: int) -> Example:
    x, weight, _, grad = _layer(n, i, o)
    part = backprop.BACKWARD_VARIANTS.index(variant)
    shape, inputs, work = (
        ((n, i), (grad, weight), lambda _, grad, weight: grad @ weight),
        ((o, i), (grad, x), lambda _, grad, x: grad.T @ x),
    )[part]
    return example(
        variant,
        shape[::-1],
        inputs,
        shape,
        work,
        told=(grad, x, weight),
        part=part,
        terms=max(n, i, o),
        size=f"{n} x {i} to {o}",
    )


@group(*columns.VARIANTS, sizes=((600, 100), (20_000, 500), (100_000, 1000)))
def _column_sum(variant: Variant, rows: int, cols: int) -> Example:
    x, out, chunks = random(rows, cols), poisoned((cols,), np.float32), columns.chunks_of(rows)
    sums = poisoned((chunks, cols), np.float32)
    ours = Launches(
        launched(variant, (cols, chunks), x, sums),
        launched(variant, (cols, 1), sums, out.reshape(1, cols)),
    )

    def work(xp: Any, x: Any, mine: Any) -> Any:
        return xp.sum(x, axis=0, out=mine)

    cost = together(variant.cost(rows, cols), variant.cost(chunks, cols, chunks=1))
    return answered(variant, ours, (x,), out, work, mine=True, cost=cost, terms=rows)
