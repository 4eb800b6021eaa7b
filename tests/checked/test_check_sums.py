"""gpukit.check notes float sums whose rounding depends on the order of threads."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda

N = 128


@cuda.jit
def total_kernel(x, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, x[i])


@cuda.jit
def difference_kernel(x, out):
    i = cuda.grid(1)
    cuda.atomic.sub(out, 0, x[i])


@cuda.jit
def shared_kernel(x, out):
    part = cuda.shared.array(1, np.float32)
    t = cuda.threadIdx.x
    if t == 0:
        part[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(part, 0, x[cuda.grid(1)])
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, cuda.blockIdx.x, part[0])


@cuda.jit
def twice_kernel(x, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, x[i]); cuda.atomic.add(out, 0, x[i])  # fmt: skip # noqa: E702


@cuda.jit
def each_kernel(x, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, i, x[i])
    cuda.atomic.add(out, i, x[i])


@cuda.jit
def count_kernel(x, out):
    if x[cuda.grid(1)] > 0:
        cuda.atomic.add(out, 0, 1.0)


@cuda.jit
def largest_kernel(x, out):
    cuda.atomic.max(out, 0, x[cuda.grid(1)])


def noted(kernel, size, dtype, blocks=2):
    x = np.random.default_rng(7).random(N).astype(dtype)
    report = gpukit.check(kernel)[blocks, N // blocks](x, np.zeros(size, dtype))
    assert report.exit_code == 0
    assert {f.severity for f in report.findings} <= {"info"}
    return [f.source for f in report.findings if f.kind == "not-reproducible"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("blocks", [1, 2])
def test_a_sum_of_floats_by_several_threads_is_noted(dtype, blocks):
    assert noted(total_kernel, 1, dtype, blocks) == ["cuda.atomic.add(out, 0, x[i])"]


def test_a_difference_of_floats_is_noted_too():
    assert noted(difference_kernel, 1, np.float32) == ["cuda.atomic.sub(out, 0, x[i])"]


def test_sum_in_shared_memory_is_noted_unless_each_element_has_one_adder():
    assert noted(shared_kernel, 2, np.float32) == ["cuda.atomic.add(part, 0, x[cuda.grid(1)])"]


def test_a_line_is_noted_once():
    assert len(noted(twice_kernel, 1, np.float32)) == 1


@pytest.mark.parametrize(
    ("kernel", "size", "dtype"),
    [
        (total_kernel, 1, np.int32),
        (each_kernel, N, np.float32),
        (count_kernel, 1, np.float32),
        (largest_kernel, 1, np.float32),
    ],
)
def test_order_independent_sums_are_not_noted(kernel, size, dtype):
    assert noted(kernel, size, dtype) == []


def test_note_has_advice():
    report = gpukit.check(total_kernel)[2, 64](np.ones(N, np.float32), np.zeros(1, np.float32))
    (found,) = report.findings
    assert "fixed order" in found.fix
    assert "integers" in found.fix
