"""Sorts and searches: networks, radix, merges, bisection."""

import numpy as np
from numba import cuda, int32, uint32

from tests.programs.registry import program


@cuda.jit
def bitonic_step(v, j, k):
    i = cuda.grid(1)
    partner = i ^ j
    if partner > i and partner < v.size:
        up = (i & k) == 0
        if (v[i] > v[partner]) == up:
            v[i], v[partner] = v[partner], v[i]


@program()
def bitonic_sort_by_launches():
    v = np.random.default_rng(1).normal(size=64).astype(np.float32)
    d = cuda.to_device(v)
    k = 2
    while k <= 64:
        j = k >> 1
        while j:
            bitonic_step[2, 32](d, j, k)
            j >>= 1
        k <<= 1
    yield d, np.sort(v)


@cuda.jit
def odd_even_block(x):
    s = cuda.shared.array(0, dtype=int32)
    t = cuda.threadIdx.x
    n = x.size
    s[t] = x[t]
    cuda.syncthreads()
    for phase in range(n):
        if t % 2 == phase % 2 and t + 1 < n and s[t] > s[t + 1]:
            s[t], s[t + 1] = s[t + 1], s[t]
        cuda.syncthreads()
    x[t] = s[t]


@program()
def odd_even_transposition_sort_in_shared_memory():
    x = np.random.default_rng(2).integers(-50, 50, 45).astype(np.int32)
    wanted = np.sort(x)
    odd_even_block[1, 45, 0, 45 * 4](x)
    yield x, wanted


@cuda.jit
def radix_count(keys, shift, flags):
    i = cuda.grid(1)
    if i < keys.size:
        flags[i] = ((keys[i] >> shift) & 1) ^ 1


@cuda.jit
def radix_scatter(keys, out, places, shift, zeros):
    i = cuda.grid(1)
    if i >= keys.shape[0]:
        return
    bit = (keys[i] >> uint32(shift)) & uint32(1)
    before = places[i - 1] if i > 0 else 0
    out[before if bit == 0 else zeros + i - before] = keys[i]


@cuda.jit
def scan_hillis_steele(x, out):
    a = cuda.shared.array(128, int32)
    b = cuda.shared.array(128, int32)
    t, n = cuda.threadIdx.x, x.size
    a[t] = x[t] if t < n else 0
    cuda.syncthreads()
    d = 1
    while d < 128:
        b[t] = a[t] + (a[t - d] if t >= d else 0)
        cuda.syncthreads()
        a[t] = b[t]
        cuda.syncthreads()
        d *= 2
    if t < n:
        out[t] = a[t]


@program()
def radix_sort_by_scans():
    keys = np.random.default_rng(3).integers(0, 256, 101).astype(np.uint32)
    a, b = cuda.to_device(keys), cuda.device_array(101, np.uint32)
    flags, places = cuda.device_array(101, np.int32), cuda.device_array(101, np.int32)
    for shift in range(8):
        radix_count[4, 32](a, shift, flags)
        scan_hillis_steele[1, 128](flags, places)
        radix_scatter[4, 32](a, b, places, shift, int(places[100]))
        a, b = b, a
    yield a, np.sort(keys)


@cuda.jit
def insertion_sort_rows(m):
    r = cuda.grid(1)
    if r < m.shape[0]:
        row = m[r]
        for i in range(1, row.size):
            key, j = row[i], i - 1
            while j >= 0 and row[j] > key:
                row[j + 1] = row[j]
                j -= 1
            row[j + 1] = key


@program()
def insertion_sort_through_a_view():
    m = np.random.default_rng(21).normal(size=(37, 9)).astype(np.float32)
    wanted = np.sort(m, axis=1)
    insertion_sort_rows[2, 32](m)
    yield m, wanted


@cuda.jit
def quick_sort_rows(m):
    r = cuda.grid(1)
    stack = cuda.local.array((16, 2), int32)
    if r >= m.shape[0]:
        return
    stack[0, 0], stack[0, 1] = 0, m.shape[1] - 1
    top = 1
    while top > 0:
        top -= 1
        lo, hi = stack[top, 0], stack[top, 1]
        if lo >= hi:
            continue
        pivot, at = m[r, hi], lo
        for j in range(lo, hi):
            if m[r, j] < pivot:
                m[r, at], m[r, j] = m[r, j], m[r, at]
                at += 1
        m[r, at], m[r, hi] = m[r, hi], m[r, at]
        stack[top, 0], stack[top, 1] = lo, at - 1
        stack[top + 1, 0], stack[top + 1, 1] = at + 1, hi
        top += 2


@program()
def quick_sort_with_a_stack_of_its_own():
    m = np.random.default_rng(22).integers(0, 30, (35, 11))
    wanted = np.sort(m, axis=1)
    quick_sort_rows[2, 32](m)
    yield m, wanted
