"""Launches of products of bfloat16, with columns that pad, and of sums of columns."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.mutation.cases.register import Case, case, of, values
from gpukit import launch
from gpukit.kernels.backprop import columns
from gpukit.kernels.matmul import bf16


def _tile(variant: launch.Variant) -> tuple[int, int]:
    return variant.tile or variant.block  # type: ignore[return-value]


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


@of(columns.column_sum_kernel)
def _column_sum() -> Iterator[Case]:
    x = values(39, 67)
    right = np.stack([x[:20].sum(axis=0, dtype=np.float64), x[20:].sum(axis=0, dtype=np.float64)])
    yield case((2, 2), (columns.WIDTH, columns.HEIGHT), (x,), right, 20)
