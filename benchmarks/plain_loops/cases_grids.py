"""Steps of simulations on grids, in blocks of one to three dimensions and odd shapes."""

from __future__ import annotations

import numpy as np

from benchmarks.plain_loops.case import Case, case, covering, floats, integers, nan
from gpukit import cuda

BLOCK = (32, 8)
NARROW = (33, 3)
ODD = (7, 5, 3)
ROWS, COLS = 1501, 2003


def jacobi_kernel(u, f, h2, out):
    i, j = cuda.grid(2)
    if i > 0 and i < u.shape[1] - 1 and j > 0 and j < u.shape[0] - 1:
        out[j, i] = 0.25 * (u[j - 1, i] + u[j + 1, i] + u[j, i - 1] + u[j, i + 1] - h2 * f[j, i])


def jacobi() -> Case:
    u, f, out = floats(ROWS, COLS), floats(ROWS, COLS, seed=8), nan(ROWS, COLS)
    h2 = np.float32(0.01)
    expected, v = out.copy(), u.astype(float)
    around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
    expected[1:-1, 1:-1] = 0.25 * (around - float(h2) * f[1:-1, 1:-1])
    grid = covering(NARROW, COLS, ROWS)
    return case(jacobi_kernel, grid, NARROW, (u, f, h2, out), expected, terms=6)


def heat_2d_kernel(u, alpha, out):
    col, row = cuda.grid(2)
    rows, cols = u.shape
    if row < rows and col < cols:
        if row == 0 or row == rows - 1 or col == 0 or col == cols - 1:
            out[row, col] = u[row, col]
        else:
            across = u[row, col - 1] - np.float32(2) * u[row, col] + u[row, col + 1]
            down = u[row - 1, col] - np.float32(2) * u[row, col] + u[row + 1, col]
            out[row, col] = u[row, col] + alpha * (across + down)


def heat_2d() -> Case:
    u, out, alpha = floats(ROWS, COLS), nan(ROWS, COLS), np.float32(0.2)
    expected = u.astype(float)
    v = expected.copy()
    around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1]
    expected[1:-1, 1:-1] += float(alpha) * around
    grid = covering(BLOCK, COLS, ROWS)
    return case(heat_2d_kernel, grid, BLOCK, (u, alpha, out), expected, terms=9)


def heat_3d_kernel(u, alpha, out):
    x, y, z = cuda.grid(3)
    nz, ny, nx = u.shape
    if 0 < x < nx - 1 and 0 < y < ny - 1 and 0 < z < nz - 1:
        centre = u[z, y, x]
        around = (
            u[z, y, x - 1]
            + u[z, y, x + 1]
            + u[z, y - 1, x]
            + u[z, y + 1, x]
            + u[z - 1, y, x]
            + u[z + 1, y, x]
        )
        out[z, y, x] = centre + alpha * (around - 6 * centre)


def heat_3d() -> Case:
    shape = (81, 101, 131)
    u, out, alpha = floats(*shape), nan(*shape), np.float32(0.1)
    v, expected = u.astype(float), out.copy()
    inner = v[1:-1, 1:-1, 1:-1]
    around = sum(
        np.roll(v, by, axis)[1:-1, 1:-1, 1:-1] for axis in range(3) for by in (-1, 1)
    )  # what is rolled over the edge is cut off
    expected[1:-1, 1:-1, 1:-1] = inner + float(alpha) * (around - 6 * inner)
    grid = covering(ODD, *shape[::-1])
    return case(heat_3d_kernel, grid, ODD, (u, alpha, out), expected, terms=9)


def life_kernel(cells, out):
    col, row = cuda.grid(2)
    rows, cols = cells.shape
    if row < rows and col < cols:
        alive = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dy != 0 or dx != 0:
                    alive += cells[(row + dy + rows) % rows, (col + dx + cols) % cols]
        out[row, col] = 1 if alive == 3 or (alive == 2 and cells[row, col] == 1) else 0


