"""Cases of kernels with fewer bits or fewer weights: conversion, int8, masks, CSR, 2:4."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gpukit import launch
from gpukit.bench.calls import launched, poisoned
from gpukit.bench.cases_conv import grad_weight_example
from gpukit.bench.register import Example, answered, example, group, random
from gpukit.kernels import conv, convert, quantize, sparse
from gpukit.kernels.matmul import mixed
from gpukit.kernels.optimizers import loss_scale
from gpukit.launch import Variant
from gpukit.primitives import tensor
from gpukit.primitives.dot4 import PACKED

N = (100_003,), (10_000_000,), (100_000_000,)
SQUARE = (128,) * 3, (512,) * 3, (4096,) * 3
MATRIX = (130, 300), (4000, 2500), (16_384, 16_384)
TO_FLOAT16, TO_BFLOAT16, TO_FLOAT32 = convert.VARIANTS
MIXED, NT_MIXED, TN_MIXED = mixed.VARIANTS
PRODUCT_MIXED, GRAD_WEIGHT_MIXED = conv.mixed.VARIANTS
SCALES, QUANTIZE, DEQUANTIZE, SUMS, MATMUL_INT8, MATVEC_INT8 = quantize.VARIANTS
APPLY_MASK, *CSR, COMPRESS, MATMUL_2_4 = sparse.VARIANTS
SPARSITY = 0.9  # of the matrices in CSR


# ---- conversion -----------------------------------------------------------------------------


def _to_float16(_: Any, x: Any, mine: Any) -> Any:
    mine[...] = x
    return mine


def _to_bfloat16(xp: Any, x: Any, mine: Any) -> Any:
    bits = x.view(xp.uint32)
    odd = bits >> xp.uint32(16) & xp.uint32(1)
    mine[...] = (bits + xp.uint32(0x7FFF) + odd) >> xp.uint32(16)
    return mine


@group(TO_FLOAT16, TO_BFLOAT16, TO_FLOAT32, sizes=N, small=[(300,)])
def _convert(variant: Variant, n: int) -> Example:
    x = random(n)
    if variant is TO_FLOAT32:
        x = x.astype(np.float16)
    work = _to_bfloat16 if variant is TO_BFLOAT16 else _to_float16
    out = poisoned((n,), convert.FORMATS[variant.name])
    return example(variant, (n,), (x,), out, work, mine=True, told=(x, variant.name))


@group(loss_scale.VARIANTS[0], sizes=N, small=[(300,)])
def _unscale(variant: Variant, n: int) -> Example:
    grad, factor, found = random(n), np.float32(2**-4), np.zeros(1, np.int32)
    out = launch.to_device(grad.copy())  # in place: the first launch's answer is checked
    ours = launched(variant, (n,), factor, found, out)

    def work(xp: Any, grad: Any) -> Any:
        made = xp.multiply(grad, factor)
        xp.isfinite(made).all()
        return made

    return answered(variant, ours, (grad,), out, work, told=(grad, factor), part=0)


# ---- 16-bit factors -------------------------------------------------------------------------


@functools.lru_cache(maxsize=4)
def _rounded(*shape: int, draw: int = 0) -> Any:
    """Return random bits of bfloat16, and the float32 that they stand for."""
    bits = tensor.bf16(random(*shape, draw=draw))
    return bits, tensor.from_bf16(bits)


def _past_a_tile(variant: Variant) -> list[tuple[int, ...]]:
    """Return sizes of two blocks along every axis, with partial tiles."""
    cols, rows = variant.block  # type: ignore[misc]
    return [(rows + 2, cols + 9, 17)]


@group(MIXED, TN_MIXED, sizes=SQUARE, small=_past_a_tile)
def _mixed(variant: Variant, m: int, n: int, k: int) -> Example:
    turned = variant is TN_MIXED
    (a, wide_a), (b, wide_b) = _rounded(*((k, m) if turned else (m, k))), _rounded(k, n, draw=1)

    def work(xp: Any, a: Any, b: Any, mine: Any) -> Any:
        return xp.matmul(a.T if turned else a, b, out=mine)

    return example(
        variant,
        (n, m),
        (a, b),
        (m, n),
        work,
        given=(wide_a, wide_b),
        mine=True,
        named={"transpose_a": turned},
        terms=k,
    )


@group(NT_MIXED, sizes=SQUARE, small=_past_a_tile)
def _nt_mixed(variant: Variant, m: int, n: int, k: int) -> Example:
    (a, wide_a), (b, wide_b), bias = _rounded(m, k), _rounded(n, k, draw=1), random(n, draw=2)

    def work(xp: Any, a: Any, b: Any, bias: Any, mine: Any) -> Any:
        made = xp.matmul(a, b.T, out=mine)
        return xp.add(made, bias, out=made)

    return example(
        variant,
        (n, m),
        (a, b, bias),
        (m, n),
        work,
        given=(wide_a, wide_b, bias),
        mine=True,
        named={"transpose_b": True},
        terms=k,
    )


@group(PRODUCT_MIXED, sizes=((1, 32), (4, 128), (128, 128)), small=[(2, 5)])
def _product_mixed(variant: Variant, n: int, size: int) -> Example:
    pixels, depth, m = size * size, 27, 16
    (cols, wide), bias = _rounded(n, 1, depth, pixels), random(1, m, draw=2)
    a, wide_a = _rounded(1, m, depth, draw=1)

    def work(xp: Any, a: Any, cols: Any, bias: Any, mine: Any) -> Any:
        xp.matmul(a, cols, out=mine)
        return xp.add(mine, bias[:, :, None], out=mine)

    return example(
        variant,
        (pixels, m, n),
        (a, cols, bias),
        (n, 1, m, pixels),
        work,
        given=(wide_a, wide, bias),
        mine=True,
        cost=variant.cost(n, 1, m, pixels, depth),
        terms=depth,
        size=f"{n} x 3 x {size} x {size}, 16 of 3 x 3",
    )


@group(GRAD_WEIGHT_MIXED, sizes=((1, 32), (4, 128), (128, 128)), small=[(2, 5)])
def _grad_weight_mixed(variant: Variant, n: int, size: int) -> Example:
    pixels, depth, m = size * size, 27, 16
    (cols, wide), (grad, wide_grad) = _rounded(n, 1, depth, pixels), _rounded(n, 1, m, pixels)
    text = f"{n} x 3 x {size} x {size}, 16 of 3 x 3"
    return grad_weight_example(variant, grad, cols, given=(wide_grad, wide), size=text)


# ---- int8 -----------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4)
def _int8(*shape: int, draw: int = 0) -> Any:
    """Return read-only quantized numbers, most of them small, as trained weights are."""
    return np.clip(np.rint(40 * random(*shape, draw=draw)), -127, 127).astype(np.int8)


@group(SCALES, sizes=MATRIX, small=[(3, 300), (2, 5)])
def _scales(variant: Variant, channels: int, n: int) -> Example:
    def work(xp: Any, x: Any, mine: Any) -> Any:
        return xp.divide(xp.abs(x).max(axis=1), 127, out=mine)

    return example(variant, (channels,), (random(channels, n),), (channels,), work, mine=True)


@group(QUANTIZE, sizes=MATRIX, small=[(9, 39)])
def _quantize(variant: Variant, channels: int, n: int) -> Example:
    x = random(channels, n)
    scale = quantize.channels.channel_scales_reference(x).astype(np.float32)
    wide = quantize.channels.padded(n)

    def work(xp: Any, x: Any, scale: Any, mine: Any) -> Any:
        mine[:, n:] = 0
        mine[:, :n] = xp.clip(xp.rint(x / scale[:, None]), -127, 127)
        return mine

    out = poisoned((channels, wide), np.int8)
    return example(variant, (wide, channels), (x, scale), out, work, mine=True)


@group(DEQUANTIZE, sizes=MATRIX, small=[(9, 39)])
def _dequantize(variant: Variant, channels: int, n: int) -> Example:
    q, scale = _int8(channels, n), np.abs(random(channels, draw=1))

    def work(xp: Any, q: Any, scale: Any, mine: Any) -> Any:
        return xp.multiply(q, scale[:, None], out=mine)

    return example(variant, (n, channels), (q, scale), (channels, n), work, mine=True)


@group(SUMS, sizes=MATRIX, small=[(9, 39)])
def _sums(variant: Variant, m: int, channels: int) -> Example:
    sums = (1000 * random(m, channels)).astype(np.int32)
    scales = np.array([0.02], np.float32), np.abs(random(channels, draw=1))
    bias = random(channels, draw=2)

    def work(xp: Any, sums: Any, x_scale: Any, scale: Any, bias: Any, mine: Any) -> Any:
        xp.multiply(sums, x_scale * scale, out=mine)
        return xp.add(mine, bias, out=mine)

    inputs = sums, *scales, bias
    return example(variant, (channels, m), inputs, (m, channels), work, mine=True, terms=3)


@group(MATMUL_INT8, sizes=((128, 128, 32), (512, 512, 128), (4096, 4096, 1024)), small=_past_a_tile)
def _matmul_int8(variant: Variant, m: int, n: int, words: int) -> Example:
    a, b = _int8(m, words * PACKED), _int8(n, words * PACKED, draw=1)

    def work(xp: Any, a: Any, b: Any) -> Any:  # BLAS has no int8
        return a.astype(xp.float32) @ b.astype(xp.float32).T

    inputs, out = (a.view(np.int32), b.view(np.int32)), poisoned((m, n), np.int32)
    size = f"{m} x {n} x {4 * words}"
    return example(
        variant, (n, m), inputs, out, work, given=(a, b), told=(a, b), terms=words, size=size
    )


@group(MATVEC_INT8, sizes=((130, 75), (4000, 625), (16_384, 4096)), small=[(11, 70)])
def _matvec_int8(variant: Variant, m: int, words: int) -> Example:
    a, x = _int8(m, words * PACKED), _int8(words * PACKED, draw=1)

    def work(xp: Any, a: Any, x: Any) -> Any:
        return a.astype(xp.float32) @ x.astype(xp.float32)

    inputs, out = (a.view(np.int32), x.view(np.int32)), poisoned((m,), np.int32)
    size = f"{m} x {4 * words}"
    return example(
        variant, (m,), inputs, out, work, given=(a, x), told=(a, x), terms=words, size=size
    )


# ---- sparse ---------------------------------------------------------------------------------


@functools.lru_cache(maxsize=2)
def _pruned(rows: int, cols: int, draw: int = 0) -> Any:
    """Return a matrix with SPARSITY zeros, and its mask."""
    mask = np.random.default_rng(draw).random((rows, cols)) > SPARSITY
    return random(rows, cols, draw=draw) * mask, mask.astype(np.uint8)


@group(APPLY_MASK, sizes=N, small=[(300,)])
def _apply_mask(variant: Variant, n: int) -> Example:
    x, mask = random(n), _pruned(1, n)[1][0]
    out = launch.to_device(x.copy())  # in place: the first launch's answer is checked
    ours = launched(variant, (n,), mask, out)

    def work(xp: Any, x: Any, mask: Any) -> Any:
        return xp.multiply(x, mask)

    return answered(variant, ours, (x, mask), out, work)


@group(*CSR, sizes=((1, 130, 300), (1, 4000, 2500), (1, 16_384, 16_384)), small=[(2, 300, 50)])
def _csr(variant: Variant, n: int, rows: int, cols: int) -> Example:
    a, x = _pruned(rows, cols)[0], random(n, cols, draw=1)
    values, columns, starts = sparse.to_csr(a)

    def work(xp: Any, a: Any, x: Any, mine: Any) -> Any:  # NumPy has no sparse matrices
        return xp.matmul(x, a.T, out=mine)

    return example(
        variant,
        (rows, n),
        (values, columns, starts, x),
        (n, rows),
        work,
        given=(a, x),
        mine=True,
        terms=cols,
        cost=variant.cost(n, rows, len(values)),
        size=f"{rows} x {cols}, {len(values):,} not zero",
    )


@group(COMPRESS, sizes=((130, 300), (4000, 2500), (16_384, 16_384)), small=[(9, 140)])
def _compress(variant: Variant, rows: int, cols: int) -> Example:
    weight = random(rows, cols)
    out, index = (poisoned((rows, cols // k), d) for k, d in ((2, np.float32), (4, np.uint8)))
    ours = launched(variant, (cols // 4, rows), weight, out, index)

    def work(xp: Any, weight: Any) -> Any:
        groups = weight.reshape(-1, 4)
        kept = xp.sort(xp.argsort(-xp.abs(groups), axis=1)[:, :2], axis=1)
        return xp.take_along_axis(groups, kept, axis=1)

    return answered(variant, ours, (weight,), out, work, part=0)


@group(MATMUL_2_4, sizes=SQUARE, small=[(18, 25, 36)])
def _matmul_2_4(variant: Variant, m: int, n: int, k: int) -> Example:
    x, weight = random(m, k), random(n, k, draw=1) * sparse.mask_2_4(random(n, k, draw=1))
    values, index = sparse.two_four.compress_2_4_reference(weight)
    inputs = x, values.astype(np.float32), index

    def work(xp: Any, x: Any, weight: Any, mine: Any) -> Any:
        return xp.matmul(x, weight.T, out=mine)

    return example(variant, (n, m), inputs, (m, n), work, given=(x, weight), mine=True, terms=k)
