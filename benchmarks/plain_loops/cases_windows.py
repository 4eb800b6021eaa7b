"""Windows over images: each thread reads around its pixel."""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.plain_loops.case import Case, case, covering, floats, integers, nan
from gpukit import cuda

BLOCK = (32, 8)
SQUARE = (16, 16)
ROWS, COLS = 1999, 2501


def window_min_kernel(x, out):
    col, row = cuda.grid(2)
    if 0 < row < x.shape[0] - 1 and 0 < col < x.shape[1] - 1:
        least = x[row, col]
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                least = min(least, x[row + dy, col + dx])
        out[row, col] = least


def window_min() -> Case:
    x, out = floats(ROWS, COLS), nan(ROWS, COLS)
    expected = out.copy()
    expected[1:-1, 1:-1] = sliding_window_view(x, (3, 3)).min(axis=(2, 3))
    return case(window_min_kernel, covering(BLOCK, COLS, ROWS), BLOCK, (x, out), expected)


def window_max_radius_kernel(x, radius, out):
    col, row = cuda.grid(2)
    if radius <= row < x.shape[0] - radius and radius <= col < x.shape[1] - radius:
        best = x[row, col]
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                if x[row + dy, col + dx] > best:
                    best = x[row + dy, col + dx]
        out[row, col] = best


def window_max_radius() -> Case:
    x, out = floats(ROWS, COLS), nan(ROWS, COLS)
    expected = out.copy()
    expected[1:-1, 1:-1] = sliding_window_view(x, (3, 3)).max(axis=(2, 3))
    return case(window_max_radius_kernel, covering(BLOCK, COLS, ROWS), BLOCK, (x, 1, out), expected)


def window_sum_padded_kernel(x, out):
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    rows, cols = x.shape
    if row >= rows or col >= cols:
        return
    total = np.float32(0)
    for i in range(3):
        for j in range(3):
            r = row + i - 1
            c = col + j - 1
            if r >= 0 and r < rows and c >= 0 and c < cols:
                total += x[r, c]
    out[row, col] = total


def window_sum_padded() -> Case:
    x, out = floats(ROWS, COLS), nan(ROWS, COLS)
    expected = sliding_window_view(np.pad(x, 1).astype(float), (3, 3)).sum(axis=(2, 3))
    grid = covering(SQUARE, COLS, ROWS)
    return case(window_sum_padded_kernel, grid, SQUARE, (x, out), expected, terms=9)


