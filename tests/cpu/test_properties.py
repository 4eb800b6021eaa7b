"""Specialization, sizes and generated code of kernels and device functions, and jit options."""

import numpy as np
import pytest
from numba import float32, float64, int32, int64, void
from numba.core.types import boolean

from gpukit import cuda, errors, target
from tests.foreign import OnGpu

pytestmark = pytest.mark.skipif(
    target.wanted() == "cuda", reason="these are sizes and messages of gpukit"
)


def poisoned(shape, dtype=np.float64):
    return np.full(shape, np.nan, dtype)


# Specialised kernels


def test_a_kernel_is_specialised_once_per_tuple_of_types():
    @cuda.jit
    def kernel(x, y):
        x[0] = y

    first = kernel.specialize(float32[::1], int32)
    assert kernel.specialize(float32[::1], int32) is first
    assert kernel.specialize(float32[:], int32) is not first
    assert set(kernel.specializations) == {(float32[::1], int32), (float32[:], int32)}
    x = poisoned(1, np.float32)
    first[1, 1](x, np.int32(3))
    assert x[0] == 3


def test_a_kernel_may_be_specialised_for_the_type_of_an_array():
    @cuda.jit
    def kernel(x):
        x[0] = 1

    assert kernel.specialize(poisoned(2)) is kernel.specialize(float64[::1])


def test_a_specialised_kernel_cannot_be_specialised_again():
    @cuda.jit(void(float32[::1]))
    def kernel(x):
        x[0] = 1

    with pytest.raises(RuntimeError, match="already specialized"):
        kernel.specialize(float64[::1])


# Sizes


def test_sizes_of_a_declared_kernel_are_known_before_it_is_launched():
    table = np.arange(32)

    @cuda.jit(void(float32[::1]))
    def kernel(x):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(100, x.dtype)
        mine = cuda.local.array(6, dtype=x.dtype)
        constants = cuda.const.array_like(table)
        tile[t] = t
        mine[t % 6] = t
        cuda.syncthreads()
        x[t] = tile[t] + mine[t % 6] + constants[t]

    assert kernel.get_shared_mem_per_block() == 400
    assert kernel.get_local_mem_per_thread() == 24
    assert kernel.get_const_mem_size() >= table.nbytes
    x = poisoned(32, np.float32)
    kernel[1, 32](x)
    np.testing.assert_array_equal(x, 3 * np.arange(32))


@cuda.jit(device=True)
def reversed_sum(a, i):
    mine = cuda.local.array(3, a.dtype)
    for k in range(3):
        mine[k] = a[2 - k] + i
    return mine[0] + 10 * mine[2]


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int8])
@pytest.mark.costly
def test_a_local_array_in_a_device_function_may_have_the_dtype_of_an_argument(dtype):
    @cuda.jit
    def kernel(a, out):
        i = cuda.threadIdx.x
        out[i] = reversed_sum(a, i)

    a, out = np.array([1, 2, 3], dtype), np.full(4, 77, dtype)
    kernel[1, 4](a, out)
    np.testing.assert_array_equal(out, np.array([3 + i + 10 * (1 + i) for i in range(4)], dtype))


def test_an_overload_is_cooperative_if_it_synchronizes_the_grid():
    @cuda.jit
    def synchronizing(x):
        grid = cuda.cg.this_grid()
        x[cuda.grid(1)] = 1
        grid.sync()

    @cuda.jit
    def independent(x):
        x[cuda.grid(1)] = 1

    for kernel in (synchronizing, independent):
        kernel[2, 2](poisoned(4))
    assert [o.cooperative for o in synchronizing.overloads.values()] == [True]
    assert [o.cooperative for o in independent.overloads.values()] == [False]


# Device functions


def test_the_generated_code_of_a_device_function_can_be_inspected():
    @cuda.jit(device=True)
    def added(x, y):
        return x + y

    record = added.compile_device((int32, int32))
    assert "added" in record.fndesc.mangled_name
    assert record.fndesc.mangled_name in added.inspect_llvm((int32, int32))
    assert record.fndesc.mangled_name in added.inspect_asm((int32, int32))


def test_a_device_function_with_a_signature_casts_its_arguments():
    @cuda.jit("int32(int32, int32)", device=True)
    def packed(low, high):
        return (low & 0xFF) | (high << 8)

    @cuda.jit
    def kernel(a, out):
        out[0] = packed(a[0], a[1])

    out = np.full(1, -1, np.int32)
    kernel[1, 1](np.array([3.75, 2.25]), out)
    assert out[0] == 3 | 2 << 8


def test_a_device_function_with_a_signature_wraps_integers():
    @cuda.jit(boolean(int64), device=True)
    def wraps(x):
        return x + 1 < x

    @cuda.jit
    def kernel(x, out):
        out[0] = wraps(x)

    out = poisoned(1)
    kernel[1, 1](2**63 - 1, out)
    assert out[0] == 1


# Captured device arrays


@pytest.mark.parametrize("wrapped", [lambda a: a, OnGpu], ids=["gpukit", "foreign"])
def test_a_captured_device_array_is_read_and_written_in_place(wrapped):
    device = cuda.to_device(np.arange(4.0))
    captured = wrapped(device)

    @cuda.jit(device=True)
    def at(i):
        return captured[i]

    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        out[i] = 10 * at(i)
        captured[i] = -1

    out = poisoned(4)
    kernel[1, 4](out)
    np.testing.assert_array_equal(out, 10 * np.arange(4))
    np.testing.assert_array_equal(device.copy_to_host(), -np.ones(4))
    device.copy_to_device(np.full(4, 5.0))
    kernel[1, 4](out)
    np.testing.assert_array_equal(out, np.full(4, 50.0))


# Options


def test_a_block_larger_than_its_launch_bounds_is_refused():
    @cuda.jit(launch_bounds=(128, 2))
    def kernel(x):
        x[0] = 1

    x = poisoned(1)
    with pytest.raises(errors.LaunchError, match="launch_bounds allows 128"):
        kernel[1, 129](x)
    assert np.isnan(x[0])
    kernel[1, 128](x)
    assert x[0] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"launch_bounds": (1, 2, 3, 4)}, "Got 4 launch bounds"),
        ({"shared_memory_carveout": 101}, "between -1 and 100"),
        ({"shared_memory_carveout": "All"}, "Invalid carveout value"),
    ],
)
def test_an_impossible_option_is_a_value_error(options, message):
    with pytest.raises(ValueError, match=message):
        cuda.jit(**options)
