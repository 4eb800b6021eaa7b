"""`unrolled`: a loop on the CPU targets, unrolled completely by a GPU's compiler."""

import inspect

import numpy as np
import pytest

import gpukit
from gpukit import cuda, gpu_code
from gpukit.gpu_code import sass
from gpukit.primitives.unroll import unrolled
from tests import oracle

STEPS = 12


@cuda.jit(device=True)
def add_step(k, x, acc):
    acc[0] = acc[0] * np.float32(0.5) + x[k]


@cuda.jit
def unrolled_kernel(x, out):
    acc = cuda.local.array(1, np.float32)
    acc[0] = np.float32(0)
    unrolled(STEPS, add_step, x, acc)
    out[cuda.grid(1)] = acc[0]


@cuda.jit
def loop_kernel(x, out):
    acc = cuda.local.array(1, np.float32)
    acc[0] = np.float32(0)
    for k in range(STEPS):
        add_step(k, x, acc)
    out[cuda.grid(1)] = acc[0]


@cuda.jit(device=True)
def record_step(k, seen):
    cuda.syncthreads()
    seen[k, cuda.threadIdx.x] = k


@cuda.jit
def zero_steps_kernel(seen):
    seen[0, 0] = -1
    unrolled(0, record_step, seen)


def vector():
    return np.random.default_rng(3).standard_normal(STEPS, dtype=np.float32)


def test_steps_run_in_order():
    x, out, expected = vector(), np.full(5, np.nan, np.float32), np.full(5, np.nan, np.float32)
    unrolled_kernel[1, 5](x, out)
    loop_kernel[1, 5](x, expected)
    assert not np.isnan(out).any()
    np.testing.assert_array_equal(out, expected)


def test_the_oracle_runs_the_same_steps():
    x, out, expected = vector(), np.full(3, np.nan, np.float32), np.full(3, np.nan, np.float32)
    unrolled_kernel[1, 3](x, out)
    oracle.launch(unrolled_kernel, 1, 3, x, expected)
    np.testing.assert_array_equal(out, expected)


def test_zero_steps_do_nothing():
    seen = np.zeros((1, 4), np.int32)
    zero_steps_kernel[1, 4](seen)
    assert seen.tolist() == [[-1, 0, 0, 0]]


def test_steps_may_contain_a_barrier():
    @cuda.jit
    def kernel(seen):
        unrolled(3, record_step, seen)

    seen = np.full((3, 40), -1, np.int32)
    kernel[1, 40](seen)
    np.testing.assert_array_equal(seen, np.arange(3)[:, None] + np.zeros(40, np.int32))


def test_a_mistake_in_a_step_is_found_at_its_line():
    report = gpukit.check(unrolled_kernel)[1, 5](vector()[:-1], np.zeros(5, np.float32))
    (found,) = report.errors
    assert (found.kind, found.index) == ("out-of-bounds", (STEPS - 1,))
    assert found.line == inspect.getsourcelines(add_step.py_func)[1] + 2
    assert f"x[{STEPS - 1}]" in found.message


@pytest.mark.compilers
def test_a_gpus_compiler_unrolls_a_long_loop():
    from gpukit.kernels.matmul import vectorized as matmul_vectorized

    matrix = np.zeros((128, 128), np.float32)
    kernel = matmul_vectorized.matmul_vectorized_kernel
    (codes,) = gpu_code.build_many([(kernel, (matrix,) * 3)], [(9, 0)])
    loop = sass.main_loop(sass.parse(codes[9, 0].sass))
    products = matmul_vectorized.DEPTH * matmul_vectorized.PER_THREAD**2
    assert sass.mix(loop)["FFMA"] == products
