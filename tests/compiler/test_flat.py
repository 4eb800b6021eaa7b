"""`a.flat[i]` and indices beside `np.newaxis`: NumPy's elements, bounds checks, findings."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors


@cuda.jit
def copy_kernel(a, out):
    for i in range(a.size):
        out.flat[i] += a.flat[i]
        out.flat[-1 - i] += a.flat[i]


@pytest.mark.parametrize("shape", [(24,), (4, 6), (2, 3, 4), (1, 24, 1)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_flat_is_in_row_major_order_for_any_memory_layout(shape, order):
    a = np.asarray(np.arange(24.0).reshape(shape), order=order)
    out = np.zeros((3, 8))
    copy_kernel[1, 1](a, out)
    np.testing.assert_array_equal(out.ravel(), a.ravel() + a.ravel()[::-1])


@cuda.jit(device=True)
def element(a, i):
    return a.flat[i]


@cuda.jit(device=True)
def element_by_recursion(a, i, depth):
    if depth > 0:
        return element_by_recursion(a, i, depth - 1)
    return a.flat[i]


@cuda.jit
def store_kernel(a, i):
    a.flat[i] = 1


@cuda.jit
def load_kernel(a, i):
    a[0, 0] = a.flat[i]


@cuda.jit
def counted_kernel(a, i):
    count = cuda.local.array(1, np.int64)
    count[0] = i
    a.flat[cuda.atomic.add(count, 0, 1)] = 1


@cuda.jit
def device_kernel(a, i):
    a[0, 0] = element(a, i)


@cuda.jit
def recursive_kernel(a, i):
    a[0, 0] = element_by_recursion(a, i, 2)


@cuda.jit
def new_axis_kernel(a, i):
    a[0, None, i] = 1


KERNELS = [
    store_kernel,
    load_kernel,
    counted_kernel,
    device_kernel,
    recursive_kernel,
    new_axis_kernel,
]


@pytest.mark.parametrize("i", [12, -13, 1 << 40, -(1 << 40)])
@pytest.mark.parametrize("kernel", KERNELS)
def test_an_index_outside_the_array_raises_out_of_bounds(kernel, i):
    with pytest.raises(errors.OutOfBounds):
        kernel[1, 1](np.zeros((3, 4)), i)


@pytest.mark.parametrize("kernel", KERNELS[:-1])
def test_a_negative_index_counts_from_the_end(kernel):
    a = np.arange(12.0).reshape(3, 4)
    kernel[1, 1](a, -1)
    assert (a[-1, -1] == 1) if kernel in (store_kernel, counted_kernel) else (a[0, 0] == 11)


@cuda.jit
def race_kernel(a):
    a.flat[cuda.threadIdx.x // 2] = cuda.threadIdx.x


def test_a_race_through_flat_is_found():
    report = gpukit.check(race_kernel)[1, 24](np.zeros((3, 4)))
    assert {finding.kind for finding in report.errors} == {"global-race"}
