"""Cases of kernels on matrices and layers: products, dense layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.bench.register import Launches, comparison, group, launched, pick, poisoned, random
from gpukit.bench.timing import Comparison
from gpukit.kernels import backprop, matmul, matvec
from gpukit.kernels.backprop import columns
from gpukit.kernels.matmul import batched, bf16, nt, tn
from gpukit.launch import Cost, Variant
from gpukit.primitives import tensor


@group(*matvec.VARIANTS)
def _matvec(name: str, variant: Variant, quick: bool) -> Comparison:
    rows, cols = pick(quick, (130, 300), (4000, 2500), (16_384, 16_384))
    a, x, mine = random(rows, cols), random(cols, draw=1), np.empty(rows, np.float32)
    out = poisoned((rows,), np.float32)
    return comparison(
        name,
        f"{rows} x {cols}",
        launched(variant, (rows,), a, x, out),
        lambda xp, a, x, mine: xp.matmul(a, x, out=mine),
        out,
        given=(a, x, mine),
        expected=lambda: variant.reference(a, x),
        cost=variant.cost(rows, cols),
        terms=cols,
    )


@group(*matmul.VARIANTS)
def _matmul(name: str, variant: Variant, quick: bool) -> Comparison:
    rounded = np.uint16 in variant.dtypes
    sizes = (136, 512, 8192) if rounded else (128, 512, 4096)
    n = pick(quick, *sizes)
    a, b, mine = random(n, n), random(n, n, draw=1), np.empty((n, n), np.float32)
    matrices = (a, b)
    if rounded:  # for NumPy, numbers that are rounded already
        matrices = (tensor.bf16(a), tensor.bf16(b))
        a, b = map(tensor.from_bf16, matrices)
    out = poisoned((n, n), np.float32)
    return comparison(
        name,
        f"{n} x {n} x {n}",
        launched(variant, (n, n), *matrices, out),
        lambda xp, a, b, mine: xp.matmul(a, b, out=mine),
        out,
        given=(a, b, mine),
        expected=lambda: variant.reference(a, b),
        cost=variant.cost(n, n, n),
        terms=n,
    )


@group(bf16.VARIANTS[0])
def _round_bf16(name: str, variant: Variant, quick: bool) -> Comparison:
    rows, cols = pick(quick, (33, 65), (4000, 2500), (16_384, 16_384))
    x, mine = random(rows, cols), np.empty((rows, cols), np.uint16)
    out = poisoned((rows, cols), np.uint16)

    def work(xp: Any, x: Any, mine: Any) -> Any:
        bits = x.view(xp.uint32)
        odd = bits >> xp.uint32(16) & xp.uint32(1)
        mine[...] = (bits + xp.uint32(0x7FFF) + odd) >> xp.uint32(16)
        return mine

    return comparison(
        name,
        f"{rows} x {cols}",
        launched(variant, (cols, rows), x, out),
        work,
        out,
        given=(x, mine),
        expected=lambda: variant.reference(x),
        cost=variant.cost(rows, cols, cols),
    )


@group(*batched.VARIANTS)
def _batched_matmul(name: str, variant: Variant, quick: bool) -> Comparison:
    batches, n = pick(quick, (3, 33), (64, 128), (64, 1024))
    a, b = random(batches, n, n), random(batches, n, n, draw=1)
    mine, out = np.empty((batches, n, n), np.float32), poisoned((batches, n, n), np.float32)
    return comparison(
        name,
        f"{batches} of {n} x {n} x {n}",
        launched(variant, (n, n, batches), a, b, out),
        lambda xp, a, b, mine: xp.matmul(a, b, out=mine),
        out,
        given=(a, b, mine),
        expected=lambda: variant.reference(a, b),
        cost=variant.cost(batches, n, n, n),
        terms=n,
    )


@group(*nt.VARIANTS, *tn.VARIANTS)
def _transposed_matmul(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 128, 512, 4096)
    a, b, mine = random(n, n), random(n, n, draw=1), np.empty((n, n), np.float32)
    bias, by_rows = random(n, draw=2), variant in nt.VARIANTS
    more = (bias,) if by_rows else ()

    def work(xp: Any, a: Any, b: Any, *rest: Any) -> Any:
        made = xp.matmul(*((a, b.T) if by_rows else (a.T, b)), out=rest[-1])
        return xp.add(made, rest[0], out=made) if by_rows else made

    out = poisoned((n, n), np.float32)
    return comparison(
        name,
        f"{n} x {n} x {n}",
        launched(variant, (n, n), a, b, *more, out),
        work,
        out,
        given=(a, b, *more, mine),
        expected=lambda: variant.reference(a, b, *more),
        cost=variant.cost(n, n, n),
        terms=n,
    )


@group(backprop.FORWARD_VARIANTS[0], *backprop.BACKWARD_VARIANTS)
def _linear(name: str, variant: Variant, quick: bool) -> Comparison:
    n, i, o = pick(quick, (16, 64, 32), (64, 1024, 512), (4096, 4096, 4096))
    x, weight, bias, grad = (
        random(*shape, draw=k) for k, shape in enumerate([(n, i), (o, i), (o,), (n, o)])
    )
    shape, arguments, work = {
        "linear_grad_x": ((n, i), (grad, weight), lambda _, grad, weight: grad @ weight),
        "linear_grad_weight": ((o, i), (grad, x), lambda _, grad, x: grad.T @ x),
    }.get(name, ((n, o), (x, weight, bias), lambda _, x, weight, bias: x @ weight.T + bias))

    def expected() -> Any:
        if variant in backprop.BACKWARD_VARIANTS:
            return variant.reference(grad, x, weight)[backprop.BACKWARD_VARIANTS.index(variant)]
        return variant.reference(x, weight, bias)

    out = poisoned(shape, np.float32)
    return comparison(
        name,
        f"{n} x {i} to {o}",
        launched(variant, shape[::-1], *arguments, out),
        work,
        out,
        given=arguments,
        expected=expected,
        cost=variant.cost(n, i, o),
        terms=max(n, i, o),
    )


@group(*columns.VARIANTS)
def _column_sum(name: str, variant: Variant, quick: bool) -> Comparison:
    rows, cols = pick(quick, (600, 100), (20_000, 500), (100_000, 1000))
    x, out, mine = random(rows, cols), poisoned((cols,), np.float32), np.empty(cols, np.float32)
    chunks = columns.chunks_of(rows)
    sums = poisoned((chunks, cols), np.float32)
    parts = variant.cost(rows, cols), variant.cost(chunks, cols, chunks=1)
    return comparison(
        name,
        f"{rows} x {cols}",
        Launches(
            launched(variant, (cols, chunks), x, sums),
            launched(variant, (cols, 1), sums, out.reshape(1, cols)),
        ),
        lambda xp, x, mine: xp.sum(x, axis=0, out=mine),
        out,
        given=(x, mine),
        expected=lambda: variant.reference(x),
        cost=Cost(sum(part.bytes for part in parts), sum(part.flops for part in parts)),
        terms=rows,
        least=x.nbytes + mine.nbytes,
    )
