"""Physics on grids: diffusion, waves, fluids, magnets, fields, automata."""

import math

import numpy as np
from numba import cuda, float64, int32

from tests.programs.registry import program

threads = (8, 8)


def blocks_for(field):
    return tuple((n + t - 1) // t for n, t in zip(field.shape, threads))


@cuda.jit("void(float64[:,:], float64[:,:], float64)")
def heat_step(u, u_new, k):
    i, j = cuda.grid(2)
    nx, ny = u.shape
    if 1 <= i < nx - 1 and 1 <= j < ny - 1:
        u_new[i, j] = u[i, j] + k * (
            u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4 * u[i, j]
        )


@program(warns="never-written")
def heat_equation_with_swapped_buffers():
    u = np.zeros((19, 23))
    u[5:9, 7:15] = 100
    old, new = cuda.to_device(u), cuda.to_device(u)
    for _ in range(7):
        heat_step[blocks_for(u), threads](old, new, 0.2)
        old, new = new, old
    for _ in range(7):
        flow = [
            np.diff(u, axis=a)[tuple(slice(None) if b == a else slice(1, -1) for b in (0, 1))]
            for a in (0, 1)
        ]
        u = u.copy()
        u[1:-1, 1:-1] += 0.2 * (np.diff(flow[0], axis=0) + np.diff(flow[1], axis=1))
    yield old, u


@cuda.jit
def heat_tiled(u, out, k):
    tile = cuda.shared.array((10, 10), float64)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    n, m = u.shape
    inside = i < n and j < m
    if inside:
        tile[tx + 1, ty + 1] = u[i, j]
        if tx == 0:
            tile[0, ty + 1] = u[i - 1, j] if i > 0 else u[n - 1, j]
        if tx == 7 or i == n - 1:
            tile[tx + 2, ty + 1] = u[(i + 1) % n, j]
        if ty == 0:
            tile[tx + 1, 0] = u[i, (j - 1) % m]
        if ty == 7 or j == m - 1:
            tile[tx + 1, ty + 2] = u[i, (j + 1) % m]
    cuda.syncthreads()
    if inside:
        c = tile[tx + 1, ty + 1]
        out[i, j] = c + k * (
            tile[tx, ty + 1]
            + tile[tx + 2, ty + 1]
            + tile[tx + 1, ty]
            + tile[tx + 1, ty + 2]
            - 4 * c
        )


@program()
def periodic_heat_in_shared_tiles():
    u = np.random.default_rng(1).random((21, 13))
    out = np.full_like(u, np.nan)
    heat_tiled[blocks_for(u), threads](u, out, 0.15)
    waves = np.fft.fftfreq(21)[:, None], np.fft.fftfreq(13)
    damping = 1 + 0.15 * sum(2 * np.cos(2 * np.pi * w) - 2 for w in waves)
    yield out, np.fft.ifft2(np.fft.fft2(u) * damping).real


@cuda.jit
def wave_1d(prev, cur, nxt, c2):
    i = cuda.grid(1)
    n = cur.shape[0]
    if i == 0 or i == n - 1:
        nxt[i] = 0.0
    elif i < n:
        nxt[i] = 2 * cur[i] - prev[i] + c2 * (cur[i - 1] - 2 * cur[i] + cur[i + 1])


@program()
def standing_wave_on_a_string():
    n, steps, c = 81, 40, 0.5
    x = np.linspace(0, 1, n)
    mode = np.sin(3 * np.pi * x)
    omega = 2 * np.arcsin(c * np.sin(3 * np.pi / (n - 1) / 2))
    levels = [cuda.to_device(mode * np.cos(-omega)), cuda.to_device(mode), cuda.device_array(n)]
    for _ in range(steps):
        wave_1d[1, 96](*levels, c * c)
        levels = [*levels[1:], levels[0]]
    yield levels[1], mode * np.cos(omega * steps)


@cuda.jit
def fdtd_e(ez, hy, coefficient, step):
    k = cuda.grid(1)
    if 0 < k < ez.size:
        ez[k] += coefficient * (hy[k] - hy[k - 1])
    if k == 20:
        ez[k] += math.exp(-0.5 * ((step - 15) / 6.0) ** 2)


@cuda.jit
def fdtd_h(ez, hy, coefficient):
    k = cuda.grid(1)
    if k < hy.size - 1:
        hy[k] += coefficient * (ez[k + 1] - ez[k])


@program(warns="never-written")
def fdtd_of_maxwell_in_one_dimension():
    ez, hy = cuda.to_device(np.zeros(64)), cuda.to_device(np.zeros(64))
    for step in range(30):
        fdtd_e[1, 64](ez, hy, 0.5, step)
        fdtd_h[1, 64](ez, hy, 0.5)
    e, h = np.zeros(64), np.zeros(64)
    for step in range(30):
        e += 0.5 * np.diff(h, prepend=h[:1])
        e[20] += np.exp(-((step - 15) ** 2) / 72)
        h[:-1] += np.diff(e) * 0.5
    yield ez, e
    yield hy, h


@cuda.jit
def ising_sweep(spins, uniforms, beta, colour):
    i, j = cuda.grid(2)
    n, m = spins.shape
    if i < n and j < m and (i + j) % 2 == colour:
        s = spins[i, j]
        around = spins[i - 1, j] + spins[(i + 1) % n, j] + spins[i, j - 1] + spins[i, (j + 1) % m]
        cost = 2 * s * around
        if cost <= 0 or uniforms[i, j] < math.exp(-beta * cost):
            spins[i, j] = -s


@program(warns="negative-index never-written")
def ising_model_on_a_chess_board():
    rng = np.random.default_rng(2)
    spins = rng.choice(np.array([-1, 1], np.int8), (14, 18))
    uniforms = rng.random((6, 14, 18))
    wanted = spins.astype(int)
    device = cuda.to_device(spins)
    colours = np.indices((14, 18)).sum(0) % 2
    for k, u in enumerate(uniforms):
        ising_sweep[blocks_for(spins), threads](device, u, 0.4, k % 2)
        around = sum(np.roll(wanted, s, a) for s in (1, -1) for a in (0, 1))
        accept = u < np.minimum(1, np.exp(-0.8 * wanted * around))
        wanted = np.where(accept & (colours == k % 2), -wanted, wanted)
    yield device, wanted


@cuda.jit
def gray_scott(u, v, u2, v2, feed, kill):
    start_x, start_y = cuda.grid(2)
    step_x, step_y = cuda.gridsize(2)
    n, m = u.shape
    for i in range(start_x, n, step_x):
        for j in range(start_y, m, step_y):
            a, b = u[i, j], v[i, j]
            lap_a = u[i - 1, j] + u[(i + 1) % n, j] + u[i, j - 1] + u[i, (j + 1) % m] - 4 * a
            lap_b = v[i - 1, j] + v[(i + 1) % n, j] + v[i, j - 1] + v[i, (j + 1) % m] - 4 * b
            u2[i, j] = a + 0.16 * lap_a - a * b**2 + feed * (1 - a)
            v2[i, j] = b + 0.08 * lap_b + a * b**2 - (feed + kill) * b


@program(warns="negative-index")
def reaction_diffusion_with_a_strided_grid():
    rng = np.random.default_rng(4)
    u, v = 1 - rng.random((17, 20)) / 4, rng.random((17, 20)) / 4
    u2, v2 = np.full_like(u, np.nan), np.full_like(v, np.nan)
    gray_scott[(1, 2), (8, 4)](u, v, u2, v2, 0.035, 0.065)

    def laplacian(z):
        return sum(np.roll(z, s, a) - z for s in (1, -1) for a in (0, 1))

    yield u2, u + 0.16 * laplacian(u) - u * v * v + 0.035 - 0.035 * u
    yield v2, v + 0.08 * laplacian(v) + u * v * v - 0.1 * v


@cuda.jit
def poisson_jacobi(p, q, b, worst):
    i, j = cuda.grid(2)
    if i > 0 and j > 0 and i < p.shape[0] - 1 and j < p.shape[1] - 1:
        q[i, j] = 0.25 * (p[i - 1, j] + p[i + 1, j] + p[i, j - 1] + p[i, j + 1] - b[i, j])
        cuda.atomic.max(worst, 0, abs(q[i, j] - p[i, j]))


@program(tolerance=1e-6, warns="never-written")
def poisson_until_the_change_is_small():
    b = np.zeros((10, 9))
    b[3, 4], b[6, 2] = 1, -1
    p, q = cuda.to_device(np.zeros_like(b)), cuda.to_device(np.zeros_like(b))
    d_b = cuda.to_device(b)
    change = 1.0
    while change > 1e-9:
        worst = cuda.to_device(np.zeros(1))
        poisson_jacobi[blocks_for(b), threads](p, q, d_b, worst)
        p, q, change = q, p, worst.copy_to_host()[0]
    one = [np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1) - 2 * np.eye(n) for n in (8, 7)]
    matrix = np.kron(one[0], np.eye(7)) + np.kron(np.eye(8), one[1])
    yield p, np.pad(np.linalg.solve(matrix, b[1:-1, 1:-1].ravel()).reshape(8, 7), 1)


