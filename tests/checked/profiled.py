"""Profiles for the tests of their output: real ones of small kernels, and handmade ones."""

import functools

import numpy as np

import gpukit
from gpukit import cuda
from gpukit.checked.counters import Counts
from gpukit.checked.profile import Profile
from gpukit.checked.profile.source import Place

TILE = 32


@cuda.jit
def column_kernel(x, out):
    """Write rows as columns,

    a row apart."""
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        out[col, row] = x[row, col]


@cuda.jit
def tile_kernel(x, out):
    tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = x[ty, tx]
    cuda.syncthreads()
    out[ty, tx] = tile[tx, ty]


@cuda.jit(device=True)
def doubled(values, index):
    count = index + 0
    return values[count] * np.float32(2)


@cuda.jit
def calling_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = doubled(x, i)


@cuda.jit
def hot_kernel(x, bins):
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(bins, 0, x[i])


@cuda.jit
def uneven_kernel(x, out):
    i = cuda.grid(1)
    if i % 2 == 0:
        out[i] = x[i] + np.float32(1)
    else:
        out[i] = x[i] * 3.0


@cuda.jit
def again_kernel(weights, out):
    i = cuda.grid(1)
    acc = np.float32(0)
    for k in range(weights.shape[0]):
        acc += weights[k]
    out[i] = acc


@cuda.jit
def leader_kernel(x, out):
    """Reduce by shuffles; lane 0 stores the sum."""
    i = cuda.grid(1)
    acc = x[i]
    step = 16
    while step > 0:
        acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, step)
        step //= 2
    if cuda.laneid == 0:
        out[i // TILE] = acc


@cuda.jit
def alone_kernel(x, out):
    """Let every second thread do all the work."""
    i = cuda.grid(1)
    if i % 2 == 0:
        acc = np.float32(0)
        for k in range(8):
            acc += x[i + k]
        out[i] = acc


@cuda.jit
def rarely_kernel(x, out):
    """Read shared memory 33 times, once with a two-way bank conflict."""
    tile = cuda.shared.array(64, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    tile[tid + TILE] = x[tid]
    cuda.syncthreads()
    acc = np.float32(0)
    for k in range(33):
        acc += tile[TILE if k == 0 and tid == 1 else (tid + k) % TILE]
    out[tid] = acc


@cuda.jit
def idle_kernel(x):
    cuda.syncthreads()


def floats(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@functools.cache
def profile(name):
    """Return the profile of one launch of the named kernel of this file."""
    launches = {
        "column": lambda: (column_kernel, (2, 8), (32, 8), floats(64, 64), floats(64, 64)),
        "tile": lambda: (tile_kernel, 1, (TILE, TILE), floats(TILE, TILE), floats(TILE, TILE)),
        "calling": lambda: (calling_kernel, 3, 96, floats(281), floats(281)),
        "hot": lambda: (hot_kernel, 4, 128, floats(507), floats(3)),
        "uneven": lambda: (uneven_kernel, 8, 64, floats(512), floats(512)),
        "again": lambda: (again_kernel, 8, 40, floats(31), floats(320)),
        "leader": lambda: (leader_kernel, 8, 128, floats(1024), floats(32)),
        "alone": lambda: (alone_kernel, 8, 64, floats(520), floats(512)),
        "rarely": lambda: (rarely_kernel, 1, TILE, floats(TILE), floats(TILE)),
        "idle": lambda: (idle_kernel, 1, 32, floats(32)),
    }
    kernel, grid, block, *arguments = launches[name]()
    return gpukit.profile(kernel)[grid, block](*arguments)


def handmade(**fields):
    """Return a profile with these fields and no counts."""
    usual = {
        "kernel": "sum_kernel",
        "file": "/course/reduce.py",
        "grid": (7, 1, 1),
        "block": (96, 1, 1),
        "source": [],
        "total": Counts(),
        "lines": {},
        "arrays": {},
        "accesses": [],
    }
    return Profile(**{**usual, **fields})


def nasty():
    """Return a profile whose source and names contain markup and control characters."""
    text = "    x[i] = '<b>\x1b[31m' \ud800 & \"q\""
    counts = Counts({"warp_steps": 3, "thread_steps": 90})
    return handmade(
        kernel="<b>kernel",
        source=[(12, text)],
        lines={Place("/course/reduce.py", 12): counts},
        total=counts,
        notes=["<i>\x07note"],
    )
