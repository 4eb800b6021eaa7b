"""Calls that synchronize inside assignment targets: `f(a)[i] = v`, `a[f(i)], x = v`."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from tests.compiler.agreement import run_both


@cuda.jit(device=True)
def same(p):
    return p


@cuda.jit(device=True)
def synced(p):
    cuda.syncthreads()
    return p


@cuda.jit(device=True)
def either(p, q, first):
    if first:
        return p
    return q


@cuda.jit
def stored(p, q):
    t = cuda.threadIdx.x
    same(p)[t] = t
    synced(q)[t] = synced(p)[t] + 1


@cuda.jit
def changed(p, q):
    t = cuda.threadIdx.x
    same(p)[t] += 1
    either(p, synced(q), t > 5)[t] += synced(p)[t]


@cuda.jit
def slice_stored(p, q):
    t = cuda.threadIdx.x
    synced(p)[t : t + 1] = t
    same(q)[:][t] = t


@cuda.jit
def one_of_several(p, q):
    t = cuda.threadIdx.x
    x, synced(p)[t] = 2 * t, t
    synced(q)[t] = y = x + 1
    p[t] += y


@cuda.jit
def at_shuffled_indices(p, q):
    t = cuda.threadIdx.x
    p[cuda.shfl_sync(-1, t, t ^ 1)], x = t, 3 * t
    same(q)[cuda.shfl_sync(-1, t, t ^ 2)] = cuda.shfl_sync(-1, x, t ^ 3)


KERNELS = [stored, changed, slice_stored, one_of_several, at_shuffled_indices]


def arguments():
    return np.arange(32, dtype=np.float64), np.arange(32, dtype=np.float64) ** 2


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.py_func.__name__)
@pytest.mark.costly
def test_an_assignment_target_may_call_functions_that_synchronize(kernel):
    wanted = run_both(kernel, 1, 32, *arguments())
    found = arguments()
    report = gpukit.check(kernel)[1, 32](*found)
    assert not report.findings
    np.testing.assert_array_equal(found, wanted)


@cuda.jit
def two_names(out):
    i = cuda.grid(1)
    first = cuda.local.array(2, np.int64)
    second = first
    first[0] = first[1] = i
    third = second = cuda.local.array(2, np.int64)
    third[0] = third[1] = i + 10
    out[i] = 100 * first[1] + second[1]


def test_an_array_with_two_names_replaces_the_array_that_one_of_them_had():
    (out,) = run_both(two_names, 1, 3, np.full(3, -77))
    assert out.tolist() == [10, 111, 212]
