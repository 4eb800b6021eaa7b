"""Arithmetic without much memory: bodies, chance, options, particles."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.plain_loops.case import Case, case, covering, floats, nan, unset
from gpukit import cuda

BLOCK = 256


def nbody_kernel(position, mass, soft, acceleration):
    i = cuda.grid(1)
    if i < position.shape[0]:
        ax = np.float32(0)
        ay = np.float32(0)
        az = np.float32(0)
        for j in range(position.shape[0]):
            dx = position[j, 0] - position[i, 0]
            dy = position[j, 1] - position[i, 1]
            dz = position[j, 2] - position[i, 2]
            d2 = dx * dx + dy * dy + dz * dz + soft
            inverse = np.float32(1) / math.sqrt(d2)
            pull = mass[j] * inverse * inverse * inverse
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        acceleration[i, 0] = ax
        acceleration[i, 1] = ay
        acceleration[i, 2] = az


def pulls(position, mass, soft):
    """Return the accelerations of bodies, in float64."""
    d = position[None].astype(float) - position[:, None]
    pull = mass / ((d * d).sum(axis=2) + float(soft)) ** 1.5
    return np.einsum("ij,ijk->ik", pull, d)


def nbody() -> Case:
    n, soft = 1301, np.float32(0.01)
    position, mass = floats(n, 3), np.abs(floats(n, seed=8))
    arguments = (position, mass, soft, nan(n, 3))
    expected = pulls(position, mass, soft)
    return case(nbody_kernel, covering(BLOCK, n), BLOCK, arguments, expected, terms=n)


def monte_carlo_pi_kernel(states, draws, hits):
    i = cuda.grid(1)
    if i < states.shape[0]:
        state = states[i]
        inside = 0
        for _ in range(draws):
            state ^= np.uint32(state << np.uint32(13))
            state ^= np.uint32(state >> np.uint32(17))
            state ^= np.uint32(state << np.uint32(5))
            x = np.float32(state) * np.float32(2.3283064e-10)
            state ^= np.uint32(state << np.uint32(13))
            state ^= np.uint32(state >> np.uint32(17))
            state ^= np.uint32(state << np.uint32(5))
            y = np.float32(state) * np.float32(2.3283064e-10)
            if x * x + y * y <= np.float32(1):
                inside += 1
        hits[i] = inside
        states[i] = state


def _xorshift(state):
    state = state ^ (state << np.uint32(13))
    state ^= state >> np.uint32(17)
    return state ^ (state << np.uint32(5))


def monte_carlo_pi() -> Case:
    n, draws = 10_007, 50
    states = np.random.default_rng(7).integers(1, 1 << 32, n, np.uint32)
    state, inside, unit = states, np.zeros(n, int), np.float32(2.3283064e-10)
    for _ in range(draws):
        x = (state := _xorshift(state)).astype(np.float32) * unit
        y = (state := _xorshift(state)).astype(np.float32) * unit
        inside += x * x + y * y <= 1
    arguments = (states, draws, unset(n))
    made = case(monte_carlo_pi_kernel, covering(BLOCK, n), BLOCK, arguments, inside)
    made.answers.append((states, state))
    return made


def lcg_walk_kernel(seeds, steps, ends):
    i = cuda.grid(1)
    if i < seeds.size:
        state = seeds[i]
        place = 0
        for _ in range(steps):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            if state & 0x10000:
                place += 1
            else:
                place -= 1
        ends[i] = place


def lcg_walk() -> Case:
    n, steps = 20_011, 100
    seeds = np.random.default_rng(7).integers(0, 1 << 31, n)
    state, place = seeds, np.zeros(n, int)
    for _ in range(steps):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        place += np.where(state & 0x10000, 1, -1)
    arguments = (seeds, steps, unset(n, dtype=np.int64))
    return case(lcg_walk_kernel, covering(BLOCK, n), BLOCK, arguments, place)


@cuda.jit(device=True)
def normal_below(d):
    """Return the normal distribution function, by the polynomial of Abramowitz and Stegun."""
    k = np.float32(1) / (np.float32(1) + np.float32(0.2316419) * abs(d))
    poly = np.float32(-1.821255978) + k * np.float32(1.330274429)
    poly = np.float32(-0.356563782) + k * (np.float32(1.781477937) + k * poly)
    poly = k * (np.float32(0.31938153) + k * poly)
    tail = np.float32(0.39894228) * math.exp(np.float32(-0.5) * d * d) * poly
    if d > 0:
        return np.float32(1) - tail
    return tail


def black_scholes_kernel(price, strike, years, rate, volatility, call, put):
    i = cuda.grid(1)
    if i >= price.shape[0]:
        return
    root = math.sqrt(years[i])
    d1 = math.log(price[i] / strike[i]) + (rate + np.float32(0.5) * volatility**2) * years[i]
    d1 /= volatility * root
    d2 = d1 - volatility * root
    later = strike[i] * math.exp(-rate * years[i])
    call[i] = price[i] * normal_below(d1) - later * normal_below(d2)
    put[i] = later * normal_below(-d2) - price[i] * normal_below(-d1)


def black_scholes() -> Case:
    n, rng = 200_003, np.random.default_rng(7)
    price, strike, years = (
        rng.uniform(low, high, n).astype(np.float32)
        for low, high in ((5, 30), (1, 100), (0.25, 10))
    )
    rate, volatility = np.float32(0.02), np.float32(0.3)
    s, k, t, r, v = (np.asarray(a, float) for a in (price, strike, years, rate, volatility))
    d1 = (np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))

    def below(d):
        return np.vectorize(math.erfc)(-d / math.sqrt(2)) / 2

    first, second = below(d1), below(d1 - v * np.sqrt(t))
    call = s * first - k * np.exp(-r * t) * second
    put = k * np.exp(-r * t) * (1 - second) - s * (1 - first)
    arguments = (price, strike, years, rate, volatility, nan(n), nan(n))
    return case(black_scholes_kernel, covering(BLOCK, n), BLOCK, arguments, call, put, terms=64)


def particles_arrays_kernel(x, y, vx, vy, dt):
    i = cuda.grid(1)
    if i < x.shape[0]:
        vy[i] -= np.float32(9.81) * dt
        x[i] += vx[i] * dt
        y[i] += vy[i] * dt
        if y[i] < 0:
            y[i] = -y[i]
            vy[i] = -np.float32(0.8) * vy[i]


def _moved(x, y, vx, vy, dt):
    x, y, vx, vy = (a.astype(float) for a in (x, y, vx, vy))
    vy -= 9.81 * dt
    x, y = x + vx * dt, y + vy * dt
    below = y < 0
    return x, np.where(below, -y, y), vx, np.where(below, -0.8 * vy, vy)


def particles_arrays() -> Case:
    n, dt = 2_000_003, np.float32(0.01)
    x, y, vx, vy = (floats(n, seed=seed) for seed in range(7, 11))
    y = np.abs(y)
    expected = _moved(x, y, vx, vy, float(dt))
    arguments = (x, y, vx, vy, dt)
    # Whoever lands within a rounding of the ground bounces or not.
    grid = covering(BLOCK, n)
    return case(particles_arrays_kernel, grid, BLOCK, arguments, *expected, terms=9, few=20)


PARTICLE = np.dtype([("x", "f4"), ("y", "f4"), ("vx", "f4"), ("vy", "f4")])


def particles_records_kernel(particles, dt):
    i = cuda.grid(1)
    if i < particles.shape[0]:
        p = particles[i]
        p.vy -= np.float32(9.81) * dt
        p.x += p.vx * dt
        p.y += p.vy * dt
        if p.y < 0:
            p.y = -p.y
            p.vy = -np.float32(0.8) * p.vy


def particles_records() -> Case:
    n, dt = 1_000_003, np.float32(0.01)
    particles, expected = np.empty(n, PARTICLE), np.empty(n, [(f, "f8") for f in PARTICLE.names])
    for seed, name in enumerate(PARTICLE.names, 7):
        particles[name] = np.abs(floats(n, seed=seed))
    moved = _moved(*(particles[name] for name in PARTICLE.names), float(dt))
    for name, values in zip(PARTICLE.names, moved, strict=True):
        expected[name] = values
    arguments = (particles, dt)
    grid = covering(BLOCK, n)
    return case(particles_records_kernel, grid, BLOCK, arguments, expected, terms=9, few=20)


CASES = (nbody, monte_carlo_pi, lcg_walk, black_scholes, particles_arrays, particles_records)
