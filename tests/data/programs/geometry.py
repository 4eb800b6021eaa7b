"""Geometry and pictures that are computed: globes, rotations, fractals, rays, noise, polygons."""

import math
from typing import NamedTuple

import numpy as np
from numba import cuda

from tests.programs.registry import program


@cuda.jit
def haversine(a, b, out, radius):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < b.shape[0]:
        lat1, lat2 = math.radians(a[i, 0]), math.radians(b[j, 0])
        dlon = math.radians(b[j, 1] - a[i, 1])
        h = math.sin((lat2 - lat1) / 2) ** 2
        h += math.cos(lat1) * math.cos(lat2) * math.sin(dlon / 2) ** 2
        out[i, j] = 2 * radius * math.asin(math.sqrt(min(1, h)))


@program(tolerance=1e-6)
def distances_on_the_globe():
    a, b = np.random.default_rng(5).uniform([-80, -170], [80, 170], (2, 23, 2))
    out = np.full((23, 23), np.nan)
    haversine[(3, 3), (8, 8)](a, b, out, 6371.0)

    def unit(p):
        lat, lon = np.radians(p).T
        return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])

    yield out, 6371 * np.arccos(np.clip(unit(a).T @ unit(b), -1, 1))


class Quaternion(NamedTuple):
    w: float
    x: float
    y: float
    z: float


@cuda.jit(device=True)
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@cuda.jit
def rotate(points, q, out):
    i = cuda.grid(1)
    if i < points.shape[0]:
        v = (points[i, 0], points[i, 1], points[i, 2])
        u = (q.x, q.y, q.z)
        t = cross(u, v)
        t = (2 * t[0], 2 * t[1], 2 * t[2])
        r = cross(u, t)
        for k in range(3):
            out[i, k] = v[k] + q.w * t[k] + r[k]


@program()
def rotation_by_quaternions_in_tuples():
    points = np.random.default_rng(6).normal(size=(41, 3))
    axis, angle = np.array([1, 2, -2]) / 3, 0.7
    q = Quaternion(math.cos(angle / 2), *(math.sin(angle / 2) * axis))
    out = np.full((41, 3), np.nan)
    rotate[2, 32](points, q, out)
    along = np.outer(points @ axis, axis)
    turned = (points - along) * np.cos(angle) + np.cross(axis, points) * np.sin(angle)
    yield out, along + turned


@cuda.jit
def mandelbrot(out, left, top, step, limit):
    x0, y0 = cuda.grid(2)
    for x in range(x0, out.shape[1], cuda.gridDim.x * cuda.blockDim.x):
        for y in range(y0, out.shape[0], cuda.gridDim.y * cuda.blockDim.y):
            c = complex(left + x * step, top - y * step)
            z, n = 0j, 0
            while abs(z) <= 2 and n < limit:
                z = z**2 + c
                n += 1
            out[y, x] = n


@program()
def mandelbrot_with_while_and_complex():
    out = np.full((16, 21), 255, np.uint8)
    mandelbrot[(1, 2), (8, 4)](out, -2.03, 1.01, 0.127, 30)
    c = -2.03 + np.arange(21) * 0.127 + 1j * (1.01 - np.arange(16)[:, None] * 0.127)
    z, n = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(30):
        inside = np.abs(z) <= 2
        n += inside
        z = np.where(inside, z * z + c, z)
    yield out, n


@cuda.jit(device=True)
def hit_sphere(ox, oy, oz, dx, dy, dz, s, r2):
    lx, ly, lz = s[0] - ox, s[1] - oy, s[2] - oz
    tca = lx * dx + ly * dy + lz * dz
    d2 = lx * lx + ly * ly + lz * lz - tca * tca
    if tca < 0 or d2 > r2:
        return -1.0
    return tca - math.sqrt(r2 - d2)


@cuda.jit
def ray_trace(spheres, radii, image):
    x, y = cuda.grid(2)
    h, w = image.shape[:2]
    if x >= w or y >= h:
        return
    dx, dy, dz = (x - w / 2) / w, (y - h / 2) / h, 1.0
    norm = math.sqrt(dx * dx + dy * dy + dz * dz)
    dx, dy, dz = dx / norm, dy / norm, dz / norm
    nearest, which = math.inf, -1
    for k in range(spheres.shape[0]):
        t = hit_sphere(0.0, 0.0, 0.0, dx, dy, dz, spheres[k], radii[k] ** 2)
        if 0 < t < nearest:
            nearest, which = t, k
    image[y, x, 0] = nearest if which >= 0 else 0
    image[y, x, 1] = which


@program()
def ray_tracer_of_spheres():
    spheres = np.array([[0, 0, 5], [0.8, 0.3, 4], [-1, -0.5, 6.0]])
    radii = np.array([1, 0.4, 0.9])
    image = np.full((18, 25, 2), np.nan)
    ray_trace[(4, 3), (8, 8)](spheres, radii, image)
    y, x = np.mgrid[0:18, 0:25]
    d = np.stack([(x - 12.5) / 25, (y - 9) / 18, np.ones((18, 25))], -1)
    d /= np.linalg.norm(d, axis=-1, keepdims=True)
    b = d @ spheres.T
    under = b**2 - (spheres**2).sum(1) + radii**2
    t = np.where(under >= 0, b - np.sqrt(np.abs(under)), np.inf)
    yield image[..., 1], np.where(np.isinf(t.min(-1)), -1, t.argmin(-1))
    yield image[..., 0], np.where(np.isinf(t.min(-1)), 0, t.min(-1))


@cuda.jit
def orientation_sum(x, y, area, signs):
    i = cuda.grid(1)
    n = x.size
    if i < n:
        p, q = i - 1 if i else n - 1, (i + 1) % n
        cuda.atomic.add(area, 0, 0.5 * (x[i] * y[q] - x[q] * y[i]))
        turn = (x[i] - x[p]) * (y[q] - y[i]) - (y[i] - y[p]) * (x[q] - x[i])
        signs[i] = (turn > 0) - (turn < 0)


@program(tolerance=1e-9)
def area_and_corners_of_a_polygon():
    turns = np.arange(45) * 2 * np.pi / 45
    x, y = 2 * np.cos(turns), 3 * np.sin(turns)
    x[7], y[7] = 0, 0
    area, signs = np.zeros(1), np.full(45, 9, np.int8)
    orientation_sum[2, 32](x, y, area, signs)
    whole = 45 / 2 * np.sin(2 * np.pi / 45) * 6
    missing = 6 * np.sin(2 * np.pi / 45) - 0
    yield area, [whole - missing]
    yield signs, np.where(np.arange(45) == 7, -1, 1)
