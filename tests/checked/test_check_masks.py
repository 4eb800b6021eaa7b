"""gpukit.check on conditions that only some threads of a row satisfy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpukit
from gpukit import cuda

THREADS = 96
WARP = 32


@cuda.jit
def write_then_read_kernel(writers, readers, memory, seen, write_step, read_step, shift):
    i = cuda.threadIdx.x
    if writers[i]:
        memory[i * write_step] = i
    if readers[i]:
        seen[i] = memory[i * read_step + shift]


@cuda.jit
def write_twice_kernel(first, second, memory, first_step, second_step, shift):
    i = cuda.threadIdx.x
    if first[i]:
        memory[i * first_step] = i
    if second[i]:
        memory[i * second_step + shift] = -1 - i


def masks():
    """Draw thread masks: strided, contiguous, and random."""
    stepped = st.builds(
        lambda first, step: np.arange(THREADS) % step == first % step,
        st.integers(0, 40),
        st.integers(1, 40),
    )
    runs = st.builds(
        lambda low, high: (low <= np.arange(THREADS)) & (np.arange(THREADS) < high),
        st.integers(0, THREADS),
        st.integers(0, THREADS),
    )
    random = st.builds(
        lambda seed, share: np.random.default_rng(seed).random(THREADS) < share,
        st.integers(0, 1000),
        st.sampled_from([0.1, 0.5, 0.9]),
    )
    return st.one_of(stepped, runs, random)


def hazards(earlier, later, first_step, second_step, shift):
    """Return the severity of an earlier and a later statement accessing one element.

    Lines with an error get no additional warning.
    """
    owner = {i * first_step: i for i in np.flatnonzero(earlier)}
    pairs = [(owner.get(i * second_step + shift, i), i) for i in np.flatnonzero(later)]
    apart = [(a, b) for a, b in pairs if a != b]
    if any(a // WARP != b // WARP for a, b in apart):
        return {"error"}
    return {"warning"} if apart else set()


def races(report):
    return {found.severity for found in report.findings if "race" in found.kind}


def assert_recorded(report, memory, seen, writers, readers, write_step, read_step, shift):
    """Compare results (writes into -1, reads into -7) and races with a model of the accesses."""
    assert races(report) == hazards(writers, readers, write_step, read_step, shift)
    expected = np.full(400, -1)
    expected[: THREADS * write_step : write_step][writers] = np.flatnonzero(writers)
    np.testing.assert_array_equal(memory, expected)
    read = expected[shift : shift + THREADS * read_step : read_step]
    np.testing.assert_array_equal(seen, np.where(readers, read, -7))


STEPS = st.integers(1, 3)


@given(masks(), masks(), STEPS, STEPS, st.integers(0, 70))
@settings(max_examples=60, deadline=None)
def test_masked_reads_of_what_other_threads_wrote_are_races(
    writers, readers, write_step, read_step, shift
):
    memory, seen = np.full(400, -1, np.int32), np.full(THREADS, -7, np.int32)
    report = gpukit.check(write_then_read_kernel)[1, THREADS](
        writers, readers, memory, seen, write_step, read_step, shift
    )
    assert_recorded(report, memory, seen, writers, readers, write_step, read_step, shift)


@given(masks(), masks(), STEPS, STEPS, st.integers(0, 70))
@settings(max_examples=60, deadline=None)
def test_writes_under_two_masks_to_one_element_are_races(
    first, second, first_step, second_step, shift
):
    memory = np.zeros(400, np.int32)
    report = gpukit.check(write_twice_kernel)[1, THREADS](
        first, second, memory, first_step, second_step, shift
    )
    assert races(report) == hazards(first, second, first_step, second_step, shift)


def test_race_under_a_condition_names_threads_that_satisfy_it():
    @cuda.jit
    def kernel(memory, seen):
        i = cuda.threadIdx.x
        if i % 4 == 0:
            memory[i] = i
        if i % 8 == 3:
            seen[i] = memory[i + 33]

    (found,) = gpukit.check(kernel)[1, 64](np.zeros(128, np.int32), np.zeros(64, np.int32)).errors
    assert (found.kind, found.array, found.index) == ("global-race", "memory", (36,))
    assert found.threads == ((36, 0, 0), (3, 0, 0)) or found.threads == ((3, 0, 0), (36, 0, 0))


def test_threads_that_fail_a_condition_are_not_out_of_bounds():
    @cuda.jit
    def kernel(a):
        i = cuda.threadIdx.x
        if i % 8 == 0:
            a[i] += a[i + 7]

    a = np.ones(64)
    assert gpukit.check(kernel)[1, 64](a).findings == []
    assert a.tolist() == [2.0, *[1.0] * 7] * 8


def test_only_threads_that_satisfy_a_condition_are_counted_as_out_of_bounds():
    @cuda.jit
    def kernel(a):
        i = cuda.threadIdx.x
        if i % 8 == 0:
            a[i + 8] = 1

    (found,) = gpukit.check(kernel)[1, 64](np.zeros(64)).errors
    assert (found.kind, found.index, found.count) == ("out-of-bounds", (64,), 1)


@cuda.jit
def changed_condition_kernel(a, out):
    i = cuda.threadIdx.x
    if a[i] > 0:
        a[i] = -1
        out[i] = 10
        if a[i] > 0:
            out[i] += 100
        else:
            out[i] += 1
    else:
        a[i] = 1
        out[i] = 20
    if a[i] % 3 == 1:
        out[i] += 5


@pytest.mark.parametrize("block", [1, 31, 96])
@pytest.mark.costly
def test_a_branch_that_changes_its_own_condition_is_taken_once(block):
    a = np.random.default_rng(block).integers(-4, 5, block).astype(np.int32)
    out = np.full(block, -99, np.int32)
    expected = np.where(a > 0, 11, 25)
    assert gpukit.check(changed_condition_kernel)[1, block](a, out).errors == []
    np.testing.assert_array_equal(out, expected)


@cuda.jit
def loop_behind_a_condition_kernel(lengths, x, out):
    i = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    if lengths[i] % 2 == 1:
        total = np.float32(0)
        for k in range(5):
            if lengths[i] > k:
                total += x[k, i]
                x[k, i] = 0
        out[i] = total


def test_nested_loops_and_conditions_give_the_results_of_a_plain_launch():
    rng = np.random.default_rng(5)
    lengths, x = rng.integers(0, 6, 77).astype(np.int32), rng.random((5, 77), np.float32)
    out, kept = np.full(77, -1, np.float32), x.copy()
    assert gpukit.check(loop_behind_a_condition_kernel)[1, (11, 7)](lengths, x, out).errors == []
    taken = (np.arange(5)[:, None] < lengths) & (lengths % 2 == 1)
    np.testing.assert_array_equal(x, np.where(taken, 0, kept))
    expected = np.where(lengths % 2 == 1, np.where(taken, kept, 0).sum(0), -1)
    np.testing.assert_allclose(out, expected, rtol=1e-6)


def test_conditions_on_shared_memory_are_recorded_row_by_row():
    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(64, np.float32)
        i = cuda.threadIdx.x
        if i % 2 == 0:
            tile[i] = x[i]
        cuda.syncthreads()
        if i % 2 == 1:
            out[i] = tile[i]

    report = gpukit.check(kernel)[1, 64](np.ones(64, np.float32), np.zeros(64, np.float32))
    (found,) = report.errors
    assert (found.kind, found.count) == ("uninitialised-shared", 32)
