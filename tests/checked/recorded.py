"""Kernels to record, and helpers that query a recording."""

import numpy as np

import gpukit
from gpukit import cuda
from tests.checked.replayed import state_at

BLOCK = 64


def record(kernel, sizes, *arguments):
    """Record a launch and return the recording."""
    return gpukit.play(kernel)[sizes](*arguments).recording


def after(recording, name):
    """Return the final contents of the arrays of a name, in the order of the recording."""
    arrays = state_at(recording, len(recording["steps"]))["arrays"]
    return [
        a["values"]
        for a, instrumentation in zip(arrays, recording["arrays"], strict=True)
        if instrumentation["name"] == name
    ]


def registers_at_end(recording, name):
    """Return the final values of a variable in all warps."""
    return [w["registers"][name] for w in state_at(recording, len(recording["steps"]))["warps"]]


def steps_at(recording, line):
    return [step for step in recording["steps"] if step["line"] == line]


def lanes(*numbers):
    return sum(1 << n for n in numbers)


@cuda.jit
def add_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] + y[i]


@cuda.jit
def reduce_kernel(x, total):
    tile = cuda.shared.array(BLOCK, dtype=np.float32)
    i, tx = cuda.grid(1), cuda.threadIdx.x
    tile[tx] = x[i] if i < x.shape[0] else np.float32(0)
    cuda.syncthreads()
    step = BLOCK // 2
    while step > 0:
        if tx < step:
            tile[tx] += tile[tx + step]
        cuda.syncthreads()
        step //= 2
    if tx == 0:
        cuda.atomic.add(total, 0, tile[0])


@cuda.jit
def rows_kernel(x, out):
    row = cuda.local.array(3, dtype=np.float32)
    i = cuda.grid(1)
    if i < out.shape[0]:
        for k in range(3):
            row[k] = x[i, k]
        out[i] = row[0] + row[1] + row[2]


@cuda.jit
def places_kernel(out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = 10 * row + col
