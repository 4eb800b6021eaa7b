"""Arrays declared where they are needed: behind a return, in a branch, in a loop."""

import itertools
import math

import numpy as np
from numba import cuda, float32, float64, int32, uint8

from tests.programs.registry import program


@cuda.jit
def late_arrays(x, out):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    n = 0
    for k in range(3):
        tmp = cuda.local.array(4, dtype=float64)
        for j in range(4):
            tmp[j] = x[i] * (j + k)
        for j in range(4):
            n += tmp[3 - j] > k
    if n > 6:
        extra = cuda.local.array((2, 2), dtype=int32)
        extra[0, 0] = extra[1, 1] = n
        extra[0, 1] = extra[1, 0] = -1
        n = extra[0, 0] * extra[1, 1] - extra[0, 1] * extra[1, 0]
    out[i] = n


@program()
def local_arrays_after_return_in_loops_and_branches():
    x = np.random.default_rng(7).random(75)
    out = np.full(75, -9, np.int64)
    late_arrays[3, 32](x, out)
    j, k = np.meshgrid(np.arange(4), np.arange(3))
    n = (x[:, None] * (j + k).ravel() > k.ravel()).sum(1)
    yield out, np.where(n > 6, n * n - 1, n)


@cuda.jit
def median3(img, out):
    x, y = cuda.grid(2)
    if 0 < x < img.shape[1] - 1 and 0 < y < img.shape[0] - 1:
        v = cuda.local.array(9, dtype=uint8)
        n = 0
        for i in range(y - 1, y + 2):
            for j in range(x - 1, x + 2):
                v[n] = img[i, j]
                n += 1
        for a in range(5):
            m = a
            for b in range(a + 1, 9):
                if v[b] < v[m]:
                    m = b
            v[a], v[m] = v[m], v[a]
        out[y, x] = v[4]
    elif x < img.shape[1] and y < img.shape[0]:
        out[y, x] = img[y, x]


@program()
def median_filter_by_selection_sort():
    img = np.random.default_rng(1).integers(0, 256, (18, 25), dtype=np.uint8)
    out = np.zeros_like(img)
    median3[(4, 3), (8, 8)](img, out)
    wanted = img.copy()
    windows = np.lib.stride_tricks.sliding_window_view(img, (3, 3))
    wanted[1:-1, 1:-1] = np.median(windows, axis=(2, 3))
    yield out, wanted


CX = (0, 1, 0, -1, 0, 1, -1, -1, 1)


CY = (0, 0, 1, 0, -1, 1, 1, -1, -1)


W = (4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36)


@cuda.jit
def lbm_step(f, out, omega):
    x, y = cuda.grid(2)
    nx, ny = f.shape[1:]
    if x < nx and y < ny:
        pulled = cuda.local.array(9, float64)
        rho = ux = uy = 0.0
        for q in range(9):
            v = f[q, (x - CX[q]) % nx, (y - CY[q]) % ny]
            pulled[q] = v
            rho += v
            ux += CX[q] * v
            uy += CY[q] * v
        ux /= rho
        uy /= rho
        for q in range(9):
            cu = 3 * (CX[q] * ux + CY[q] * uy)
            eq = W[q] * rho * (1 + cu + cu * cu / 2 - 1.5 * (ux * ux + uy * uy))
            out[q, x, y] = pulled[q] + omega * (eq - pulled[q])


@program()
def lattice_boltzmann_with_global_tables():
    f = np.random.default_rng(3).uniform(0.9, 1.1, (9, 11, 10)) * np.array(W)[:, None, None]
    out = np.full_like(f, np.nan)
    lbm_step[(2, 2), (8, 8)](f, out, 1.3)
    c = np.stack([CX, CY], 1)
    moved = np.stack([np.roll(f[q], c[q], (0, 1)) for q in range(9)])
    rho = moved.sum(0)
    u = np.einsum("qd,qxy->dxy", c, moved) / rho
    along = np.einsum("qd,dxy->qxy", c, u)
    eq = np.array(W)[:, None, None] * rho * (1 + 3 * along + 4.5 * along**2 - 1.5 * (u**2).sum(0))
    yield out, moved * (1 - 1.3) + 1.3 * eq


