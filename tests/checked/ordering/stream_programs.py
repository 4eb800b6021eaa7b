"""Kernels and helpers for programs with several streams, and the races found in them."""

import numpy as np

import gpukit
from gpukit import cuda

N = 256


@cuda.jit
def fill_kernel(out, value):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = value


@cuda.jit
def copy_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i]


def fill(array, stream=0):
    fill_kernel[2, 128, stream](array, 1)


def races(program):
    """Check a program; return the kinds of its races."""
    found = gpukit.check(program)().findings
    return [f.kind for f in found if f.kind in ("stream-race", "host-race")]


def device():
    return cuda.device_array(N, np.float32)


def pinned():
    array = cuda.pinned_array(N, np.float32)
    array[:] = 0
    return array
