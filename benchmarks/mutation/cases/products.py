"""Launches of products of matrices and of linear layers."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.mutation.cases.register import Array, Case, case, of, values
from gpukit import launch
from gpukit.kernels import backprop
from gpukit.kernels.backprop import columns, dense
from gpukit.kernels.matmul import batched, bf16, naive, nt, registers, tensor_tf32, tiled, tn, wide


def _tiles(cols: int, rows: int, tile: int) -> tuple[Any, Any]:
    return launch.grid_2d("mutants", cols, rows, (tile, tile)), (tile, tile)


def _matmul(variant: launch.Variant) -> Iterator[Case]:
    """Yield products of two blocks and more along every axis along which a block has a tile."""
    cols, rows = _tile(variant)
    for m, n, k in ((rows + 2, cols + 19, 17), (3, 20, 5)):
        a, b = values(m, k), values(k, n)
        yield case(variant.grid("mutants", n, m), variant.block, (a, b), variant.reference(a, b), k)


def _tile(variant: launch.Variant) -> tuple[int, int]:
    return variant.tile or variant.block  # type: ignore[return-value]


def _matmul_wide(variant: launch.Variant) -> Iterator[Case]:
    """Yield the same for rows in float4s."""
    cols, rows = _tile(variant)
    # Tensor cores are slow in an interpreter: two blocks down or two across, never both.
    rounds = variant in tensor_tf32.VARIANTS
    large = [(rows + 2, 24, 20), (3, cols + 4, 4)] if rounds else [(rows + 2, cols + 20, 20)]
    for m, n, k in (*large, (3, 8, 4)):
        a, b = values(m, k), values(k, n)
        yield case(variant.grid("mutants", n, m), variant.block, (a, b), variant.reference(a, b), k)


def _matmul_bf16(variant: launch.Variant) -> Iterator[Case]:
    """Yield four blocks with more tiles than stages, and for the oracle one with two tiles."""
    cols, rows = _tile(variant)
    for m, n, tiles in ((rows + 3, cols + 11, 6), (3, 11, 2)):
        k = (tiles - 1) * bf16.DEPTH + 8  # the last is a part
        a, b = values(m, k), values(k, n)
        given = bf16.as_bf16("a", a, 0), bf16.as_bf16("b", b, 0)
        grid = variant.grid("mutants", n, m)
        launched = case(grid, variant.block, given, variant.reference(a, b), k)
        yield replace(launched, interpreted=m < rows)


@of(bf16.round_bf16_kernel)
def _round_bf16() -> Iterator[Case]:
    variant = bf16.VARIANTS[0]
    for rows, cols in ((9, 35), (1, 8)):
        x, wider = values(rows, cols), bf16.padded(cols)
        right = np.zeros((rows, wider), np.uint16)
        right[:, :cols] = variant.reference(x)
        yield case(
            variant.grid("mutants", wider, rows), variant.block, (x,), right, dtype=np.uint16
        )


for _variant in bf16.MATMUL_VARIANTS:
    of(_variant.kernel)(functools.partial(_matmul_bf16, _variant))
for _variant in (*wide.VARIANTS, *tensor_tf32.VARIANTS):
    of(_variant.kernel)(functools.partial(_matmul_wide, _variant))
for _variant in (*naive.VARIANTS, *tiled.VARIANTS, *registers.VARIANTS):
    of(_variant.kernel)(functools.partial(_matmul, _variant))


@of(batched.matmul_batched_kernel)
def _batched_matmul() -> Iterator[Case]:
    tile = batched.TILE
    for batches, m, n, k in ((2, 18, 35, 17), (3, 3, 20, 5)):
        a, b = values(batches, m, k), values(batches, k, n)
        (cols, rows), block = _tiles(n, m, tile)
        right = batched.batched_matmul_reference(a, b)
        yield case((cols, rows, batches), (*block, 1), (a, b), right, k)


def _layer(n: int, i: int, o: int) -> tuple[Array, ...]:
    """Return x, weight, bias and grad_out; sizes that need unlike numbers of tiles."""
    return values(n, i), values(o, i), values(o), values(n, o)


def _linear() -> Iterator[Case]:
    x, weight, bias, _ = _layer(18, 17, 35)
    right = backprop.linear_reference(x, weight, bias)
    yield case(*_tiles(35, 18, naive.TILE), (x, weight, bias), right, 18)


of(dense.linear_naive_kernel)(_linear)
of(nt.matmul_nt_tiled_kernel)(_linear)


@of(nt.matmul_nt_vectorised_kernel)
def _matmul_nt_vectorised() -> Iterator[Case]:
    a, b, bias = values(wide.SIDE + 3, 20), values(wide.SIDE + 8, 20), values(wide.SIDE + 8)
    right = nt.matmul_nt_reference(a, b, bias)
    yield case((2, 2), (wide.THREADS, wide.THREADS), (a, b, bias), right, 21)


@of(tn.matmul_tn_tiled_kernel)
def _matmul_tn_tiled() -> Iterator[Case]:
    a, b = values(17, 18), values(17, 35)
    yield case(*_tiles(35, 18, naive.TILE), (a, b), tn.matmul_tn_reference(a, b), 17)


@of(tn.matmul_tn_vectorised_kernel)
def _matmul_tn_vectorised() -> Iterator[Case]:
    a, b = values(19, wide.SIDE + 4), values(19, wide.SIDE + 8)
    block = (wide.THREADS, wide.THREADS)
    yield case((2, 2), block, (a, b), tn.matmul_tn_reference(a, b), 19)


@of(dense.linear_grad_x_kernel)
def _linear_grad_x() -> Iterator[Case]:
    x, weight, _, grad = _layer(18, 35, 5)
    right = backprop.linear_backward_reference(grad, x, weight)[0]
    yield case(*_tiles(35, 18, naive.TILE), (grad, weight), right, 5)


@of(dense.linear_grad_weight_kernel)
def _linear_grad_weight() -> Iterator[Case]:
    x, weight, _, grad = _layer(5, 18, 35)
    right = backprop.linear_backward_reference(grad, x, weight)[1]
    yield case(*_tiles(18, 35, naive.TILE), (grad, x), right, 5)


@of(columns.column_sum_kernel)
def _column_sum() -> Iterator[Case]:
    x = values(39, 35)
    right = np.stack([x[:20].sum(axis=0, dtype=np.float64), x[20:].sum(axis=0, dtype=np.float64)])
    yield case((2, 2), (columns.WARP, columns.HEIGHT), (x,), right, 20)
