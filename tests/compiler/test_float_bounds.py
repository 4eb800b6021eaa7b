"""Loops with float bounds: Numba accepts them and truncates each bound of a range."""

import ast

import numpy as np
import pytest

import gpukit
from gpukit import cuda, target

BLOCK = 8


@cuda.jit
def quotient_kernel(a, out):
    i = cuda.grid(1)
    for k in range(a.size / cuda.blockDim.x):
        out[i] += a[k * cuda.blockDim.x + cuda.threadIdx.x]


@cuda.jit
def floor_kernel(a, out):
    i = cuda.grid(1)
    for k in range(a.size // cuda.blockDim.x):
        out[i] += a[k * cuda.blockDim.x + cuda.threadIdx.x]


@cuda.jit
def range_kernel(start, stop, step, out):
    i = cuda.grid(1)
    for k in range(start, stop, step):
        out[i] += 1 + k


@cuda.jit
def break_kernel(start, stop, step, out):
    t = cuda.threadIdx.x
    for k in range(start, stop, step):
        out[t] += 1 + k
        if cuda.syncthreads_count(k > 1000) > 0:
            break


@cuda.jit
def divergent_kernel(start, stop, step, out):
    t = cuda.threadIdx.x
    for k in range(start, stop + t % 2, step):
        out[t] += 1 + k
        cuda.syncwarp()


@pytest.mark.parametrize("size", [0, 7, 8, 61, 64])
def test_a_quotient_that_bounds_a_range_is_truncated(size):
    a, out = np.arange(size, dtype=np.float64), np.zeros(2 * BLOCK)
    quotient_kernel[2, BLOCK](a, out)
    wanted = a[: size // BLOCK * BLOCK].reshape(-1, BLOCK).sum(0)
    np.testing.assert_array_equal(out, [*wanted, *wanted])


BOUNDS = [
    (0.0, 4.5, 1),
    (0.9, 4.99, 1),
    (-2.5, 2.5, 1),
    (9.5, 0.5, -2),
    (0, 7.5, 2.5),
    (3, -0.5, 1),
]


@pytest.mark.parametrize(("start", "stop", "step"), BOUNDS)
@pytest.mark.parametrize("kernel", [range_kernel, break_kernel], ids=["no_barrier", "break"])
def test_every_bound_is_truncated_towards_zero(kernel, start, stop, step):
    out = np.zeros(BLOCK)
    kernel[1, BLOCK](start, stop, step, out)
    rounds = range(int(start), int(stop), int(step))
    np.testing.assert_array_equal(out, np.full(BLOCK, sum(1 + k for k in rounds)))


@pytest.mark.parametrize(("start", "stop", "step"), [(0, 2.5, 1), (0.5, 0.5, 1)])
def test_a_bound_that_differs_between_synchronizing_threads_is_truncated(start, stop, step):
    out = np.zeros(BLOCK)
    divergent_kernel[1, BLOCK](start, stop, step, out)
    wanted = [sum(1 + k for k in range(int(start), int(stop + t % 2))) for t in range(BLOCK)]
    np.testing.assert_array_equal(out, wanted)


@cuda.jit
def below_float_kernel(out, n):
    i = cuda.grid(1)
    while i < n:
        out[i] += 1
        i += cuda.gridsize(1)


@cuda.jit
def from_float_kernel(out, n):
    x = cuda.grid(1) / 2
    while x < n:
        cuda.atomic.add(out, int(x), 1)
        x += cuda.gridsize(1)


@pytest.mark.parametrize("n", [0.0, 0.5, 9.0, 9.5, 16.25, np.nan])
def test_while_compares_with_the_untruncated_float(n):
    out = np.zeros(20)
    below_float_kernel[1, BLOCK](out, n)
    np.testing.assert_array_equal(out, np.arange(20) < n)


@pytest.mark.parametrize("n", [9.5, 16])
def test_while_that_starts_at_a_float_does_not_truncate_it(n):
    out = np.zeros(20)
    from_float_kernel[1, BLOCK](out, n)
    starts = np.arange(BLOCK) / 2
    indices = np.concatenate([np.arange(s, n, BLOCK) for s in starts]).astype(int)
    np.testing.assert_array_equal(out, np.bincount(indices, minlength=20))


@pytest.mark.skipif(target.wanted() == "cuda", reason="Numba generates no loops")
def test_a_range_over_a_quotient_compiles_to_the_same_loops_as_over_an_integer():
    a = np.zeros(4)
    shapes = [
        [type(n).__name__ for n in ast.walk(ast.parse(gpukit.explain(k, a, a))) if _is_flow(n)]
        for k in (quotient_kernel, floor_kernel)
    ]
    assert shapes[0] == shapes[1]


def _is_flow(node):
    return isinstance(node, (ast.For, ast.While, ast.If, ast.Assign))
