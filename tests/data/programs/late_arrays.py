"""Arrays declared where they are needed: behind a return, in a branch, in a loop."""

import itertools

import numpy as np
from numba import cuda, float64, int32

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