def conv_stride_padding_kernel(x, weight, stride, padding, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        acc = np.float32(0)
        for i in range(weight.shape[0]):
            for j in range(weight.shape[1]):
                r = row * stride + i - padding
                c = col * stride + j - padding
                if 0 <= r < x.shape[0] and 0 <= c < x.shape[1]:
                    acc += weight[i, j] * x[r, c]
        out[row, col] = acc


def conv_stride_padding(stride: int = 1) -> Case:
    x, weight = floats(499 * stride, 751 * stride), floats(5, 5, seed=8)
    windows = sliding_window_view(np.pad(x, 2).astype(float), weight.shape)[::stride, ::stride]
    expected = np.einsum("rcij,ij->rc", windows, weight)
    rows, cols = expected.shape
    arguments = (x, weight, stride, 2, nan(rows, cols))
    grid = covering(BLOCK, cols, rows)
    return case(conv_stride_padding_kernel, grid, BLOCK, arguments, expected, terms=25)


def conv_stride_two() -> Case:
    return conv_stride_padding(2)


def box_blur_clipped_kernel(x, radius, out):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        total = np.float32(0)
        count = 0
        for r in range(max(row - radius, 0), min(row + radius + 1, x.shape[0])):
            for c in range(max(col - radius, 0), min(col + radius + 1, x.shape[1])):
                total += x[r, c]
                count += 1
        out[row, col] = total / count


def box_blur_clipped() -> Case:
    rows, cols, radius = 501, 701, 3
    x, out = floats(rows, cols), nan(rows, cols)
    size = (2 * radius + 1,) * 2
    windows, inside = (
        sliding_window_view(np.pad(a, radius), size) for a in (x.astype(float), np.ones(x.shape))
    )
    expected = windows.sum(axis=(2, 3)) / inside.sum(axis=(2, 3))
    grid = covering(BLOCK, cols, rows)
    return case(box_blur_clipped_kernel, grid, BLOCK, (x, radius, out), expected, terms=49)


def median_kernel(x, out):
    col, row = cuda.grid(2)
    rows, cols = x.shape
    if row < rows and col < cols:
        window = cuda.local.array(9, np.float32)
        k = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                r = min(max(row + dy, 0), rows - 1)
                c = min(max(col + dx, 0), cols - 1)
                window[k] = x[r, c]
                k += 1
        for i in range(1, 9):
            value = window[i]
            j = i - 1
            while j >= 0 and window[j] > value:
                window[j + 1] = window[j]
                j -= 1
            window[j + 1] = value
        out[row, col] = window[4]


def median() -> Case:
    rows, cols = 301, 401
    x, out = floats(rows, cols), nan(rows, cols)
    windows = sliding_window_view(np.pad(x, 1, mode="edge"), (3, 3))
    expected = np.median(windows.reshape(rows, cols, 9), axis=2)
    return case(median_kernel, covering(SQUARE, cols, rows), SQUARE, (x, out), expected)


def sobel_kernel(x, out):
    col, row = cuda.grid(2)
    if row > 0 and row < x.shape[0] - 1 and col > 0 and col < x.shape[1] - 1:
        gx = (
            x[row - 1, col + 1]
            + 2 * x[row, col + 1]
            + x[row + 1, col + 1]
            - x[row - 1, col - 1]
            - 2 * x[row, col - 1]
            - x[row + 1, col - 1]
        )
        gy = (
            x[row + 1, col - 1]
            + 2 * x[row + 1, col]
            + x[row + 1, col + 1]
            - x[row - 1, col - 1]
            - 2 * x[row - 1, col]
            - x[row - 1, col + 1]
        )
        out[row, col] = math.sqrt(gx * gx + gy * gy)


def sobel() -> Case:
    x, out = floats(ROWS, COLS), nan(ROWS, COLS)
    gx, gy = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]), np.array([1, 2, 1])
    windows = sliding_window_view(x.astype(float), (3, 3))
    across = np.einsum("rcij,ij->rc", windows, gx)
    down = np.einsum("rcij,ij->rc", windows, np.outer([-1, 0, 1], gy))
    expected = out.copy()
    expected[1:-1, 1:-1] = np.hypot(across, down)
    return case(sobel_kernel, covering(BLOCK, COLS, ROWS), BLOCK, (x, out), expected, terms=9)


def bilateral_kernel(x, radius, near, alike, out):
    col, row = cuda.grid(2)
    rows, cols = x.shape
    if row < rows and col < cols:
        centre = x[row, col]
        total = np.float32(0)
        weights = np.float32(0)
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                r = row + dy
                c = col + dx
                if 0 <= r < rows and 0 <= c < cols:
                    value = x[r, c]
                    d = value - centre
                    w = math.exp(np.float32(-(dx * dx + dy * dy)) * near - d * d * alike)
                    total += w * value
                    weights += w
        out[row, col] = total / weights


def bilateral() -> Case:
    rows, cols, radius = 203, 301, 2
    x, out = floats(rows, cols), nan(rows, cols)
    near, alike = np.float32(0.1), np.float32(0.5)
    size = 2 * radius + 1
    padded = np.pad(x.astype(float), radius, constant_values=np.nan)
    windows = sliding_window_view(padded, (size, size))
    at = np.arange(size) - radius
    far = at[:, None] ** 2 + at**2
    weights = np.exp(-far * float(near) - (windows - x[..., None, None]) ** 2 * float(alike))
    expected = np.nansum(weights * windows, axis=(2, 3)) / np.nansum(weights, axis=(2, 3))
    arguments = (x, radius, near, alike, out)
    grid = covering(SQUARE, cols, rows)
    return case(bilateral_kernel, grid, SQUARE, arguments, expected, terms=25)


