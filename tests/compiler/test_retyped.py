"""A name that is assigned values of several types: each type gets its own variable."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda

BIG = 2**60 + 1


@cuda.jit
def integer_then_float_kernel(a, whole, half):
    i = cuda.grid(1)
    x = a[i] + BIG
    cuda.syncthreads()
    whole[i] = x
    x = a[i] * 0.5
    cuda.syncthreads()
    half[i] = x


@cuda.jit
def changed_in_place_kernel(a, whole, half):
    i = cuda.grid(1)
    x = a[i] + BIG
    cuda.syncthreads()
    whole[i] = x
    x *= 0.5
    cuda.syncthreads()
    half[i] = x


@cuda.jit
def index_then_value_kernel(a, whole, half):
    i = cuda.grid(1)
    x = i
    cuda.syncthreads()
    whole[i] = a[x]
    x = a[i] * 0.5
    cuda.syncthreads()
    half[i] = x


@cuda.jit
def after_an_early_return_kernel(a, whole, half):
    i = cuda.grid(1)
    x = a[i] + BIG
    whole[i] = x
    if i >= 5:
        return
    x = a[i] * 0.5
    half[i] = x


@cuda.jit
def in_one_branch_kernel(a, whole, half):
    i = cuda.grid(1)
    x = a[i]
    if i % 2 == 0:
        x = a[i] * 0.5
    cuda.syncthreads()
    half[i] = x


def launch(kernel, n=7):
    a = np.arange(n)
    whole, half = np.full(n, -1), np.full(n, np.nan)
    kernel[1, n](a, whole, half)
    return a, whole, half


def test_an_integer_survives_a_barrier_though_its_name_is_reused_for_a_float():
    a, whole, half = launch(integer_then_float_kernel)
    np.testing.assert_array_equal(whole, a + BIG)
    np.testing.assert_array_equal(half, a * 0.5)


def test_an_augmented_assignment_may_change_the_type():
    a, whole, half = launch(changed_in_place_kernel)
    np.testing.assert_array_equal(whole, a + BIG)
    np.testing.assert_array_equal(half, (a + BIG) * 0.5)


def test_an_index_stays_an_integer_though_its_name_is_reused_for_a_float():
    a, whole, half = launch(index_then_value_kernel)
    np.testing.assert_array_equal(whole, a)
    np.testing.assert_array_equal(half, a * 0.5)


def test_a_name_may_change_its_type_after_an_early_return():
    a, whole, half = launch(after_an_early_return_kernel)
    np.testing.assert_array_equal(whole, a + BIG)
    np.testing.assert_array_equal(half[:5], a[:5] * 0.5)
    assert np.isnan(half[5:]).all()


def test_types_of_two_branches_are_unified():
    a, _, half = launch(in_one_branch_kernel)
    np.testing.assert_array_equal(half, np.where(a % 2 == 0, a * 0.5, a))


@cuda.jit
def two_types_in_an_iteration_kernel(a, whole, half):
    i = cuda.grid(1)
    k = 0
    while k < 2:
        k += 1
        x = a[i] + BIG
        cuda.syncthreads()
        whole[i] = x
        x = a[i] * 0.5 * k
        cuda.syncthreads()
        half[i] = x


def test_an_integer_survives_a_barrier_in_a_loop_that_reuses_its_name_for_a_float():
    a, whole, half = np.arange(40), np.zeros(40, np.int64), np.zeros(40)
    two_types_in_an_iteration_kernel[1, 40](a, whole, half)
    np.testing.assert_array_equal(whole, a + BIG)
    np.testing.assert_array_equal(half, a)


@cuda.jit
def carried_to_the_next_iteration_kernel(a, out):
    i = cuda.grid(1)
    x = a[i]
    for k in range(3):
        cuda.syncthreads()
        out[i, k] = x
        x = 0.5 * x


def test_a_value_of_another_type_is_carried_to_the_next_iteration():
    a, out = np.arange(40), np.zeros((40, 3))
    carried_to_the_next_iteration_kernel[1, 40](a, out)
    np.testing.assert_array_equal(out, a[:, None] * 0.5 ** np.arange(3))


@cuda.jit
def two_views_in_an_iteration_kernel(a, out):
    i = cuda.threadIdx.x
    own = cuda.local.array(8, np.int16)
    for k in range(2):
        view = own[::-1]
        view[k] = i
        out[i, k] = own[7 - k]
        view = a[::2]
        view[i] = k + 1


@pytest.mark.parametrize("command", [gpukit.check, gpukit.profile, gpukit.play])
@pytest.mark.costly
def test_a_view_may_be_reassigned_to_another_array_within_an_iteration(command):
    a, out = np.zeros(16, np.uint8), np.zeros((8, 2), np.int32)
    command(two_views_in_an_iteration_kernel)[1, 8](a, out)
    np.testing.assert_array_equal(a[::2], 2)
    np.testing.assert_array_equal(out, np.arange(8)[:, None] + np.zeros(2))
