"""Rays and fractals: a pixel a thread, and each as long as it takes."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.plain_loops.case import Case, case, covering, nan, unset
from gpukit import cuda

SQUARE = (16, 16)


@cuda.jit(device=True)
def hit_sphere(ox, oy, dx, dy, dz, x, y, z, radius):
    """Return how far along a ray from (ox, oy, 0) a sphere is met; -1 if it is not."""
    px = x - ox
    py = y - oy
    b = px * dx + py * dy + z * dz
    c = px * px + py * py + z * z - radius * radius
    under = b * b - c
    if under < 0:
        return np.float32(-1)
    return np.float32(b - math.sqrt(under))


def spheres_kernel(spheres, image):
    col, row = cuda.grid(2)
    rows, cols = image.shape
    if row < rows and col < cols:
        ox = np.float32(2) * col / cols - np.float32(1)
        oy = np.float32(2) * row / rows - np.float32(1)
        nearest = np.float32(1e10)
        for s in range(spheres.shape[0]):
            t = hit_sphere(
                ox,
                oy,
                np.float32(0),
                np.float32(0),
                np.float32(1),
                spheres[s, 0],
                spheres[s, 1],
                spheres[s, 2],
                spheres[s, 3],
            )
            if t > 0 and t < nearest:
                nearest = t
        image[row, col] = nearest


def spheres() -> Case:
    rows, cols, rng = 201, 307, np.random.default_rng(7)
    found = np.column_stack(
        [rng.uniform(-1, 1, (20, 2)), rng.uniform(3, 5, 20), rng.uniform(0.1, 0.4, 20)]
    ).astype(np.float32)
    y, x = (2 * np.arange(n) / n - 1 for n in (rows, cols))
    px, py = found[:, 0] - x[:, None], found[:, 1] - y[:, None]
    far, radius = found[:, 2].astype(float), found[:, 3].astype(float)
    under = radius**2 - (px**2)[None] - (py**2)[:, None]
    t = np.where(under >= 0, far - np.sqrt(np.maximum(under, 0)), 1e10)
    image = nan(rows, cols)
    # At its rim a sphere is met or not.
    return case(
        spheres_kernel, covering(SQUARE, cols, rows), SQUARE, (found, image), t.min(axis=2), few=40
    )


@cuda.jit(device=True)
def smooth_union(a, b, k):
    h = max(k - abs(a - b), 0.0) / k
    return min(a, b) - h * h * k * 0.25


@cuda.jit(device=True)
def scene(x, y, z):
    ball = math.sqrt(x * x + y * y + z * z) - 1.0
    other = math.sqrt((x - 1.2) ** 2 + y * y + z * z) - 0.7
    return smooth_union(ball, other, 0.3)


def march_kernel(steps, depth):
    col, row = cuda.grid(2)
    rows, cols = depth.shape
    if row >= rows or col >= cols:
        return
    x = 4.0 * col / cols - 2.0
    y = 4.0 * row / rows - 2.0
    z = -4.0
    for _ in range(steps):
        d = scene(x, y, z)
        if d < 0.001 or z > 4.0:
            break
        z += d
    depth[row, col] = z


def march() -> Case:
    rows, cols, steps = 101, 207, 64
    y, x = np.meshgrid(
        4 * np.arange(rows) / rows - 2, 4 * np.arange(cols) / cols - 2, indexing="ij"
    )
    z, going = np.full(x.shape, -4.0), np.full(x.shape, True)
    for _ in range(steps):
        a = np.sqrt(x**2 + y**2 + z**2) - 1
        b = np.sqrt((x - 1.2) ** 2 + y**2 + z**2) - 0.7
        h = np.maximum(0.3 - np.abs(a - b), 0) / 0.3
        d = np.minimum(a, b) - h * h * 0.3 * 0.25
        going &= ~((d < 0.001) | (z > 4))
        z = np.where(going, z + d, z)
    arguments = (steps, nan(rows, cols, dtype=float))
    grid = covering(SQUARE, cols, rows)
    return case(march_kernel, grid, SQUARE, arguments, z, terms=1000, few=40)


@cuda.jit(device=True)
def escape(cx, cy, zx, zy, limit):
    for n in range(limit):
        xx = zx * zx
        yy = zy * zy
        if xx + yy > np.float32(4):
            return n
        zy = np.float32(2) * zx * zy + cy
        zx = xx - yy + cx
    return limit


def _escapes(cx, cy, zx, zy, limit):
    """Return the same for arrays."""
    cx, cy, zx, zy = np.broadcast_arrays(*(np.asarray(a, np.float32) for a in (cx, cy, zx, zy)))
    count, going = np.full(cx.shape, limit), np.full(cx.shape, True)
    with np.errstate(over="ignore", invalid="ignore"):
        for n in range(limit):
            xx, yy = zx * zx, zy * zy
            out = going & (xx + yy > 4)
            count[out] = n
            going &= ~out
            zx, zy = xx - yy + cx, np.float32(2) * zx * zy + cy
    return count


def mandelbrot_kernel(left, top, step, limit, image):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        cx = left + np.float32(col) * step
        cy = top + np.float32(row) * step
        image[row, col] = escape(cx, cy, np.float32(0), np.float32(0), limit)


def mandelbrot() -> Case:
    rows, cols, limit = 151, 203, 100
    left, top, step = np.float32(-2), np.float32(-1.1), np.float32(0.0147)
    cx, cy = (at + np.arange(n, dtype=np.float32) * step for at, n in ((left, cols), (top, rows)))
    expected = _escapes(cx, cy[:, None], 0, 0, limit)
    arguments = (left, top, step, limit, unset(rows, cols))
    grid = covering(SQUARE, cols, rows)
    return case(mandelbrot_kernel, grid, SQUARE, arguments, expected, few=40)


def julia_kernel(cx, cy, limit, image):
    x, y = cuda.grid(2)
    if y < image.shape[0] and x < image.shape[1]:
        zx = np.float32(x) * np.float32(0.01) - np.float32(1.5)
        zy = np.float32(y) * np.float32(0.01) - np.float32(1)
        image[y, x] = escape(cx, cy, zx, zy, limit)


def julia() -> Case:
    rows, cols, limit = 201, 301, 100
    cx, cy = np.float32(-0.4), np.float32(0.6)
    x, y = (
        np.arange(n, dtype=np.float32) * np.float32(0.01) - np.float32(at)
        for n, at in ((cols, 1.5), (rows, 1))
    )
    expected = _escapes(cx, cy, x, y[:, None], limit).astype(np.uint8)
    image = np.full((rows, cols), 255, np.uint8)
    grid = covering(SQUARE, cols, rows)
    return case(julia_kernel, grid, SQUARE, (cx, cy, limit, image), expected, few=60)


def mandelbrot_complex_kernel(left, top, step, limit, image):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        c = complex(left + col * step, top + row * step)
        z = 0j
        n = 0
        while n < limit and z.real * z.real + z.imag * z.imag <= 4.0:
            z = z * z + c
            n += 1
        image[row, col] = n


def mandelbrot_complex() -> Case:
    rows, cols, limit, left, top, step = 151, 203, 100, -2.0, -1.1, 0.0147
    c = left + np.arange(cols) * step + 1j * (top + np.arange(rows)[:, None] * step)
    z, count = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(limit):
        going = z.real**2 + z.imag**2 <= 4
        z = np.where(going, z * z + c, z)
        count += going
    arguments = (left, top, step, limit, unset(rows, cols))
    grid = covering(SQUARE, cols, rows)
    return case(mandelbrot_complex_kernel, grid, SQUARE, arguments, count, few=10)


CASES = (spheres, march, mandelbrot, julia, mandelbrot_complex)