def max_pool_kernel(x, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        above = max(x[2 * row, 2 * col], x[2 * row, 2 * col + 1])
        below = max(x[2 * row + 1, 2 * col], x[2 * row + 1, 2 * col + 1])
        out[row, col] = max(above, below)


def max_pool() -> Case:
    rows, cols = 1001, 1503
    x, out = floats(2 * rows, 2 * cols), nan(rows, cols)
    expected = x.reshape(rows, 2, cols, 2).max(axis=(1, 3))
    return case(max_pool_kernel, covering(BLOCK, cols, rows), BLOCK, (x, out), expected)


def depthwise_conv_kernel(x, weight, out):
    col, row, channel = cuda.grid(3)
    if channel < out.shape[0] and row < out.shape[1] and col < out.shape[2]:
        acc = np.float32(0)
        for i in range(3):
            for j in range(3):
                acc += weight[channel, i, j] * x[channel, row + i, col + j]
        out[channel, row, col] = acc


def depthwise_conv() -> Case:
    channels, rows, cols, block = 17, 201, 301, (32, 4, 2)
    x, weight = floats(channels, rows + 2, cols + 2), floats(channels, 3, 3, seed=8)
    windows = sliding_window_view(x.astype(float), (3, 3), axis=(1, 2))
    expected = np.einsum("krcij,kij->krc", windows, weight)
    arguments = (x, weight, nan(channels, rows, cols))
    grid = covering(block, cols, rows, channels)
    return case(depthwise_conv_kernel, grid, block, arguments, expected, terms=9)


def bilinear_resize_kernel(x, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        y = row * (x.shape[0] - 1) / (out.shape[0] - 1)
        z = col * (x.shape[1] - 1) / (out.shape[1] - 1)
        r = min(int(y), x.shape[0] - 2)
        c = min(int(z), x.shape[1] - 2)
        dy = y - r
        dz = z - c
        above = x[r, c] * (1 - dz) + x[r, c + 1] * dz
        below = x[r + 1, c] * (1 - dz) + x[r + 1, c + 1] * dz
        out[row, col] = above * (1 - dy) + below * dy


def bilinear_resize() -> Case:
    x, out = floats(517, 733), nan(999, 1501)
    y, z = (np.arange(n) * (m - 1) / (n - 1) for n, m in zip(out.shape, x.shape, strict=True))
    r, c = (np.minimum(v.astype(int), m - 2) for v, m in zip((y, z), x.shape, strict=True))
    dy, dz = (y - r)[:, None], z - c
    above, below = (x[k][:, c] * (1 - dz) + x[k][:, c + 1] * dz for k in (r, r + 1))
    expected = above * (1 - dy) + below * dy
    return case(bilinear_resize_kernel, covering(BLOCK, 1501, 999), BLOCK, (x, out), expected)


def emboss_bytes_kernel(x, out):
    col, row = cuda.grid(2)
    if 1 <= row < x.shape[0] - 1 and 1 <= col < x.shape[1] - 1:
        value = 128 + int(x[row - 1, col - 1]) - int(x[row + 1, col + 1])
        if value < 0:
            value = 0
        elif value > 255:
            value = 255
        out[row, col] = value


def emboss_bytes() -> Case:
    rows, cols = 2 * ROWS, 2 * COLS
    x, out = integers(0, 256, rows, cols, dtype=np.uint8), np.full((rows, cols), 77, np.uint8)
    expected = out.copy()
    expected[1:-1, 1:-1] = np.clip(128 + x[:-2, :-2].astype(int) - x[2:, 2:], 0, 255)
    return case(emboss_bytes_kernel, covering(BLOCK, cols, rows), BLOCK, (x, out), expected)


CASES = (
    window_min,
    window_max_radius,
    window_sum_padded,
    conv_stride_padding,
    conv_stride_two,
    box_blur_clipped,
    median,
    sobel,
    bilateral,
    max_pool,
    depthwise_conv,
    bilinear_resize,
    emboss_bytes,
)
