"""Particles: gravity, molecules, fluids, swarms, random walks, charges on a mesh."""

import math

import numpy as np
from numba import cuda, float64, from_dtype, int32

from tests.programs.registry import program

SOFTENING = 1e-3
BLOCK = 32


@cuda.jit(device=True)
def pair_force(xi, yi, xj, yj, mj):
    dx = xj - xi
    dy = yj - yi
    r2 = dx * dx + dy * dy + SOFTENING
    w = mj / (r2 * math.sqrt(r2))
    return dx * w, dy * w


@cuda.jit
def nbody_tiles(pos, mass, acc):
    tile_pos = cuda.shared.array((BLOCK, 2), float64)
    tile_mass = cuda.shared.array(BLOCK, float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    n = pos.shape[0]
    ax = ay = 0.0
    xi, yi = (pos[i, 0], pos[i, 1]) if i < n else (0.0, 0.0)
    for first in range(0, n, BLOCK):
        if first + t < n:
            tile_pos[t, 0], tile_pos[t, 1] = pos[first + t, 0], pos[first + t, 1]
            tile_mass[t] = mass[first + t]
        cuda.syncthreads()
        for j in range(min(BLOCK, n - first)):
            fx, fy = pair_force(xi, yi, tile_pos[j, 0], tile_pos[j, 1], tile_mass[j])
            ax += fx
            ay += fy
        cuda.syncthreads()
    if i < n:
        acc[i, 0] = ax
        acc[i, 1] = ay


@program()
def gravity_of_n_bodies_by_tiles():
    rng = np.random.default_rng(1)
    pos, mass = rng.normal(size=(75, 2)), rng.random(75)
    acc = np.full((75, 2), np.nan)
    nbody_tiles[3, BLOCK](pos, mass, acc)
    d = pos[None] - pos[:, None]
    r2 = (d**2).sum(-1) + SOFTENING
    yield acc, np.einsum("ijk,ij,j->ik", d, r2**-1.5, mass)


body = np.dtype(
    [("pos", np.float64, 3), ("vel", np.float64, 3), ("mass", np.float32), ("id", np.int32)]
)


@cuda.jit
def drift_and_kick(bodies, dt):
    i = cuda.grid(1)
    if i < bodies.size:
        b = bodies[i]
        for k in range(3):
            b.vel[k] -= dt * b.pos[k] / b.mass
            b.pos[k] += dt * b.vel[k]
        bodies[i]["id"] += 100


@program()
def records_with_nested_arrays():
    rng = np.random.default_rng(2)
    bodies = np.zeros(43, body)
    bodies["pos"], bodies["vel"] = rng.normal(size=(2, 43, 3))
    bodies["mass"], bodies["id"] = rng.uniform(1, 2, 43), np.arange(43)
    device = cuda.to_device(bodies)
    drift_and_kick[2, 32](device, 0.1)
    got = device.copy_to_host()
    vel = bodies["vel"] - 0.1 * bodies["pos"] / bodies["mass"][:, None].astype(np.float64)
    yield got["vel"], vel
    yield got["pos"], bodies["pos"] + 0.1 * vel
    yield got["id"], 100 + np.arange(43)


@cuda.jit
def deposit(x, charge, rho, dx):
    for p in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cell = math.floor(x[p] / dx)
        w = x[p] / dx - cell
        cuda.atomic.add(rho, cell % rho.size, charge * (1 - w))
        cuda.atomic.add(rho, (cell + 1) % rho.size, charge * w)


@program()
def cloud_in_cell_deposit_with_atomics():
    x = np.random.default_rng(6).uniform(0, 3.2, 300)
    rho = np.zeros(16)
    deposit[3, 32](x, 0.5, rho, 0.2)
    nodes = np.arange(17) * 0.2
    shape = np.clip(1 - np.abs(x[:, None] - nodes) / 0.2, 0, None).sum(0) * 0.5
    shape[0] += shape[16]
    yield rho, shape[:16]


vec = np.dtype(
    {"names": ["x", "y"], "formats": [np.float32, np.float32], "offsets": [0, 8], "itemsize": 16}
)
vec_type = from_dtype(vec)


@cuda.jit
def centre_of_mass(points, weights, out):
    part = cuda.shared.array(64, vec_type)
    heavy = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    part[t].x = part[t].y = 0
    heavy[t] = 0
    for i in range(t, points.shape[0], 64):
        part[t].x += points[i].x * weights[i]
        part[t].y += points[i].y * weights[i]
        heavy[t] += weights[i]
    s = 32
    while s:
        cuda.syncthreads()
        if t < s:
            part[t].x += part[t + s].x
            part[t].y += part[t + s].y
            heavy[t] += heavy[t + s]
        s >>= 1
    if t == 0:
        out[0].x = part[0].x / heavy[0]
        out[0].y = part[0].y / heavy[0]


@program()
def shared_records_with_padding():
    rng = np.random.default_rng(10)
    points, out = np.zeros(150, vec), np.zeros(1, vec)
    points["x"], points["y"] = rng.normal(size=(2, 150))
    weights = rng.integers(1, 5, 150).astype(np.int32)
    centre_of_mass[1, 64](points, weights, out)
    yield out["x"], [np.average(points["x"], weights=weights)]
    yield out["y"], [np.average(points["y"], weights=weights)]
