"""Parallel primitives: sorts, scans, compaction, reductions, histograms, searches."""

import math

import numpy as np
from numba import cuda, float32, float64, int32

from tests.programs.registry import program

FULL = 0xFFFFFFFF


@cuda.jit
def blelloch(x):
    n = 64
    s = cuda.shared.array(64, float64)
    t = cuda.threadIdx.x
    s[2 * t], s[2 * t + 1] = x[2 * t], x[2 * t + 1]
    offset = 1
    d = n // 2
    while d > 0:
        cuda.syncthreads()
        if t < d:
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1]
        offset *= 2
        d //= 2
    if t == 0:
        s[n - 1] = 0
    d = 1
    while d < n:
        offset //= 2
        cuda.syncthreads()
        if t < d:
            ai, bi = offset * (2 * t + 1) - 1, offset * (2 * t + 2) - 1
            s[ai], s[bi] = s[bi], s[ai] + s[bi]
        d *= 2
    cuda.syncthreads()
    x[2 * t], x[2 * t + 1] = s[2 * t], s[2 * t + 1]


@program()
def exclusive_scan_of_blelloch():
    x = np.random.default_rng(4).integers(0, 9, 64).astype(np.float64)
    wanted = np.concatenate([[0], np.cumsum(x)[:-1]])
    blelloch[1, 32](x)
    yield x, wanted


@cuda.jit
def compact(x, out, count):
    i = cuda.grid(1)
    keep = i < x.size and x[min(i, x.size - 1)] > 0
    votes = cuda.ballot_sync(FULL, keep)
    lane = cuda.laneid
    rank = cuda.popc(votes & ((1 << lane) - 1))
    base = 0
    if lane == 0:
        base = cuda.atomic.add(count, 0, cuda.popc(votes))
    base = cuda.shfl_sync(FULL, base, 0)
    if keep:
        out[base + rank] = x[i]


@program(warns="block-order never-written")
def compaction_by_warp_votes():
    x = np.random.default_rng(5).integers(-9, 10, 203).astype(np.int32)
    out, count = np.zeros(203, np.int32), np.zeros(1, np.int32)
    compact[4, 64](x, out, count)
    wanted = x[x > 0]
    yield count, [wanted.size]
    yield np.sort(out[: wanted.size]), np.sort(wanted)


@cuda.jit(device=True)
def warp_max(v, i):
    for step in (16, 8, 4, 2, 1):
        other = cuda.shfl_xor_sync(FULL, v, step)
        place = cuda.shfl_xor_sync(FULL, i, step)
        if other > v or (other == v and place < i):
            v, i = other, place
    return v, i


@cuda.jit
def argmax_kernel(x, values, places):
    s_v = cuda.shared.array(4, float32)
    s_i = cuda.shared.array(4, int32)
    t = cuda.threadIdx.x
    best, where = float32(-math.inf), int32(2**31 - 1)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] > best:
            best, where = x[i], int32(i)
    best, where = warp_max(best, where)
    if t % 32 == 0:
        s_v[t // 32], s_i[t // 32] = best, where
    cuda.syncthreads()
    if t == 0:
        for w in range(1, 4):
            if s_v[w] > s_v[0] or (s_v[w] == s_v[0] and s_i[w] < s_i[0]):
                s_v[0], s_i[0] = s_v[w], s_i[w]
        values[cuda.blockIdx.x], places[cuda.blockIdx.x] = s_v[0], s_i[0]


@program()
def argmax_by_warps():
    x = np.random.default_rng(6).integers(0, 50, 777).astype(np.float32)
    values, places = np.full(3, np.nan, np.float32), np.full(3, -1, np.int32)
    argmax_kernel[3, 128](x, values, places)
    yield values.max(), x.max()
    yield places[values == values.max()].min(), np.argmax(x)


@cuda.jit
def atomics_of_all_kinds(x, out, f):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, 0, x[i])
        cuda.atomic.sub(out, 1, x[i])
        cuda.atomic.max(out, 2, x[i])
        cuda.atomic.min(out, 3, x[i])
        cuda.atomic.or_(out, 4, x[i])
        cuda.atomic.and_(out, 5, x[i])
        cuda.atomic.xor(out, 6, x[i])
        cuda.atomic.inc(out, 7, 9)
        cuda.atomic.nanmax(f, (0, 1), math.nan if i % 3 else x[i])
        cuda.atomic.cas(out, 8, 0, 77)


@program()
def all_atomics_on_unsigned_integers():
    x = np.random.default_rng(11).integers(1, 2**20, 73).astype(np.uint32)
    out = np.zeros(9, np.uint32)
    out[3] = out[5] = 2**32 - 1
    f = np.zeros((1, 2))
    atomics_of_all_kinds[3, 32](x, out, f)
    total = int(x.sum(dtype=np.int64))
    wanted = [total, -total % 2**32, x.max(), x.min()]
    for bits in (np.bitwise_or, np.bitwise_and, np.bitwise_xor):
        wanted.append(bits.reduce(x))
    yield out, [*wanted, 73 % 10, 77]
    yield f, [[0, x[::3].max()]]


@cuda.jit
def match_lanes(keys, groups, same):
    i = cuda.grid(1)
    groups[i] = cuda.match_any_sync(FULL, keys[i]) & FULL
    _, same[i] = cuda.match_all_sync(FULL, keys[i])
    if cuda.all_sync(FULL, keys[i] >= 0) and cuda.any_sync(FULL, keys[i] == 3):
        groups[i] |= 1 << 40


@program()
def warp_matches_and_votes():
    keys = np.random.default_rng(12).integers(0, 3, 96).astype(np.int32)
    keys[32:64], keys[70] = 1, 3
    groups, same = np.zeros(96, np.int64), np.zeros(96, np.bool_)
    match_lanes[3, 32](keys, groups, same)
    rows = keys.reshape(3, 32)
    masks = (rows[:, :, None] == rows[:, None]) @ (1 << np.arange(32))
    masks[2] |= 1 << 40
    yield groups, masks.ravel()
    yield same, np.arange(96) // 32 == 1


@cuda.jit
def block_votes(x, out):
    i = cuda.grid(1)
    positive = x[i] > 0
    n = cuda.syncthreads_count(positive)
    every = cuda.syncthreads_and(positive)
    some = cuda.syncthreads_or(positive)
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x, 0] = n
        out[cuda.blockIdx.x, 1] = 1 if every else 0
        out[cuda.blockIdx.x, 2] = 1 if some else 0


@program()
def counting_barriers():
    x = np.random.default_rng(13).integers(-1, 2, 4 * 48)
    x[:48], x[48:96] = 1, 0
    out = np.full((4, 3), -1, np.int32)
    block_votes[4, 48](x, out)
    n = (x.reshape(4, 48) > 0).sum(1)
    yield out, np.stack([n, n == 48, n > 0], 1)


@cuda.reduce
def larger(a, b):
    return a if a > b else b


@program()
def reductions_made_by_the_decorator():
    x = np.random.default_rng(14).normal(size=1003)
    product = cuda.Reduce(lambda a, b: a * b)
    yield np.array(larger(x)), x.max()
    yield np.array(larger(cuda.to_device(x), init=9.5)), 9.5
    out = cuda.device_array(1)
    product(x[:11], res=out, size=7, init=1)
    yield out, [np.prod(x[:7])]
