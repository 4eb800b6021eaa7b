"""Partly written outputs: a mistake or intentional."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from tests.checked.plain_kernels import copy_kernel, copy_unguarded_kernel, ones


@cuda.jit
def boundary_kernel(a, n):
    i = cuda.grid(1)
    if i < n:
        a[0, i] = 1


@cuda.jit
def halve_kernel(x, out, n):
    i = cuda.grid(1)
    if i < n // 2:
        out[i] = x[2 * i] + x[2 * i + 1]


@cuda.jit
def block_sums_kernel(x, out):
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        acc = np.float32(0)
        for k in range(cuda.blockDim.x):
            acc += x[i + k]
        out[cuda.blockIdx.x] = acc


@cuda.jit
def triangle_kernel(a):
    col, row = cuda.grid(2)
    if row < a.shape[0] and col <= row:
        a[row, col] = 1


@cuda.jit
def copy_counted_kernel(x, out, n):
    i = cuda.grid(1)
    if i >= n:
        return
    out[i] = x[i]


def severities(kernel, shape, *arguments):
    found = gpukit.check(kernel)[shape](*arguments).findings
    return [f.severity for f in found if f.kind == "never-written"]


PARTS = {
    "a boundary row": (boundary_kernel, (1, 32), ones(32, 32), 32),
    "a pass of a shrinking reduction": (halve_kernel, (1, 32), ones(64), ones(64), 64),
    "one element a block": (block_sums_kernel, (2, 32), ones(64), ones(64)),
    "a triangle": (triangle_kernel, (1, (8, 8)), cuda.device_array((8, 8), np.float32)),
}
WHOLES = {
    "too few blocks": (copy_kernel, (2, 32), ones(70), ones(70)),
    "too few blocks for a count": (copy_counted_kernel, (2, 32), ones(70), ones(70), 70),
    "too few blocks and no guard": (copy_unguarded_kernel, (2, 32), ones(70), ones(70)),
}


@pytest.mark.parametrize("launch", PARTS.values(), ids=PARTS)
@pytest.mark.costly
def test_intentionally_partial_output_is_at_most_a_note(launch):
    assert severities(*launch) == ["info"]


@pytest.mark.parametrize("launch", WHOLES.values(), ids=WHOLES)
@pytest.mark.costly
def test_output_with_an_unwritten_end_is_a_warning(launch):
    assert severities(*launch) == ["warning"]
