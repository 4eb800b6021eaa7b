"""gpukit.check on conditions that select every n-th thread, such as `tid % step == 0`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpukit
from gpukit import cuda
from tests.checked.test_check_masks import STEPS, THREADS, assert_recorded

LARGEST = 2**63 - 1


@cuda.jit
def every_nth_thread_kernel(first, second, memory, seen, write_step, read_step, shift):
    i = cuda.threadIdx.x
    if (i + first[0]) % first[1] == first[2]:
        memory[i * write_step] = i
    if (i + second[0]) % second[1] == second[2]:
        seen[i] = memory[i * read_step + shift]


def selected(offset, modulus, wanted):
    return np.array([(i + offset) % modulus == wanted for i in range(THREADS)])


def congruences():
    """Draw an offset, a modulus and a remainder, most of which select some threads."""
    common = st.tuples(st.integers(-9, 99), st.integers(1, 130), st.integers(-1, 40))
    odd = st.tuples(
        st.integers(-200, 200),
        st.sampled_from([-7, -1, 1, 2, LARGEST, -LARGEST]),
        st.sampled_from([-3, 0, 1, 95, LARGEST]),
    )
    return st.one_of(common, odd)


@given(congruences(), congruences(), STEPS, STEPS, st.integers(0, 70))
@settings(max_examples=150, deadline=None)
def test_accesses_of_every_nth_thread_are_checked(first, second, writes, reads, shift):
    memory, seen = np.full(400, -1, np.int32), np.full(THREADS, -7, np.int32)
    report = gpukit.check(every_nth_thread_kernel)[1, THREADS](
        np.array(first), np.array(second), memory, seen, writes, reads, shift
    )
    assert_recorded(report, memory, seen, selected(*first), selected(*second), writes, reads, shift)


@cuda.jit
def within_kernel(step, limit, x, out):
    i = cuda.threadIdx.x
    if i % step == 0:
        if i < limit:
            out[i] = x[i]
        if i >= limit:
            out[i] = -x[i]


@pytest.mark.parametrize("limit", [0, 1, 7, 8, 9, 50, THREADS])
@pytest.mark.parametrize("step", [1, 2, 3, 8, 16, 95, 96, 97])
def test_nested_limit_selects_the_right_threads(step, limit):
    x, out = np.arange(1.0, THREADS + 1), np.zeros(THREADS)
    assert gpukit.check(within_kernel)[1, THREADS](step, limit, x, out).errors == []
    i = np.arange(THREADS)
    np.testing.assert_array_equal(out, np.where(i % step, 0, np.where(i < limit, x, -x)))


@cuda.jit
def beyond_kernel(step, x):
    i = cuda.threadIdx.x
    if i % step == 0:
        x[2 * i] = i


@pytest.mark.parametrize("step", [1, 2, 5, 16])
def test_only_selected_threads_are_counted_as_out_of_bounds(step):
    report = gpukit.check(beyond_kernel)[1, THREADS](step, np.zeros(100))
    (found,) = report.errors
    outside = [i for i in range(0, THREADS, step) if 2 * i >= 100]
    assert (found.kind, found.count) == ("out-of-bounds", len(outside))


@cuda.jit
def row_by_row_kernel(step, out):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    if (x + y) % step == 1:
        out[y, x] = 1


@pytest.mark.parametrize("step", [1, 2, 3, 7, 40])
def test_condition_is_evaluated_separately_in_each_row_of_a_block(step):
    out = np.zeros((5, 19), np.int32)
    assert gpukit.check(row_by_row_kernel)[1, (19, 5)](step, out).errors == []
    y, x = np.indices(out.shape)
    np.testing.assert_array_equal(out, (x + y) % step == 1)


# --- Shuffles of full warps, which the checker does not record lane by lane ---------------------


@cuda.jit
def rotate_kernel(mask, x, out):
    i = cuda.threadIdx.x
    out[i] = cuda.shfl_sync(mask, x[i], i + 1)


@cuda.jit
def rotate_all_kernel(x, out):
    i = cuda.threadIdx.x
    out[i] = cuda.shfl_sync(0xFFFFFFFF, x[i], i + 1)


@cuda.jit
def add_below_kernel(x, out):
    i = cuda.threadIdx.x
    acc = x[i]
    acc += cuda.shfl_up_sync(0xFFFFFFFF, acc, 3)
    out[i] = acc


@pytest.mark.parametrize("threads", [32, 64, 33, 63])
@pytest.mark.costly
def test_full_warp_shuffles_give_the_results_of_a_plain_launch(threads):
    x, out, plain = np.arange(float(threads)), np.zeros(threads), np.zeros(threads)
    report = gpukit.check(add_below_kernel)[1, threads](x, out)
    add_below_kernel[1, threads](x, plain)
    assert report.errors == []
    np.testing.assert_array_equal(out, plain)


def test_mask_that_omits_calling_lanes_is_found():
    report = gpukit.check(rotate_kernel)[1, 64](0xFFFF, np.zeros(64), np.zeros(64))
    assert "warp-mask" in {found.kind for found in report.findings}


def test_shuffle_from_a_lane_without_a_thread_is_found():
    x, out = np.zeros(40), np.zeros(40)
    report = gpukit.check(rotate_all_kernel)[1, 40](x, out)
    assert "shuffle-source" in {found.kind for found in report.findings}