@cuda.jit
def flock(p, v, out):
    i = cuda.grid(1)
    if i < p.shape[0]:
        mean = cuda.local.array(2, float32)
        away = cuda.local.array(2, float32)
        mean[0] = mean[1] = away[0] = away[1] = 0
        n = 0
        for j in range(p.shape[0]):
            dx, dy = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1]
            d = math.hypot(dx, dy)
            if i != j and d < 0.3:
                n += 1
                mean[0] += v[j, 0]
                mean[1] += v[j, 1]
                if d < 0.1:
                    away[0] -= dx
                    away[1] -= dy
        for k in range(2):
            out[i, k] = v[i, k] + (mean[k] / n - v[i, k] if n else 0) + away[k]


@program()
def boids_with_local_vectors():
    rng = np.random.default_rng(5)
    p = rng.random((50, 2)).astype(np.float32)
    v = rng.normal(size=(50, 2)).astype(np.float32)
    out = np.full((50, 2), np.nan, np.float32)
    flock[1, 64](p, v, out)
    d = p[None] - p[:, None]
    r = np.hypot(d[..., 0], d[..., 1])
    near = (r < 0.3) & ~np.eye(50, dtype=bool)
    n = near.sum(1)[:, None]
    mean = np.where(n, near @ v / np.maximum(n, 1), v)
    yield out, mean - np.einsum("ij,ijk->ik", near & (r < 0.1), d)


@cuda.jit
def lcs_rows(a, b, out):
    pair = cuda.grid(1)
    if pair >= out.size:
        return
    row = cuda.local.array(17, dtype=int32)
    for j in range(17):
        row[j] = 0
    for i in range(a.shape[1]):
        diag = 0
        for j in range(b.shape[1]):
            keep = row[j + 1]
            if a[pair, i] == b[pair, j]:
                row[j + 1] = diag + 1
            elif row[j] > row[j + 1]:
                row[j + 1] = row[j]
            diag = keep
    out[pair] = row[b.shape[1]]


@program()
def longest_common_subsequences_of_many_pairs():
    a, b = np.random.default_rng(9).integers(0, 4, (2, 37, 16)).astype(np.uint8)
    out = np.full(37, -1, np.int32)
    lcs_rows[2, 32](a, b[:, :13].copy(), out)
    h = np.zeros((37, 17, 14), int)
    for i, j in np.ndindex(16, 13):
        equal = a[:, i] == b[:, j]
        longest = np.maximum(h[:, i, j + 1], h[:, i + 1, j])
        h[:, i + 1, j + 1] = np.where(equal, h[:, i, j] + 1, longest)
    yield out, h[:, -1, -1]


@cuda.jit
def queens(n, solutions):
    first = cuda.grid(1)
    if first < n:
        cols = cuda.local.array(10, int32)
        cols[0] = first
        row, found = 1, 0
        cols[1] = -1
        while row > 0:
            cols[row] += 1
            if cols[row] >= n:
                row -= 1
                continue
            ok = True
            for r in range(row):
                if cols[r] == cols[row] or abs(cols[r] - cols[row]) == row - r:
                    ok = False
                    break
            if not ok:
                continue
            if row == n - 1:
                found += 1
            else:
                row += 1
                cols[row] = -1
        solutions[first] = found


@program()
def queens_by_backtracking():
    solutions = np.full(6, -1, np.int32)
    queens[1, 32](6, solutions)
    boards = [
        p for p in itertools.permutations(range(6)) if len({c + r for r, c in enumerate(p)}) == 6
    ]
    good = [p[0] for p in boards if len({c - r for r, c in enumerate(p)}) == 6]
    yield solutions, [good.count(c) for c in range(6)]
