"""Calls at which threads meet in the target of an assignment: `f(a)[i] = v`, `a[f(i)], x = v`."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from tests.compiler.agreement import run_both


@cuda.jit(device=True)
def same(p):
    return p


@cuda.jit(device=True)
def met(p):
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
    met(q)[t] = met(p)[t] + 1


@cuda.jit
def changed(p, q):
    t = cuda.threadIdx.x
    same(p)[t] += 1
    either(p, met(q), t > 5)[t] += met(p)[t]


@cuda.jit
def part_set(p, q):
    t = cuda.threadIdx.x
    met(p)[t : t + 1] = t
    same(q)[:][t] = t


@cuda.jit
def one_of_several(p, q):
    t = cuda.threadIdx.x
    x, met(p)[t] = 2 * t, t
    met(q)[t] = y = x + 1
    p[t] += y


@cuda.jit
def at_shuffled_places(p, q):
    t = cuda.threadIdx.x
    p[cuda.shfl_sync(-1, t, t ^ 1)], x = t, 3 * t
    same(q)[cuda.shfl_sync(-1, t, t ^ 2)] = cuda.shfl_sync(-1, x, t ^ 3)


KERNELS = [stored, changed, part_set, one_of_several, at_shuffled_places]


def arguments():
    return np.arange(32, dtype=np.float64), np.arange(32, dtype=np.float64) ** 2


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.py_func.__name__)
@pytest.mark.costly
def test_assignment_works_whatever_its_target_calls(kernel):
    wanted = run_both(kernel, 1, 32, *arguments())
    found = arguments()
    report = gpukit.check(kernel)[1, 32](*found)
    assert not report.findings
    np.testing.assert_array_equal(found, wanted)
