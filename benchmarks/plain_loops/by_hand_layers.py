"""Loops by hand for the book's convolutions whose threads work together (`by_hand.py`)."""

# mypy: ignore-errors
# ruff: noqa: ARG001  (not all loops need the shape of the launch)

from __future__ import annotations

import numba
import numpy as np

from benchmarks import handwritten
from benchmarks.plain_loops.by_hand_matrices import _load
from benchmarks.plain_loops.plain import OPTIONS

njit = numba.njit(**OPTIONS)
U = np.uint64  # as in handwritten.py
TILE = 16


@njit
def padded(image, top, left, tile):
    """Copy a part of a plane into a tile; what lies outside is zero."""
    tile[:] = 0
    first_row, first_col = max(top, 0), max(left, 0)
    last_row = min(top + tile.shape[0], image.shape[0])
    last_col = min(left + tile.shape[1], image.shape[1])
    if first_row < last_row and first_col < last_col:
        tile[first_row - top : last_row - top, first_col - left : last_col - left] = image[
            first_row:last_row, first_col:last_col
        ]


@njit
def conv2d_tiled(grid, block, image, weight, bias, stride, padding, dilation, out):
    cols, rows = block[0], block[1]
    channels, depth, window_h, window_w = weight.shape
    group = channels * depth // image.shape[1]
    height = (rows - 1) * stride[0] + (window_h - 1) * dilation[0] + 1
    width = (cols - 1) * stride[1] + (window_w - 1) * dilation[1] + 1
    tile, acc = np.empty((height, width), out.dtype), np.empty((rows, cols), out.dtype)
    for n in range(out.shape[0]):
        for o in range(channels):
            for top in range(0, out.shape[2], rows):
                for left in range(0, out.shape[3], cols):
                    acc[:] = bias[o]
                    for i in range(depth):
                        plane = image[n, o // group * depth + i]
                        padded(
                            plane, top * stride[0] - padding[0], left * stride[1] - padding[1], tile
                        )
                        for kh in range(window_h):
                            for kw in range(window_w):
                                seen = tile[
                                    kh * dilation[0] :: stride[0], kw * dilation[1] :: stride[1]
                                ]
                                tap = weight[o, i, kh, kw]
                                for r in range(rows):
                                    for c in range(cols):
                                        acc[r, c] += tap * seen[r, c]
                    target = out[n, o, top : top + rows, left : left + cols]
                    target[:] = acc[: target.shape[0], : target.shape[1]]


@njit
def conv1d_tiled(grid, block, signal, weight, bias, stride, padding, dilation, out):
    size = block[0]
    channels, depth, window = weight.shape
    group = channels * depth // signal.shape[1]
    tile = np.empty((1, (size - 1) * stride + (window - 1) * dilation + 1), out.dtype)
    acc = np.empty(size, out.dtype)
    for n in range(out.shape[0]):
        for o in range(channels):
            for left in range(0, out.shape[2], size):
                acc[:] = bias[o]
                for i in range(depth):
                    channel = o // group * depth + i
                    part = signal[n, channel : channel + 1]
                    padded(part, 0, left * stride - padding, tile)
                    for k in range(window):
                        seen, tap = tile[0, k * dilation :: stride], weight[o, i, k]
                        for c in range(size):
                            acc[c] += tap * seen[c]
                target = out[n, o, left : left + size]
                target[:] = acc[: target.size]


@njit
def columns_product(grid, block, a, cols, bias, out):
    a_tile, b_tile = np.empty((TILE, TILE), out.dtype), np.empty((TILE, TILE), out.dtype)
    acc = np.empty((TILE, TILE), out.dtype)
    for n in range(out.shape[0]):
        for g in range(out.shape[1]):
            target = out[n, g]
            m, pixels, depth = U(target.shape[0]), U(target.shape[1]), U(a.shape[2])
            for row in range(U(0), m, U(TILE)):
                for col in range(U(0), pixels, U(TILE)):
                    acc[:] = 0
                    for t in range(U(0), depth, U(TILE)):
                        _load(a[g], row, t, a_tile)
                        _load(cols[n, g], t, col, b_tile)
                        handwritten.multiply(acc, a_tile, b_tile)
                    for r in range(min(U(TILE), m - row)):
                        for c in range(min(U(TILE), pixels - col)):
                            target[row + r, col + c] = acc[r, c] + bias[g, row + r]


@njit
def columns_grad_weight(grid, block, grad_out, cols, partial):
    a_tile, b_tile = np.empty((TILE, TILE), cols.dtype), np.empty((TILE, TILE), cols.dtype)
    turned, acc = np.empty((TILE, TILE), cols.dtype), np.empty((TILE, TILE), cols.dtype)
    slices = partial.shape[0]
    for s in range(slices):
        for g in range(partial.shape[1]):
            target = partial[s, g]
            m, depth, pixels = U(target.shape[0]), U(target.shape[1]), U(cols.shape[3])
            for row in range(U(0), m, U(TILE)):
                for col in range(U(0), depth, U(TILE)):
                    acc[:] = 0
                    for n in range(s, grad_out.shape[0], slices):
                        for t in range(U(0), pixels, U(TILE)):
                            _load(grad_out[n, g], row, t, a_tile)
                            _load(cols[n, g], col, t, turned)
                            b_tile[:] = turned.T
                            handwritten.multiply(acc, a_tile, b_tile)
                    for r in range(min(U(TILE), m - row)):
                        for c in range(min(U(TILE), depth - col)):
                            target[row + r, col + c] += acc[r, c]


@njit
def conv2d_grad_weight(grid, block, grad_out, image, stride, padding, dilation, grad_weight):
    rows, cols = grad_out.shape[2], grad_out.shape[3]
    group = grad_weight.shape[0] * grad_weight.shape[1] // image.shape[1]
    for o, i, kh, kw in np.ndindex(grad_weight.shape):
        c = o // group * grad_weight.shape[1] + i
        acc = grad_weight.dtype.type(0)
        for n in range(image.shape[0]):
            for row in range(rows):
                h = stride[0] * row + dilation[0] * kh - padding[0]
                if 0 <= h < image.shape[2]:
                    for col in range(cols):
                        w = stride[1] * col + dilation[1] * kw - padding[1]
                        if 0 <= w < image.shape[3]:
                            acc += grad_out[n, o, row, col] * image[n, c, h, w]
        grad_weight[o, i, kh, kw] = acc


@njit
def conv2d_grad_bias(grid, block, grad_out, grad_bias):
    acc = np.empty(256, grad_out.dtype)
    for o in range(grad_bias.size):
        acc[:] = 0
        for n in range(grad_out.shape[0]):
            for first in range(0, grad_out.shape[2], acc.size):
                part = grad_out[n, o, first : first + acc.size]
                for p in range(part.size):
                    acc[p] += part[p]
        grad_bias[o] = acc.sum()


@njit
def conv2d_implicit(grid, block, image, weight, bias, taps, stride, padding, size, width, out):
    """Tiles of 64 channels and 128 pixels, 16 deep, the pixels loaded as `taps` say."""
    channels, pixels, depth = 64, 128, 16
    batch, group = out.shape[0], out.shape[1] // grid[2]
    count, part = out.shape[2], image.size // (out.shape[0] * grid[2])
    a_tile, b_tile = np.empty((channels, depth), out.dtype), np.empty((depth, pixels), out.dtype)
    acc = np.empty((channels, pixels), out.dtype)
    for g in range(grid[2]):
        own = weight[g * group : (g + 1) * group]
        for first in range(0, group, channels):
            for begin in range(0, batch * count, pixels):
                acc[:] = 0
                for t in range(0, weight.shape[1], depth):
                    _load(own, U(first), U(t), a_tile)
                    for r in range(depth):
                        for column in range(pixels):
                            n, p = (begin + column) // count, (begin + column) % count
                            h = p // width * stride[0] - padding[0] + taps[t + r, 1]
                            w = p % width * stride[1] - padding[1] + taps[t + r, 2]
                            value = out.dtype.type(0)
                            if n < batch and 0 <= h < size[0] and 0 <= w < size[1]:
                                base = (n * grid[2] + g) * part
                                i = (taps[t + r, 0] - taps[t + r, 2]) // size[1] - taps[t + r, 1]
                                value = image[base + (i + h) * size[1] + w]
                            b_tile[r, column] = value
                    handwritten.multiply(acc, a_tile, b_tile)
                for r in range(min(channels, group - first)):
                    for column in range(min(pixels, batch * count - begin)):
                        n, p = (begin + column) // count, (begin + column) % count
                        o = g * group + first + r
                        out[n, o, p] = acc[r, column] + bias[o]


LOOPS = {
    "conv2d_tiled": conv2d_tiled,
    "conv1d_tiled": conv1d_tiled,
    "columns_product": columns_product,
    "columns_grad_weight": columns_grad_weight,
    "conv2d_grad_weight": conv2d_grad_weight,
    "conv2d_grad_bias": conv2d_grad_bias,
    "conv2d_implicit": conv2d_implicit,
}