def life() -> Case:
    rows, cols = 401, 503
    cells, out = integers(0, 2, rows, cols, dtype=np.uint8), np.full((rows, cols), 77, np.uint8)
    turned = [
        np.roll(cells, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != (0, 0)
    ]
    alive = np.sum(turned, axis=0)
    expected = (alive == 3) | ((alive == 2) & (cells == 1))
    return case(life_kernel, covering(BLOCK, cols, rows), BLOCK, (cells, out), expected)


def wave_kernel(now, before, c2, after):
    col, row = cuda.grid(2)
    if row == 0 or col == 0 or row >= now.shape[0] - 1 or col >= now.shape[1] - 1:
        return
    around = now[row - 1, col] + now[row + 1, col] + now[row, col - 1] + now[row, col + 1]
    after[row, col] = 2 * now[row, col] - before[row, col] + c2 * (around - 4 * now[row, col])


def wave() -> Case:
    now, before, after = floats(ROWS, COLS), floats(ROWS, COLS, seed=8), nan(ROWS, COLS)
    c2, v = np.float32(0.3), now.astype(float)
    around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1]
    expected = after.copy()
    expected[1:-1, 1:-1] = 2 * v[1:-1, 1:-1] - before[1:-1, 1:-1] + float(c2) * around
    grid = covering(BLOCK, COLS, ROWS)
    return case(wave_kernel, grid, BLOCK, (now, before, c2, after), expected, terms=9)


def advection_kernel(u, c, out):
    i = cuda.grid(1)
    n = u.shape[0]
    if i < n:
        left = u[n - 1] if i == 0 else u[i - 1]
        out[i] = u[i] - c * (u[i] - left)


def advection() -> Case:
    n, c = 4_000_037, np.float32(0.5)
    u, out = floats(n), nan(n)
    expected = u - 0.5 * (u - np.roll(u.astype(float), 1))
    return case(advection_kernel, covering(100, n), 100, (u, c, out), expected, terms=4)


def red_black_kernel(u, colour):
    col, row = cuda.grid(2)
    if 0 < row < u.shape[0] - 1 and 0 < col < u.shape[1] - 1:
        if (row + col) % 2 == colour:
            around = u[row - 1, col] + u[row + 1, col] + u[row, col - 1] + u[row, col + 1]
            u[row, col] = np.float32(0.25) * around


def red_black() -> Case:
    u = floats(ROWS, COLS)
    v = u.astype(float)
    around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
    row, col = np.indices(around.shape)
    v[1:-1, 1:-1] = np.where((row + col) % 2 == 1, around / 4, v[1:-1, 1:-1])
    return case(red_black_kernel, covering(BLOCK, COLS, ROWS), BLOCK, (u, 1), v, terms=4)


def gray_scott_kernel(u, v, feed, kill, new_u, new_v):
    x, y = cuda.grid(2)
    rows, cols = u.shape
    if x < cols and y < rows:
        up = (y + rows - 1) % rows
        down = (y + 1) % rows
        left = (x + cols - 1) % cols
        right = (x + 1) % cols
        four = np.float32(4)
        lap_u = u[up, x] + u[down, x] + u[y, left] + u[y, right] - four * u[y, x]
        lap_v = v[up, x] + v[down, x] + v[y, left] + v[y, right] - four * v[y, x]
        uvv = u[y, x] * v[y, x] * v[y, x]
        new_u[y, x] = u[y, x] + np.float32(0.2) * lap_u - uvv + feed * (np.float32(1) - u[y, x])
        new_v[y, x] = v[y, x] + np.float32(0.1) * lap_v + uvv - (feed + kill) * v[y, x]


def gray_scott() -> Case:
    rows, cols = 601, 703
    u, v = np.abs(floats(rows, cols)) / 4, np.abs(floats(rows, cols, seed=8)) / 4
    feed, kill = np.float32(0.04), np.float32(0.06)

    def lap(a):
        return sum(np.roll(a, by, axis) for axis in (0, 1) for by in (-1, 1)) - 4 * a

    a, b = u.astype(float), v.astype(float)
    new_u = a + 0.2 * lap(a) - a * b * b + float(feed) * (1 - a)
    new_v = b + 0.1 * lap(b) + a * b * b - (float(feed) + float(kill)) * b
    arguments = (u, v, feed, kill, nan(rows, cols), nan(rows, cols))
    grid = covering(BLOCK, cols, rows)
    return case(gray_scott_kernel, grid, BLOCK, arguments, new_u, new_v, terms=16)


CASES = (jacobi, heat_2d, heat_3d, life, wave, advection, red_black, gray_scott)
