"""check and profile of `a if condition else b`: only evaluated operands are recorded."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda

N = 64


@cuda.jit
def relu_grad_kernel(grad, x, out):
    i = cuda.grid(1)
    above = grad[i]
    out[i] = np.float32(0) if x[i] <= np.float32(0) else above


@cuda.jit
def next_kernel(x, out):
    i = cuda.grid(1)
    out[i] = x[i + 1] if i + 1 < x.shape[0] else 0


@cuda.jit
def not_both_kernel(x, out):
    i = cuda.grid(1)
    out[i] = i + 1 < x.shape[0] and x[i + 1] > 0


@cuda.jit
def chain_kernel(x, out):
    i = cuda.grid(1)
    out[i] = i < x.shape[0] - 1 < x[i + 1]


def wave():
    return np.sin(np.arange(N)).astype(np.float32)


def test_conditional_expression_on_loaded_values_has_no_findings():
    grad, x, out = wave(), wave()[::-1].copy(), cuda.device_array(N, np.float32)
    assert gpukit.check(relu_grad_kernel)[1, N](grad, x, out).findings == []
    np.testing.assert_array_equal(out.copy_to_host(), np.where(x > 0, grad, 0))


def test_out_of_bounds_read_in_a_condition_is_found():
    (found,) = gpukit.check(relu_grad_kernel)[1, N](wave(), wave()[:-1], np.zeros(N)).errors
    assert (found.kind, found.array, found.index) == ("out-of-bounds", "x", (N - 1,))


def test_read_in_a_condition_of_what_another_thread_writes_is_a_race():
    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        x[i] = np.float32(0) if x[N - 1 - i] <= np.float32(0) else np.float32(1)
        out[i] = i

    report = gpukit.check(kernel)[1, N](wave(), np.zeros(N))
    assert [(f.kind, f.array) for f in report.errors] == [("global-race", "x")]


@pytest.mark.parametrize("kernel", [next_kernel, not_both_kernel, chain_kernel])
def test_read_guarded_by_the_condition_has_no_findings(kernel):
    assert gpukit.check(kernel)[1, N](wave(), np.zeros(N, np.float32)).findings == []


@pytest.mark.parametrize(("array", "access"), [("grad", "load"), ("x", "load"), ("out", "store")])
def test_profile_counts_one_request_and_four_sectors_per_warp(array, access):
    arguments = wave(), wave(), np.zeros(N, np.float32)
    counts = gpukit.profile(relu_grad_kernel)[1, N](*arguments).arrays[array]
    counted = [counts[f"global_{access}_{what}"] for what in ("requests", "sectors")]
    assert counted == [N // 32, N // 8]


def test_return_on_a_loaded_condition_is_checked_when_threads_run_one_by_one():
    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        if x[i] <= np.float32(0):
            return
        if cuda.atomic.max(out, 0, i) > i:
            cuda.atomic.exch(out, 1, 7)

    report = gpukit.check(kernel)[1, N](wave(), np.zeros(2, np.int64))
    assert report.errors == []
