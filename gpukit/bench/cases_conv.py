"""Cases of convolutions and pooling: layers with windows of 3 x 3, their columns, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.bench.calls import Launch, Launches, launched, poisoned, zeroed
from gpukit.bench.register import Example, answered, example, group, random
from gpukit.kernels import conv, pool, pool_grad
from gpukit.kernels.conv import direct, gradients, im2col, implicit, one_d, tiled
from gpukit.launch import Variant

PAD: dict[str, Any] = {"stride": (1, 1), "padding": (1, 1), "dilation": (1, 1)}
MOVES = tuple(PAD.values())
WINDOW = (3, 3)
LAYER = (1, 32), (4, 128), (128, 128)  # images, and their side
DIRECT, CONSTANT = direct.VARIANTS
IM2COL, PRODUCT, COLUMNS_GRAD_WEIGHT, COL2IM = im2col.VARIANTS
GRAD_INPUT, GRAD_WEIGHT, GRAD_BIAS = gradients.VARIANTS


def _layer(batch: int, size: int) -> tuple[Any, Any, Any]:
    """Return images, weights and bias of the example layer."""
    return random(batch, 3, size, size), random(16, 3, *WINDOW, draw=1), random(16, draw=2)


def _size(picture: Any, channels: int = 16) -> str:
    return f"{' x '.join(map(str, picture.shape))}, {channels} of 3 x 3"


def _columns(xp: Any, picture: Any) -> Any:
    """Return what each window sees as a column, (N, C 3 3, rows cols)."""
    padded = xp.pad(picture, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = xp.lib.stride_tricks.sliding_window_view(padded, WINDOW, (2, 3))
    batch, _, rows, cols = picture.shape
    return windows.transpose(0, 1, 4, 5, 2, 3).reshape(batch, -1, rows * cols)


@group(DIRECT, CONSTANT, *tiled.VARIANTS, sizes=LAYER)
def _conv(variant: Variant, batch: int, size: int) -> Example:
    picture, weight, bias = _layer(batch, size)
    if variant is CONSTANT:  # the filters that the kernel has
        picture, weight, bias = picture[:, :1], direct.FILTERS, bias[:2]
    shape = (batch, len(bias), size, size)

    def work(xp: Any, picture: Any, weight: Any, bias: Any) -> Any:
        product = weight.reshape(len(weight), -1) @ _columns(xp, picture)
        return (product + bias[:, None]).reshape(shape)

    given, weights = (picture, weight, bias), () if variant is CONSTANT else (weight,)
    return example(
        variant,
        (size, size, batch * len(bias)),
        (picture, *weights, bias, *MOVES),
        shape,
        work,
        given=given,
        told=given,
        named=PAD,
        cost=variant.cost(picture.shape, weight.shape, **PAD),
        terms=weight[0].size + 1,
        size=_size(picture, len(bias)),
    )


@group(*implicit.VARIANTS, sizes=LAYER)
def _implicit(variant: Variant, batch: int, size: int) -> Example:
    given = picture, weight, bias = _layer(batch, size)
    m, pixels = len(weight), size * size
    taps = implicit.taps_of(WINDOW, 3, (size, size), (1, 1))
    rows, moves = weight.reshape(m, -1), (*MOVES[:2], (size, size), size)

    def work(xp: Any, picture: Any, weight: Any, bias: Any) -> Any:
        return weight.reshape(m, -1) @ _columns(xp, picture) + bias[:, None]

    return example(
        variant,
        (batch * pixels, m, 1),
        (picture.ravel(), rows, bias, taps, *moves),
        (batch, m, pixels),
        work,
        given=given,
        told=given,
        named=PAD,
        terms=weight[0].size + 1,
        cost=variant.cost(picture.shape, weight.shape, **PAD),
        size=_size(picture),
    )


@group(IM2COL, sizes=LAYER)
def _im2col(variant: Variant, batch: int, size: int) -> Example:
    picture, *_ = _layer(batch, size)
    shape = (batch, 27, size, size)

    def work(xp: Any, picture: Any) -> Any:
        return _columns(xp, picture).reshape(shape)

    return example(
        variant,
        (size, size, batch * 27),
        (picture, WINDOW, *MOVES),
        shape,
        work,
        size=_size(picture),
        told=(picture, WINDOW),
        named=PAD,
        cost=variant.cost(picture.shape, WINDOW, **PAD),
    )


@group(PRODUCT, sizes=LAYER)
def _product(variant: Variant, n: int, size: int) -> Example:
    picture, weight, bias = _layer(n, size)
    pixels, m, depth = size * size, len(bias), weight[0].size
    inputs = weight.reshape(1, m, depth), random(n, 1, depth, pixels, draw=3), bias[None]

    def work(xp: Any, a: Any, columns: Any, bias: Any) -> Any:
        return xp.matmul(a, columns) + bias[:, :, None]

    return example(
        variant,
        (pixels, m, n),
        inputs,
        (n, 1, m, pixels),
        work,
        size=_size(picture),
        cost=variant.cost(n, 1, m, pixels, depth),
        terms=depth + 1,
    )


@group(COLUMNS_GRAD_WEIGHT, sizes=LAYER)
def _grad_weight_of_columns(variant: Variant, n: int, size: int) -> Example:
    picture, weight, _ = _layer(n, size)
    pixels, m, depth = size * size, len(weight), weight[0].size
    grad, columns = random(n, 1, m, pixels), random(n, 1, depth, pixels, draw=3)
    return grad_weight_example(variant, grad, columns, size=_size(picture))


def grad_weight_example(variant: Variant, grad: Any, columns: Any, **rest: Any) -> Example:
    """Return the example of the gradient of weights: the sums over all images, in slices."""
    (n, _, m, pixels), depth = grad.shape, columns.shape[2]
    slices = min(n, conv.by_columns.SLICES)
    out = poisoned((slices, 1, m, depth), np.float32)
    ours = launched(variant, (depth, m, slices), grad, columns, out)

    def work(xp: Any, grad: Any, columns: Any) -> Any:
        each = xp.matmul(grad, columns.swapaxes(2, 3))
        return xp.stack([each[s::slices].sum(axis=0) for s in range(slices)])

    return answered(
        variant,
        Launches(zeroed(out.reshape(out.size)), ours),
        (grad, columns),
        out,
        work,
        told=(grad, columns, slices),
        cost=variant.cost(n, 1, m, pixels, depth, slices),
        terms=n * pixels,
        **rest,
    )


@group(COL2IM, sizes=LAYER)
def _col2im(variant: Variant, batch: int, size: int) -> Example:
    picture, *_ = _layer(batch, size)
    planes = batch * 3
    columns = random(planes, *WINDOW, size, size)

    def work(xp: Any, columns: Any) -> Any:
        padded = xp.zeros((planes, size + 2, size + 2), xp.float32)
        for kh, kw in np.ndindex(*WINDOW):
            padded[:, kh : kh + size, kw : kw + size] += columns[:, kh, kw]
        return padded[:, 1:-1, 1:-1]

    return example(
        variant,
        (size, size, planes),
        (columns, *MOVES),
        (planes, size, size),
        work,
        named=PAD,
        told=(columns.reshape(planes, -1, size, size), WINDOW, (size, size)),
        terms=9,
        cost=variant.cost(picture.shape, WINDOW, **PAD),
        size=_size(picture),
    )


@group(GRAD_INPUT, GRAD_WEIGHT, GRAD_BIAS, sizes=LAYER)
def _gradients(variant: Variant, batch: int, size: int) -> Example:
    picture, weight, _ = _layer(batch, size)
    m, channels = weight.shape[:2]
    grad = random(batch, m, size, size, draw=3)
    pixels = grad.reshape(batch, m, -1)

    def by_input(xp: Any, grad: Any, weight: Any) -> Any:  # stride 1: a convolution, turned around
        turned = weight[:, :, ::-1, ::-1].swapaxes(0, 1).reshape(channels, -1)
        return (turned @ _columns(xp, grad)).reshape(picture.shape)

    def by_weight(xp: Any, grad: Any, picture: Any) -> Any:
        columns = _columns(xp, picture).swapaxes(1, 2)
        return (grad.reshape(batch, m, -1) @ columns).sum(axis=0).reshape(weight.shape)

    def by_bias(_: Any, pixels: Any) -> Any:
        return pixels.sum(axis=(0, 2))

    part, cost = gradients.VARIANTS.index(variant), variant.cost
    given, work, covers, terms = (
        ((grad, weight), by_input, (size, size, batch * channels), m * 9),
        ((grad, picture), by_weight, (weight.size, 1, 1), grad[:, 0].size),
        ((pixels,), by_bias, (m,), grad[:, 0].size),
    )[part]
    shape = (picture.shape, weight.shape, (m,))[part]
    bias = variant is GRAD_BIAS
    return example(
        variant,
        covers,
        given if bias else (*given, *MOVES),
        shape,
        work,
        terms=terms,
        told=(grad, picture, weight),
        named=PAD,
        part=part,
        size=_size(picture),
        cost=cost(*pixels.shape) if bias else cost(picture.shape, weight.shape, **PAD),
    )


@group(*one_d.VARIANTS, sizes=((2, 1000), (16, 44_100), (256, 441_000)))
def _conv1d(variant: Variant, batch: int, length: int) -> Example:
    given = signal, weight, _ = random(batch, 2, length), random(8, 2, 9, draw=1), random(8, draw=2)

    def work(xp: Any, signal: Any, weight: Any, bias: Any) -> Any:
        padded = xp.pad(signal, ((0, 0), (0, 0), (4, 4)))
        windows = xp.lib.stride_tricks.sliding_window_view(padded, 9, 2)
        columns = windows.transpose(0, 1, 3, 2).reshape(batch, -1, length)
        return weight.reshape(8, -1) @ columns + bias[:, None]

    return example(
        variant,
        (length, batch * 8),
        (*given, 1, 4, 1),
        (batch, 8, length),
        work,
        told=given,
        named={"padding": 4},
        cost=variant.cost(signal.shape, weight.shape, padding=4),
        terms=19,
        size=f"{batch} x 2 x {length}, 8 of 9",
    )


# ---- pooling --------------------------------------------------------------------------------

PLANES = (3, 34), (256, 112), (4096, 224)  # how many are pooled, and their side
MAX, AVG = pool.VARIANTS
SCATTER, GATHER, AVG_BACKWARD = pool_grad.VARIANTS
TWO: dict[str, Any] = {"stride": (2, 2)}


def _quarters(x: Any) -> Any:
    """Return a view of planes (P, H, W) as windows of 2 x 2, (P, H / 2, 2, W / 2, 2)."""
    p, rows, cols = x.shape
    return x.reshape(p, rows // 2, 2, cols // 2, 2)


@group(MAX, AVG, sizes=PLANES)
def _pool(variant: Variant, p: int, size: int) -> Example:
    x, half = random(p, size, size), size // 2
    moves = ((2, 2), (2, 2), (0, 0), (1, 1) if variant is MAX else True)

    def work(_: Any, x: Any) -> Any:
        return _quarters(x).max((2, 4)) if variant is MAX else _quarters(x).mean((2, 4))

    return example(
        variant,
        (half, half, p),
        (x, *moves),
        (p, half, half),
        work,
        told=(x, (2, 2)),
        named=TWO,
        after=(poisoned((p, half, half), np.int64),) if variant is MAX else (),
        cost=variant.cost(x.shape, (2, 2), **TWO),
        terms=1 if variant is MAX else 4,
        size=f"{p} x {size} x {size}, 2 x 2",
    )


@group(SCATTER, GATHER, AVG_BACKWARD, sizes=PLANES)
def _pool_grad(variant: Variant, p: int, size: int) -> Example:
    x, half = random(p, size, size), size // 2
    grad = random(p, half, half, draw=1)
    places = _quarters(x).transpose(0, 1, 3, 2, 4).reshape(p, half, half, 4).argmax(3)
    rows, cols = np.indices((half, half))
    indices = (2 * rows + places // 2) * size + 2 * cols + places % 2
    out = poisoned((p, size, size), np.float32)
    arrays = (grad,) if variant is AVG_BACKWARD else (grad, indices)
    moves = ((2, 2), (2, 2), (0, 0))
    if variant is SCATTER:
        scatter = launched(variant, (half, half, p), *arrays, out.reshape(p, -1))
        ours: Launch = Launches(zeroed(out.reshape(out.size)), scatter)
        cost = variant.cost(*grad.shape)
    else:
        more = (*moves, True) if variant is AVG_BACKWARD else moves
        ours = launched(variant, (size, size, p), *arrays, *more, out)
        cost = variant.cost(out.shape, (2, 2), **TWO)

    def work(xp: Any, grad: Any, *_: Any) -> Any:
        if variant is AVG_BACKWARD:
            return xp.repeat(xp.repeat(grad / 4, 2, axis=1), 2, axis=2)
        made = xp.zeros((p, size * size), xp.float32)
        xp.put_along_axis(made, indices.reshape(p, -1), grad.reshape(p, -1), axis=1)
        return made.reshape(p, size, size)

    told = (grad, (size, size), (2, 2)) if variant is AVG_BACKWARD else (*arrays, (size, size))
    return answered(
        variant,
        ours,
        arrays,
        out,
        work,
        told=told,
        named=TWO if variant is AVG_BACKWARD else None,
        cost=cost,
        size=f"{p} x {size} x {size}, 2 x 2",
    )
