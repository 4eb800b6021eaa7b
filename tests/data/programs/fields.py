"""Physics on grids: diffusion, waves, fluids, magnets, fields, automata."""

import math

import numpy as np
from numba import cuda, int32

from tests.programs.registry import program

threads = (8, 8)


def blocks_for(field):
    return tuple((n + t - 1) // t for n, t in zip(field.shape, threads))


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