@cuda.jit
def schroedinger(psi, potential, dt, out):
    i = cuda.grid(1)
    n = psi.shape[0]
    if i < n:
        left = psi[i - 1] if i else 0j
        right = psi[i + 1] if i + 1 < n else 0j
        h = -0.5 * (left + right - 2 * psi[i]) + potential[i] * psi[i]
        out[i] = psi[i] - 1j * dt * h


@program()
def schroedinger_step_in_complex_numbers():
    x = np.linspace(-5, 5, 70)
    psi = (np.exp(-(x**2)) * np.exp(2j * x)).astype(np.complex128)
    out = np.full_like(psi, np.nan)
    schroedinger[3, 32](psi, x**2 / 2, 0.01, out)
    kinetic = np.eye(70) - 0.5 * (np.eye(70, k=1) + np.eye(70, k=-1))
    yield out, psi - 0.01j * (kinetic + np.diag(x**2 / 2)) @ psi


@cuda.jit
def life(cells, nxt):
    x, y = cuda.grid(2)
    if x >= cells.shape[0] or y >= cells.shape[1]:
        return
    alive = 0
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            if dx or dy:
                alive += cells[(x + dx) % cells.shape[0], (y + dy) % cells.shape[1]]
    nxt[x, y] = 1 if alive == 3 or (alive == 2 and cells[x, y]) else 0


