"""`a[f()] += v` calls `f` once, as Python does: plain, checked, profiled and recorded."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, target

THREADS = 5
MODES = [lambda kernel: kernel]
if target.wanted() != "cuda":
    MODES += [gpukit.check, gpukit.profile, gpukit.play]

pytestmark = pytest.mark.parametrize("mode", MODES, ids=["plain", "check", "profile", "play"])


@cuda.jit
def next_element_kernel(count, out):
    out[cuda.atomic.add(count, 0, 1)] += cuda.threadIdx.x


@cuda.jit
def next_row_kernel(count, out):
    out[cuda.atomic.add(count, 0, 1), :] += cuda.threadIdx.x


@cuda.jit(device=True)
def next_index(count):
    return cuda.atomic.add(count, 0, 1)


@cuda.jit
def next_by_function_kernel(count, out):
    out[next_index(count)] += cuda.threadIdx.x


@cuda.jit(device=True)
def next_index_by_recursion(count, n):
    return cuda.atomic.add(count, 0, 1) if n == 0 else next_index_by_recursion(count, n - 1)


@cuda.jit(device=True)
def add_to_next(count, out, v, n):
    if n > 0:
        return add_to_next(count, out, v, n - 1)
    out[next_index_by_recursion(count, n)] += v
    return 0


@cuda.jit
def next_by_recursion_kernel(count, out):
    add_to_next(count, out, cuda.threadIdx.x, 2)


@pytest.mark.parametrize(
    "kernel", [next_element_kernel, next_by_function_kernel, next_by_recursion_kernel]
)
@pytest.mark.costly
def test_index_of_an_element_is_evaluated_once(kernel, mode):
    count, out = np.zeros(1, np.int32), np.full(THREADS + 3, 100)
    mode(kernel)[1, THREADS](count, out)
    assert (count[0], sorted(out)) == (THREADS, [100, 100, 100, 100, 101, 102, 103, 104])


def test_index_of_a_row_is_evaluated_once(mode):
    count, out = np.zeros(1, np.int32), np.full((THREADS, 3), 100)
    mode(next_row_kernel)[1, THREADS](count, out)
    assert (count[0], sorted(out.tolist())) == (THREADS, [[100 + t] * 3 for t in range(THREADS)])
