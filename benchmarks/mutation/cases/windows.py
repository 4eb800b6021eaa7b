"""Launches of convolutions and pooling: groups, strides, padding and dilation that all differ."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.mutation.cases.register import Case, called, case, given, of, values
from gpukit import cuda, launch
from gpukit.kernels import conv, pool, pool_grad
from gpukit.kernels.conv import direct, gradients, im2col, implicit, one_d, tiled

# stride, padding and dilation, down and across.
MOVES = (((1, 1), (1, 2), (1, 2)), ((2, 3), (0, 1), (2, 1)))


BLOCK = (direct.BLOCK_X, direct.BLOCK_Y, 1)


def _reference(picture: Any, weight: Any, bias: Any, moves: tuple[Any, ...]) -> Any:
    named = dict(zip(("stride", "padding", "dilation"), moves, strict=True))
    return direct.conv2d_reference(picture, weight, bias, **named)


def _grid(right: Any, planes: int) -> tuple[int, ...]:
    """Return the grid for an output, with too few planes, so that some blocks process two."""
    return (*launch.grid_2d("mutants", right.shape[3], right.shape[2], BLOCK[:2]), planes)


@of(direct.conv2d_direct_kernel)
def _conv2d_direct() -> Iterator[Case]:
    picture, weight, bias = values(2, 4, 9, 33), values(6, 2, 3, 2), values(6)
    for moves in MOVES:
        right = _reference(picture, weight, bias, moves)
        yield case(_grid(right, 7), BLOCK, (picture, weight, bias, *moves), right, 13)


@of(direct.conv2d_constant_kernel)
def _conv2d_constant() -> Iterator[Case]:
    # The kernel has two filters of one channel: here one for each channel of an image.
    picture, bias = values(3, 2, 12, 33), values(2)
    for moves in MOVES:
        right = _reference(picture, direct.FILTERS, bias, moves)
        yield case(_grid(right, 4), BLOCK, (picture, bias, *moves), right, 13)


def _conv2d(variant: str, channels: int, moves: tuple[Any, ...], *size: int) -> Any:
    """Convolve in two groups of four channels, which is a tile and a half of a product."""
    arrays = given(2, 8, *(size or (9, 33))), given(channels, 4, 3, 2), given(channels)
    return conv.conv2d(*arrays, *moves, groups=2, variant=variant)


def _conv2d_deep(variant: str) -> Any:
    """Convolve with windows of one pixel of 17 channels: one more than a tile is deep."""
    return conv.conv2d(
        given(2, 34, 9, 5), given(38, 17, 1, 1), given(38), groups=2, variant=variant
    )


def _conv2d_backward(variant: str, channels: int, moves: tuple[Any, ...], *size: int) -> Any:
    picture, weight = given(2, 8, *(size or (9, 33))), given(channels, 4, 3, 2)
    grad = given(*conv.conv2d(picture, weight, None, *moves, groups=2).shape)
    return conv.conv2d_backward(grad, picture, weight, *moves, groups=2, variant=variant)


def _calls(function: Any, *more: Any) -> list[Any]:
    return [partial(function, *more, moves) for moves in MOVES]


# Several blocks along both axes. The input tiles of the second ones are one element longer than a
# multiple of the block.
called(
    [tiled.conv2d_tiled_kernel],
    partial(_conv2d, "tiled", 6, ((1, 2), (0, 1), (2, 1)), 21, 70),
    partial(_conv2d, "tiled", 6, ((2, 1), (1, 2), (1, 1)), 21, 70),
)
# More output channels of a group than a block has, and fewer.
called(
    [implicit.conv2d_implicit_kernel],
    partial(_conv2d, "implicit", 6, MOVES[0]),
    partial(_conv2d, "implicit", 2 * (implicit.CHANNELS + 3), MOVES[1]),
    partial(_conv2d_deep, "implicit"),
)
called([im2col.im2col_kernel], *_calls(_conv2d, "im2col", 6))
called(
    [im2col.columns_product_kernel],
    partial(_conv2d, "im2col", 38, MOVES[1]),
    partial(_conv2d_deep, "im2col"),
)
# 33 pixels are one more than the depth of two tiles.
called(
    [im2col.columns_grad_weight_kernel],
    partial(_conv2d_backward, "im2col", 38, MOVES[0]),
    partial(_conv2d_backward, "im2col", 38, MOVES[1], 9, 32),
)
called([im2col.col2im_kernel], *_calls(_conv2d_backward, "im2col", 6))
called([variant.kernel for variant in gradients.VARIANTS], *_calls(_conv2d_backward, "direct", 6))


def _conv1d(variant: str, stride: int, padding: int, dilation: int) -> Any:
    arrays = given(2, 4, 300), given(6, 2, 3), given(6)
    return one_d.conv1d(*arrays, stride, padding, dilation, groups=2, variant=variant)


for _variant in one_d.VARIANTS:
    called(
        [_variant.kernel],
        partial(_conv1d, _variant.name, 1, 2, 3),
        partial(_conv1d, _variant.name, 2, 0, 1),
    )


# ---- pooling --------------------------------------------------------------------------------

# Windows that overlap, that skip pixels, both with padding, and that do neither.
POOLED: tuple[dict[str, Any], ...] = (
    {"kernel_size": (3, 2), "stride": (2, 1), "padding": (1, 0)},
    {"kernel_size": (2, 3), "stride": (3, 4), "padding": (0, 1)},
    {"kernel_size": (2, 1), "stride": (2, 1)},
)


def _images() -> Any:
    """Return images without positive values, with one NaN and equal elements."""
    x = -values(2, 3, 19, 69)
    x[0, 0, 3, 4], x[1, 2, :6, :9], x[0, 1, 5:9, 5:9] = np.nan, -1, -np.inf
    return cuda.to_device(x)


def _max_pool2d(dilation: Any, indices: bool, moves: dict[str, Any]) -> Any:
    return pool.max_pool2d(_images(), **moves, dilation=dilation, return_indices=indices)


def _max_pool2d_backward(dilation: Any, variant: str, moves: dict[str, Any]) -> Any:
    out, indices = _max_pool2d(dilation, True, moves)
    of = given(*out.shape), indices, (2, 3, 19, 69)
    return pool_grad.max_pool2d_backward(*of, **moves, dilation=dilation, variant=variant)


def _avg_pool2d(include_pad: bool, moves: dict[str, Any]) -> Any:
    return pool.avg_pool2d(given(2, 3, 19, 69), **moves, count_include_pad=include_pad)


def _avg_pool2d_backward(include_pad: bool, moves: dict[str, Any]) -> Any:
    of = given(*_avg_pool2d(include_pad, moves).shape), (2, 3, 19, 69)
    return pool_grad.avg_pool2d_backward(*of, **moves, count_include_pad=include_pad)


_max, _avg = (variant.kernel for variant in pool.VARIANTS)
_scatter, _gather, _avg_back = (variant.kernel for variant in pool_grad.VARIANTS)
_overlapping, _apart, _tall = POOLED
called(
    [_max],
    partial(_max_pool2d, (1, 2), True, _overlapping),
    partial(_max_pool2d, (2, 1), False, _apart),
)
called(
    [_gather],
    partial(_max_pool2d_backward, (1, 2), "gather", _overlapping),
    partial(_max_pool2d_backward, (2, 1), "gather", _apart),
)
called([_scatter], partial(_max_pool2d_backward, 1, "scatter", _tall))
called([_avg], partial(_avg_pool2d, False, _overlapping), partial(_avg_pool2d, True, _apart))
called(
    [_avg_back],
    partial(_avg_pool2d_backward, False, _overlapping),
    partial(_avg_pool2d_backward, True, _apart),
)
