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
def lennard_jones(x, box, cutoff, force, energy):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    fx = fy = fz = e = 0.0
    for j in range(x.shape[0]):
        if j == i:
            continue
        dx = x[i, 0] - x[j, 0]
        dy = x[i, 1] - x[j, 1]
        dz = x[i, 2] - x[j, 2]
        dx -= box * round(dx / box)
        dy -= box * round(dy / box)
        dz -= box * round(dz / box)
        r2 = dx * dx + dy * dy + dz * dz
        if r2 > cutoff * cutoff:
            continue
        s6 = 1 / r2**3
        w = 24 * s6 * (2 * s6 - 1) / r2
        fx, fy, fz = fx + w * dx, fy + w * dy, fz + w * dz
        e += 4 * s6 * (s6 - 1)
    force[i, 0], force[i, 1], force[i, 2] = fx, fy, fz
    cuda.atomic.add(energy, 0, 0.5 * e)


@program()
def lennard_jones_in_a_periodic_box():
    rng = np.random.default_rng(3)
    cells = np.stack(np.meshgrid(*[np.arange(3)] * 3), -1).reshape(-1, 3)
    x = (cells + rng.uniform(-0.1, 0.1, (27, 3))) * 1.3
    box, force, energy = 3.9, np.full((27, 3), np.nan), np.zeros(1)
    lennard_jones[2, 16](x, box, 1.9, force, energy)
    d = x[:, None] - x
    d -= box * np.rint(d / box)
    r = np.sqrt((d**2).sum(-1)) + np.where(np.eye(27), 1e9, 0)
    r[r > 1.9] = np.inf
    yield energy, [2 * (r**-12 - r**-6).sum()]
    yield force, (d * (48 * r**-14.0 - 24 * r**-8.0)[..., None]).sum(1)


@cuda.jit
def density_by_cells(pos, start, order, side, h, rho):
    i = cuda.grid(1)
    if i < pos.shape[0]:
        cx, cy = int(pos[i, 0] / h), int(pos[i, 1] / h)
        total = 0.0
        for gy in range(max(cy - 1, 0), min(cy + 2, side)):
            for gx in range(max(cx - 1, 0), min(cx + 2, side)):
                c = gy * side + gx
                for k in range(start[c], start[c + 1]):
                    j = order[k]
                    q2 = ((pos[i, 0] - pos[j, 0]) ** 2 + (pos[i, 1] - pos[j, 1]) ** 2) / (h * h)
                    if q2 < 1:
                        total += (1 - q2) ** 3
        rho[i] = 4 / (math.pi * h**2) * total


@program()
def sph_density_with_a_cell_list():
    pos = np.random.default_rng(4).random((60, 2))
    h, side = 0.25, 4
    cell = np.floor(pos[:, 1] / h).astype(int) * side + np.floor(pos[:, 0] / h).astype(int)
    order = np.argsort(cell, kind="stable").astype(np.int32)
    start = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=side * side))]).astype(
        np.int32
    )
    rho = np.full(60, np.nan)
    density_by_cells[2, 32](pos, start, order, side, h, rho)
    q2 = ((pos[:, None] - pos) ** 2).sum(-1) / h**2
    yield rho, 4 / (np.pi * h**2) * (np.clip(1 - q2, 0, None) ** 3).sum(1)


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


@cuda.jit
def collide_spheres(pos, hits, count, radius):
    i, j = cuda.grid(2)
    n = pos.shape[0]
    if not (i < j < n):
        return
    d2 = 0.0
    for k in range(3):
        d2 += (pos[i, k] - pos[j, k]) ** 2
    if d2 < (2 * radius) ** 2:
        slot = cuda.atomic.add(count, 0, 1)
        if slot < hits.shape[0]:
            hits[slot, 0] = i
            hits[slot, 1] = j


@program(warns="block-order never-written")
def sphere_collisions_into_a_list():
    pos = np.random.default_rng(7).random((37, 3))
    hits, count = np.full((200, 2), -1, np.int32), np.zeros(1, np.int32)
    collide_spheres[(5, 5), (8, 8)](pos, hits, count, 0.12)
    near = np.sqrt(((pos[:, None] - pos) ** 2).sum(-1)) < 0.24
    wanted = np.argwhere(np.triu(near, 1))
    yield count, [len(wanted)]
    yield np.array(sorted(hits[: count[0]].tolist())), wanted


@cuda.jit
def verlet(x, v, steps, dt, trace):
    i = cuda.grid(1)
    if i < x.size:
        xi, vi = x[i], v[i]
        a = -xi
        for k in range(steps):
            xi += vi * dt + 0.5 * a * dt * dt
            a, old = -xi, a
            vi += 0.5 * (a + old) * dt
            if k % 5 == 4:
                trace[k // 5, i] = xi
        x[i], v[i] = xi, vi


@program(tolerance=5e-3)
def velocity_verlet_with_a_trace():
    x0, v0 = np.random.default_rng(8).normal(size=(2, 35))
    x, v, trace = x0.copy(), v0.copy(), np.full((10, 35), np.nan)
    verlet[2, 32](x, v, 50, 0.05, trace)
    t = 0.05 * 5 * np.arange(1, 11)[:, None]
    yield trace, x0 * np.cos(t) + v0 * np.sin(t)
    yield x, trace[-1]
    yield v, v0 * np.cos(2.5) - x0 * np.sin(2.5)


@cuda.jit
def walk(steps, bits, ends):
    i = cuda.grid(1)
    if i >= ends.shape[0]:
        return
    state = bits[i]
    x = y = 0
    left = steps
    while left:
        left -= 1
        turn = state & 3
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        if turn == 0:
            x += 1
        elif turn == 1:
            x -= 1
        elif turn == 2:
            y += 1
        else:
            y -= 1
        if abs(x) > 5 or abs(y) > 5:
            break
    ends[i, 0], ends[i, 1] = x, y


@program()
def random_walks_by_a_linear_generator():
    bits = np.random.default_rng(9).integers(0, 2**32, 65)
    ends = np.full((65, 2), 99, np.int32)
    walk[3, 32](40, bits, ends)
    wanted = []
    for state in bits.tolist():
        place = 0j
        for _ in range(40):
            place += (1, -1, 1j, -1j)[state % 4]
            state = (state * 1664525 + 1013904223) % 2**32
            if max(abs(place.real), abs(place.imag)) == 6:
                break
        wanted.append([place.real, place.imag])
    yield ends, wanted


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
