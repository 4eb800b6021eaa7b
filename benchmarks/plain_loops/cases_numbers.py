"""Bytes, colours, bits, float64 and complex numbers: an element or a pixel a thread."""

from __future__ import annotations

import colorsys
import math

import numpy as np

from benchmarks.plain_loops.case import Case, case, covering, floats, integers, nan, unset
from gpukit import cuda

BLOCK = 256
SQUARE = (16, 16)


def gray_bytes_kernel(rgb, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        r = rgb[row, col, 0]
        g = rgb[row, col, 1]
        b = rgb[row, col, 2]
        out[row, col] = np.uint8(0.299 * r + 0.587 * g + 0.114 * b)


def gray_bytes() -> Case:
    rows, cols = 1001, 1503
    rgb, out = integers(0, 256, rows, cols, 3, dtype=np.uint8), np.full((rows, cols), 77, np.uint8)
    r, g, b = np.moveaxis(rgb.astype(float), 2, 0)
    expected = (0.299 * r + 0.587 * g + 0.114 * b).astype(np.uint8)
    return case(gray_bytes_kernel, covering(SQUARE, cols, rows), SQUARE, (rgb, out), expected)


def hsv_kernel(rgb, hsv):
    i = cuda.grid(1)
    if i < rgb.shape[0]:
        r = rgb[i, 0]
        g = rgb[i, 1]
        b = rgb[i, 2]
        high = max(r, g, b)
        low = min(r, g, b)
        spread = high - low
        hue = np.float32(0)
        if spread > 0:
            if high == r:
                hue = (g - b) / spread
            elif high == g:
                hue = np.float32(2) + (b - r) / spread
            else:
                hue = np.float32(4) + (r - g) / spread
            hue /= np.float32(6)
            if hue < 0:
                hue += np.float32(1)
        hsv[i, 0] = hue
        hsv[i, 1] = spread / high if high > 0 else np.float32(0)
        hsv[i, 2] = high


def hsv() -> Case:
    n = 200_003
    rgb, out = np.random.default_rng(7).random((n, 3), np.float32), nan(n, 3)
    expected = np.array([colorsys.rgb_to_hsv(*pixel) for pixel in rgb.astype(float).tolist()])
    return case(hsv_kernel, covering(BLOCK, n), BLOCK, (rgb, out), expected, terms=64)


def alpha_blend_kernel(front, back, alpha, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        for c in range(3):
            mixed = alpha * front[row, col, c] + (1 - alpha) * back[row, col, c]
            out[row, col, c] = int(mixed)


def alpha_blend() -> Case:
    shape, alpha = (501, 703, 3), 0.3
    front, back = (integers(0, 256, *shape, dtype=np.uint8, seed=seed) for seed in (7, 8))
    out = np.full(shape, 77, np.uint8)
    expected = (alpha * front + (1 - alpha) * back).astype(np.uint8)
    grid = covering(SQUARE, 703, 501)
    return case(alpha_blend_kernel, grid, SQUARE, (front, back, alpha, out), expected)


def gamma_table_kernel(pixels, table, out):
    i = cuda.grid(1)
    if i < pixels.size:
        out[i] = table[pixels[i]]


def gamma_table() -> Case:
    n = 4_000_037
    pixels = integers(0, 256, n, dtype=np.uint8)
    table = np.round(255 * (np.arange(256) / 255) ** (1 / 2.2)).astype(np.uint8)
    arguments = (pixels, table, np.zeros(n, np.uint8))
    return case(gamma_table_kernel, covering(BLOCK, n), BLOCK, arguments, table[pixels])


def threshold_kernel(x, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] > limit:
            out[i] = 255
        else:
            out[i] = 0


def threshold() -> Case:
    n = 20_000_003
    x, out = integers(0, 256, n, dtype=np.uint8), np.full(n, 77, np.uint8)
    expected = np.where(x > 100, 255, 0)
    return case(threshold_kernel, covering(BLOCK, n), BLOCK, (x, np.uint8(100), out), expected)


def hash_integers_kernel(keys, out):
    i = cuda.grid(1)
    if i < keys.size:
        h = keys[i]
        h = np.uint32(h ^ (h >> np.uint32(16)))
        h = np.uint32(h * np.uint32(0x85EBCA6B))
        h = np.uint32(h ^ (h >> np.uint32(13)))
        h = np.uint32(h * np.uint32(0xC2B2AE35))
        out[i] = h ^ (h >> np.uint32(16))


def hash_integers() -> Case:
    n = 4_000_037
    keys, out = integers(0, 1 << 32, n, dtype=np.uint32), np.zeros(n, np.uint32)
    h = keys ^ (keys >> 16)
    h = h * np.uint32(0x85EBCA6B)
    h = h ^ (h >> 13)
    h = h * np.uint32(0xC2B2AE35)
    return case(hash_integers_kernel, covering(BLOCK, n), BLOCK, (keys, out), h ^ (h >> 16))


def popcount_kernel(words, out):
    i = cuda.grid(1)
    if i < words.size:
        v = words[i]
        count = 0
        while v != 0:
            v &= v - 1
            count += 1
        out[i] = count


def popcount() -> Case:
    n = 1_500_007
    words, out = integers(0, 1 << 40, n, dtype=np.int64), unset(n)
    expected = np.bitwise_count(words)
    return case(popcount_kernel, covering(BLOCK, n), BLOCK, (words, out), expected)


def bit_reversal_kernel(x, bits, out):
    i = cuda.grid(1)
    if i < x.size:
        place = 0
        rest = i
        for _ in range(bits):
            place = (place << 1) | (rest & 1)
            rest >>= 1
        out[place] = x[i]


def bit_reversal() -> Case:
    bits = 18
    x, out = floats(1 << bits), nan(1 << bits)
    expected = x.reshape((2,) * bits).transpose().ravel()
    return case(bit_reversal_kernel, (1 << bits) // BLOCK, BLOCK, (x, bits, out), expected)


def axpy_double_kernel(a, x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = a * x[i] + y[i]


def axpy_double() -> Case:
    n = 2_000_003
    x, y = floats(n, dtype=float), floats(n, dtype=float, seed=8)
    arguments = (2.5, x, y, nan(n, dtype=float))
    return case(axpy_double_kernel, covering(100, n), 100, arguments, 2.5 * x + y, terms=2)


def horner_kernel(coefficients, x, out):
    i = cuda.grid(1)
    if i < x.size:
        value = coefficients[coefficients.size - 1]
        for k in range(coefficients.size - 2, -1, -1):
            value = value * x[i] + coefficients[k]
        out[i] = value


def horner() -> Case:
    n = 500_009
    coefficients, x = floats(12, dtype=float), floats(n, dtype=float, seed=8)
    arguments = (coefficients, x, nan(n, dtype=float))
    expected = np.polynomial.polynomial.polyval(x, coefficients)
    return case(horner_kernel, covering(BLOCK, n), BLOCK, arguments, expected, terms=24)


def logistic_kernel(r, x0, steps, out):
    i = cuda.grid(1)
    if i < r.size:
        x = x0
        for _ in range(steps):
            x = r[i] * x * (1.0 - x)
        out[i] = x


def logistic() -> Case:
    n, steps = 100_003, 100
    r, x = np.linspace(1, 3.4, n), np.full(n, 0.4)
    for _ in range(steps):
        x = r * x * (1 - x)
    arguments = (r, 0.4, steps, nan(n, dtype=float))
    return case(logistic_kernel, covering(BLOCK, n), BLOCK, arguments, x, terms=steps)


def complex_multiply_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * b[i]


def _complex(n: int, dtype: type, seed: int = 7):
    return (floats(n, seed=seed) + 1j * floats(n, seed=seed + 10)).astype(dtype)


def complex_multiply() -> Case:
    n = 1_000_003
    a, b = (_complex(n, np.complex64, seed) for seed in (7, 8))
    expected = a.astype(complex) * b
    arguments = (a, b, np.full(n, np.nan, np.complex64))
    grid = covering(BLOCK, n)
    return case(complex_multiply_kernel, grid, BLOCK, arguments, expected, terms=4)


def fft_butterfly_kernel(x, half):
    i = cuda.grid(1)
    if i < x.size // 2:
        k = i % half
        top = (i // half) * 2 * half + k
        angle = -math.pi * k / half
        twiddle = complex(math.cos(angle), math.sin(angle))
        even = x[top]
        odd = x[top + half] * twiddle
        x[top] = even + odd
        x[top + half] = even - odd


def fft_butterfly() -> Case:
    n, half = 1 << 18, 64
    x = _complex(n, np.complex128)
    even, odd = np.moveaxis(x.reshape(-1, 2, half), 1, 0)
    odd = odd * np.exp(-1j * np.pi * np.arange(half) / half)
    expected = np.stack([even + odd, even - odd], axis=1).ravel()
    grid = covering(BLOCK, n // 2)
    return case(fft_butterfly_kernel, grid, BLOCK, (x, half), expected, terms=8)


CASES = (
    gray_bytes,
    hsv,
    alpha_blend,
    gamma_table,
    threshold,
    hash_integers,
    popcount,
    bit_reversal,
    axpy_double,
    horner,
    logistic,
    complex_multiply,
    fft_butterfly,
)
