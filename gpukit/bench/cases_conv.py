"""Cases of convolutions and pooling: layers with windows of 3 x 3, their columns, gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpukit.bench.register import (
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
from gpukit.kernels import conv, pool, pool_grad
from gpukit.kernels.conv import direct, gradients, im2col, implicit, one_d, tiled
from gpukit.launch import Variant

PAD: dict[str, Any] = {"stride": (1, 1), "padding": (1, 1), "dilation": (1, 1)}
MOVES = tuple(PAD.values())
WINDOW = (3, 3)


def _layer(quick: bool) -> tuple[Any, Any, Any]:
    """Return images, weights and bias of the example layer."""
    batch, size = pick(quick, (1, 32), (4, 128), (128, 128))
    return random(batch, 3, size, size), random(16, 3, *WINDOW, draw=1), random(16, draw=2)


def _size(picture: Any, channels: int = 16) -> str:
    batch, depth, rows, cols = picture.shape
    return f"{batch} x {depth} x {rows} x {cols}, {channels} of 3 x 3"


def _columns(xp: Any, picture: Any) -> Any:
    """Return what each window sees as a column, (N, C 3 3, rows cols)."""
    padded = xp.pad(picture, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = xp.lib.stride_tricks.sliding_window_view(padded, WINDOW, (2, 3))
    batch, _, rows, cols = picture.shape
    return windows.transpose(0, 1, 4, 5, 2, 3).reshape(batch, -1, rows * cols)


@group(*direct.VARIANTS, *tiled.VARIANTS)
def _conv(name: str, variant: Variant, quick: bool) -> Comparison:
    picture, weight, bias = _layer(quick)
    if name == "conv2d_constant":  # the filters that the kernel has
        picture, weight, bias = picture[:, :1], direct.FILTERS, bias[:2]
    batch, _, *size = picture.shape
    out = poisoned((batch, len(bias), *size), np.float32)

    def work(_xp: Any, picture: Any, weight: Any, bias: Any) -> Any:
        product = weight.reshape(len(weight), -1) @ _columns(_xp, picture)
        return (product + bias[:, None]).reshape(out.shape)

    weights = () if name == "conv2d_constant" else (weight,)
    sizes = size[1], size[0], batch * len(bias)
    return comparison(
        name,
        _size(picture, len(bias)),
        launched(variant, sizes, picture, *weights, bias, *MOVES, out),
        work,
        out,
        given=(picture, weight, bias),
        cost=variant.cost(picture.shape, weight.shape, **PAD),
        terms=weight[0].size + 1,
        expected=lambda: variant.reference(picture, weight, bias, **PAD),
    )


@group(*implicit.VARIANTS)
def _implicit(name: str, variant: Variant, quick: bool) -> Comparison:
    picture, weight, bias = _layer(quick)
    n, _, *size = picture.shape
    m, pixels = len(weight), math.prod(size)
    out = poisoned((n, m, pixels), np.float32)
    taps = implicit.taps_of(WINDOW, 3, (size[0], size[1]), (1, 1))
    given = picture.ravel(), weight.reshape(m, -1), bias, taps, *MOVES[:2], tuple(size), size[1]

    def work(xp: Any, picture: Any, weight: Any, bias: Any) -> Any:
        return weight.reshape(m, -1) @ _columns(xp, picture) + bias[:, None]

    return comparison(
        name,
        _size(picture),
        launched(variant, (n * pixels, m, 1), *given, out),
        work,
        out,
        given=(picture, weight, bias),
        cost=variant.cost(picture.shape, weight.shape, **PAD),
        terms=weight[0].size + 1,
        expected=lambda: variant.reference(picture, weight, bias, **PAD).reshape(out.shape),
    )


@group(im2col.VARIANTS[0])
def _im2col(name: str, variant: Variant, quick: bool) -> Comparison:
    picture, _, _ = _layer(quick)
    batch, channels, rows, cols = picture.shape
    out = poisoned((batch, channels * math.prod(WINDOW), rows, cols), np.float32)
    return comparison(
        name,
        _size(picture),
        launched(variant, (cols, rows, out.shape[0] * out.shape[1]), picture, WINDOW, *MOVES, out),
        lambda xp, picture: _columns(xp, picture).reshape(out.shape),
        out,
        given=(picture,),
        cost=variant.cost(picture.shape, WINDOW, **PAD),
        expected=lambda: variant.reference(picture, WINDOW, **PAD),
    )


@group(im2col.VARIANTS[1])
def _product(name: str, variant: Variant, quick: bool) -> Comparison:
    picture, weight, bias = _layer(quick)
    n, pixels, m, depth = len(picture), picture[0, 0].size, len(bias), weight[0].size
    a, bias, columns = weight.reshape(1, m, depth), bias[None], random(n, 1, depth, pixels, draw=3)
    out = poisoned((n, 1, m, pixels), np.float32)
    return comparison(
        name,
        _size(picture),
        launched(variant, (pixels, m, n), a, columns, bias, out),
        lambda xp, a, columns, bias: xp.matmul(a, columns) + bias[:, :, None],
        out,
        given=(a, columns, bias),
        cost=variant.cost(n, 1, m, pixels, depth),
        terms=depth + 1,
        expected=lambda: variant.reference(a, columns, bias),
    )


@group(im2col.VARIANTS[2])
def _grad_weight_of_columns(name: str, variant: Variant, quick: bool) -> Comparison:
    picture, weight, _ = _layer(quick)
    n, pixels, m, depth = len(picture), picture[0, 0].size, len(weight), weight[0].size
    grad, columns = random(n, 1, m, pixels), random(n, 1, depth, pixels, draw=3)
    slices = min(n, conv.SLICES)
    out = poisoned((slices, 1, m, depth), np.float32)
    ours = launched(variant, (depth, m, slices), grad, columns, out)

    def work(xp: Any, grad: Any, columns: Any) -> Any:
        each = xp.matmul(grad, columns.swapaxes(2, 3))
        return xp.stack([each[s::slices].sum(axis=0) for s in range(slices)])

    return comparison(
        name,
        _size(picture),
        Launches(zeroed(out.reshape(out.size)), ours),
        work,
        out,
        given=(grad, columns),
        cost=variant.cost(n, 1, m, pixels, depth, slices),
        terms=n * pixels,
        least=grad.nbytes + columns.nbytes + out.nbytes,
        expected=lambda: variant.reference(grad, columns, slices),
    )


@group(im2col.VARIANTS[3])
def _col2im(name: str, variant: Variant, quick: bool) -> Comparison:
    picture, _, _ = _layer(quick)
    batch, channels, rows, cols = picture.shape
    planes = batch * channels
    columns = random(planes, *WINDOW, rows, cols)
    out = poisoned((planes, rows, cols), np.float32)

    def work(xp: Any, columns: Any) -> Any:
        padded = xp.zeros((planes, rows + 2, cols + 2), xp.float32)
        for kh, kw in np.ndindex(*WINDOW):
            padded[:, kh : kh + rows, kw : kw + cols] += columns[:, kh, kw]
        return padded[:, 1:-1, 1:-1]

    def expected() -> Any:
        each = columns.reshape(planes, -1, rows, cols)
        return variant.reference(each, WINDOW, (rows, cols), **PAD).reshape(out.shape)

    return comparison(
        name,
        _size(picture),
        launched(variant, (cols, rows, planes), columns, *MOVES, out),
        work,
        out,
        given=(columns,),
        cost=variant.cost(picture.shape, WINDOW, **PAD),
        terms=math.prod(WINDOW),
        expected=expected,
    )


@group(*gradients.VARIANTS)
def _gradients(name: str, variant: Variant, quick: bool) -> Comparison:
    picture, weight, _ = _layer(quick)
    batch, channels, rows, cols = picture.shape
    m = len(weight)
    grad = random(batch, m, rows, cols, draw=3)
    pixels = grad.reshape(batch, m, -1)

    def back(xp: Any, grad: Any, weight: Any) -> Any:  # stride 1: a convolution, turned around
        turned = weight[:, :, ::-1, ::-1].swapaxes(0, 1).reshape(channels, -1)
        return (turned @ _columns(xp, grad)).reshape(picture.shape)

    def by_weight(xp: Any, grad: Any, picture: Any) -> Any:
        columns = _columns(xp, picture).swapaxes(1, 2)
        return (grad.reshape(batch, m, -1) @ columns).sum(axis=0).reshape(weight.shape)

    at = gradients.VARIANTS.index(variant)
    given, work, sizes, terms = (
        ((grad, weight), back, (cols, rows, batch * channels), m * 9),
        ((grad, picture), by_weight, (weight.size, 1, 1), grad[:, 0].size),
        ((pixels,), lambda _, pixels: pixels.sum(axis=(0, 2)), (m,), grad[:, 0].size),
    )[at]
    shape = (picture.shape, weight.shape, (m,))[at]
    moves = () if at == 2 else MOVES
    out = poisoned(shape, np.float32)
    return comparison(
        name,
        _size(picture),
        launched(variant, sizes, *given, *moves, out),
        work,
        out,
        given=given,
        cost=variant.cost(*pixels.shape)
        if at == 2
        else variant.cost(picture.shape, weight.shape, **PAD),
        terms=terms,
        expected=lambda: variant.reference(grad, picture, weight, **PAD)[at],
    )


@group(*one_d.VARIANTS)
def _conv1d(name: str, variant: Variant, quick: bool) -> Comparison:
    batch, length = pick(quick, (2, 1000), (16, 44_100), (256, 441_000))
    signal, weight, bias = random(batch, 2, length), random(8, 2, 9, draw=1), random(8, draw=2)
    out = poisoned((batch, 8, length), np.float32)

    def work(xp: Any, signal: Any, weight: Any, bias: Any) -> Any:
        padded = xp.pad(signal, ((0, 0), (0, 0), (4, 4)))
        windows = xp.lib.stride_tricks.sliding_window_view(padded, 9, 2)
        columns = windows.transpose(0, 1, 3, 2).reshape(batch, -1, length)
        return weight.reshape(8, -1) @ columns + bias[:, None]

    return comparison(
        name,
        f"{batch} x 2 x {length}, 8 of 9",
        launched(variant, (length, batch * 8), signal, weight, bias, 1, 4, 1, out),
        work,
        out,
        given=(signal, weight, bias),
        cost=variant.cost(signal.shape, weight.shape, padding=4),
        terms=19,
        expected=lambda: variant.reference(signal, weight, bias, padding=4),
    )


def _planes(quick: bool) -> tuple[int, int]:
    """Return how many planes are pooled, and their side."""
    count, size = pick(quick, (3, 34), (256, 112), (4096, 224))
    return count, size


def _quarters(x: Any) -> Any:
    """Return a view of planes (P, H, W) as windows of 2 x 2, (P, H / 2, 2, W / 2, 2)."""
    p, rows, cols = x.shape
    return x.reshape(p, rows // 2, 2, cols // 2, 2)


@group(*pool.VARIANTS)
def _pool(name: str, variant: Variant, quick: bool) -> Comparison:
    p, size = _planes(quick)
    x, half, window = random(p, size, size), size // 2, (2, 2)
    out = poisoned((p, half, half), np.float32)
    largest = variant is pool.VARIANTS[0]
    given = (window, (0, 0), (1, 1)) if largest else (window, (0, 0), True)
    after = (out, poisoned((p, half, half), np.int64)) if largest else (out,)
    return comparison(
        name,
        f"{p} x {size} x {size}, 2 x 2",
        launched(variant, (half, half, p), x, window, *given, *after),
        lambda _, x: _quarters(x).max((2, 4)) if largest else _quarters(x).mean((2, 4)),
        out,
        given=(x,),
        cost=variant.cost(x.shape, window, stride=window),
        terms=1 if largest else 4,
        expected=lambda: variant.reference(x, window, stride=window),
    )


@group(*pool_grad.VARIANTS)
def _pool_grad(name: str, variant: Variant, quick: bool) -> Comparison:
    p, size = _planes(quick)
    x, half, window = random(p, size, size), size // 2, (2, 2)
    grad = random(p, half, half, draw=1)
    places = _quarters(x).transpose(0, 1, 3, 2, 4).reshape(p, half, half, 4).argmax(3)
    rows, cols = np.indices((half, half))
    indices = (2 * rows + places // 2) * size + 2 * cols + places % 2
    out = poisoned((p, size, size), np.float32)
    mean, scatter = variant is pool_grad.VARIANTS[2], variant is pool_grad.VARIANTS[0]

    def work(xp: Any, grad: Any, *_: Any) -> Any:
        if mean:
            return xp.repeat(xp.repeat(grad / 4, 2, axis=1), 2, axis=2)
        made = xp.zeros((p, size * size), xp.float32)
        xp.put_along_axis(made, indices.reshape(p, -1), grad.reshape(p, -1), axis=1)
        return made.reshape(p, size, size)

    arrays = (grad,) if mean else (grad, indices)
    moves = (window, window, (0, 0))
    given = (*moves, True) if mean else () if scatter else moves
    sizes = (half, half, p) if scatter else (size, size, p)
    ours = launched(variant, sizes, *arrays, *given, out.reshape(p, -1) if scatter else out)
    return comparison(
        name,
        f"{p} x {size} x {size}, 2 x 2",
        Launches(zeroed(out.reshape(out.size)), ours) if scatter else ours,
        work,
        out,
        given=arrays,
        cost=variant.cost(*grad.shape)
        if scatter
        else variant.cost(out.shape, window, stride=window),
        least=sum(array.nbytes for array in arrays) + out.nbytes,
        expected=lambda: (
            variant.reference(grad, (size, size), window, stride=window)
            if mean
            else variant.reference(grad, indices, (size, size))
        ),
    )