@program()
def game_of_life_on_a_torus():
    cells = (np.random.default_rng(5).random((23, 18)) < 0.4).astype(np.uint8)
    a, b = cuda.to_device(cells), cuda.device_array_like(cells)
    for _ in range(4):
        life[blocks_for(cells), threads](a, b)
        a, b = b, a
        total = np.fft.ifft2(
            np.fft.fft2(cells) * np.fft.fft2(np.pad(np.ones((3, 3)), ((0, 20), (0, 15))))
        )
        total = np.roll(np.rint(total.real).astype(int), (-1, -1), (0, 1))
        cells = ((total == 3) | ((total == 4) & (cells == 1))).astype(np.uint8)
    yield a, cells


def rule_kernel(rule):
    @cuda.jit
    def step(row, out):
        i = cuda.grid(1)
        n = len(row)
        if i < n:
            code = (row[(i - 1) % n] << 2) | (row[i] << 1) | row[(i + 1) % n]
            out[i] = (rule >> code) & 1

    return step


@program()
def elementary_automata_made_by_a_factory():
    row = (np.arange(77) == 38).astype(np.int32)
    for rule in (30, 110):
        history = np.zeros((6, 77), np.int32)
        history[0] = row
        kernel = rule_kernel(rule)
        for t in range(5):
            kernel[2, 64](history[t], history[t + 1])
        wanted, cells = [row], row
        for _ in range(5):
            bits = np.array([rule >> k & 1 for k in range(8)])
            cells = bits[np.roll(cells, 1) * 4 + cells * 2 + np.roll(cells, -1)]
            wanted.append(cells)
        yield history, wanted


@cuda.jit
def sandpile(heights, out):
    i, j = cuda.grid(2)
    if i < heights.shape[0] and j < heights.shape[1]:
        here = heights[i, j]
        gain = 0
        for d in range(4):
            a = i + (1 if d == 0 else -1 if d == 1 else 0)
            b = j + (1 if d == 2 else -1 if d == 3 else 0)
            if 0 <= a < heights.shape[0] and 0 <= b < heights.shape[1]:
                gain += int32(heights[a, b] >= 4)
        out[i, j] = here - 4 * (here // 4 > 0) + gain


@program()
def abelian_sandpile_topples():
    grid = np.random.default_rng(6).integers(0, 8, (12, 15)).astype(np.int32)
    out = np.full_like(grid, -1)
    sandpile[(2, 2), threads](grid, out)
    toppling = np.pad((grid > 3).astype(int), 1)
    around = sum(np.roll(toppling, s, a) for s in (1, -1) for a in (0, 1))[1:-1, 1:-1]
    yield out, grid - 4 * (grid > 3) + around
