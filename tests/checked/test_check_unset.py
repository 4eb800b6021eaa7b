"""gpukit.check on uninitialised device memory: what initialises it, and which reads are found."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from tests.checked.plain_kernels import BLOCK, N, copy_kernel

PAIR = np.dtype([("left", np.float32), ("right", np.float32)])


@cuda.jit
def fill_kernel(out, first, last):
    i = cuda.grid(1)
    if first <= i < last:
        out[i] = i


@cuda.jit
def count_kernel(out):
    i = cuda.grid(1)
    if i < N:
        cuda.atomic.add(out, i, 1)


def unset(n=N):
    """Return uninitialised device memory."""
    return cuda.device_array(n, np.float32)


def unset_reads(x):
    """Read x under the checker; return the number of uninitialised elements, and the first."""
    blocks = launch.ceil_div(x.shape[0], BLOCK)
    report = gpukit.check(copy_kernel)[blocks, BLOCK](x, np.zeros(x.shape[0], np.float32))
    assert {f.kind for f in report.findings} <= {"uninitialised-global"}
    if not report.findings:
        return 0, None
    (found,) = report.findings
    assert found.array == "x"
    return found.count, found.index


def test_reading_fresh_device_memory_is_found_at_every_element():
    assert unset_reads(unset()) == (N, (0,))


def test_to_device_initialises_the_array():
    assert unset_reads(cuda.to_device(np.ones(N, np.float32))) == (0, None)


def test_copy_to_device_initialises_the_array():
    x = unset()
    x.copy_to_device(np.ones(N, np.float32))
    assert unset_reads(x) == (0, None)


def test_copy_to_a_slice_initialises_only_the_slice():
    x = unset()
    x[:40].copy_to_device(np.ones(40, np.float32))
    assert unset_reads(x) == (30, (40,))


def test_assignment_to_a_slice_initialises_only_the_slice():
    x = unset()
    x[10:] = np.float32(3)
    assert unset_reads(x) == (10, (0,))


def test_strided_assignment_does_not_initialise_the_gaps():
    x = unset()
    x[::2] = np.float32(3)
    assert unset_reads(x) == (35, (1,))


def test_assignment_of_one_element_initialises_one_element():
    x = unset()
    x[0] = 3
    assert unset_reads(x) == (69, (1,))


def test_memset_initialises_the_array():
    x = unset()
    cuda.cudadrv.driver.device_memset(x, 0, x.nbytes)
    assert unset_reads(x) == (0, None)


def test_device_to_device_copy_initialises_the_array():
    x = unset()
    x.copy_to_device(cuda.to_device(np.ones(N, np.float32)))
    assert unset_reads(x) == (0, None)


def test_unchecked_launch_counts_as_initialising_its_arguments():
    x = unset()
    fill_kernel[3, BLOCK](x, 0, 1)
    assert unset_reads(x) == (0, None)


def test_unchecked_launch_on_a_slice_counts_as_initialising_the_whole_array():
    x = unset()
    fill_kernel[3, BLOCK](x[:5], 0, 5)
    assert unset_reads(x) == (0, None)


def test_checked_launch_initialises_only_what_it_writes():
    x = unset()
    gpukit.check(fill_kernel)[3, BLOCK](x, 5, 33)
    assert unset_reads(x) == (N - 28, (0,))


def test_two_checked_launches_that_write_half_each_initialise_all():
    x = unset()
    gpukit.check(fill_kernel)[3, BLOCK](x, 0, 33)
    gpukit.check(fill_kernel)[3, BLOCK](x, 33, N)
    assert unset_reads(x) == (0, None)


def test_profiled_launch_counts_as_initialising_its_arguments():
    x = unset()
    gpukit.profile(fill_kernel)[3, BLOCK](x, 0, N)
    assert unset_reads(x) == (0, None)


def test_second_launch_reports_uninitialised_reads_again():
    x = unset()
    assert unset_reads(x) == unset_reads(x) == (N, (0,))


def test_reallocated_memory_is_uninitialised_again():
    for _ in range(5):
        x = unset()
        assert unset_reads(x)[0] == N
        x[:] = 1
        assert unset_reads(x)[0] == 0


def test_initialisation_state_of_a_freed_array_does_not_carry_over():
    for _ in range(20):
        fresh = unset()
        del fresh
        assert unset_reads(np.ones(N, np.float32)) == (0, None)


@pytest.mark.parametrize("n", [1, 31, 33, N])
def test_view_is_uninitialised_where_its_base_array_is(n):
    x = unset()
    x[:1] = np.float32(3)
    assert unset_reads(x[:n]) == (n - 1, (1,) if n > 1 else None)


def test_atomic_on_uninitialised_memory_is_found():
    report = gpukit.check(count_kernel)[3, BLOCK](unset())
    assert [(f.kind, f.count) for f in report.errors] == [("uninitialised-global", N)]


def test_memory_written_before_it_is_read_has_no_findings():
    assert gpukit.check(write_first_kernel)[3, BLOCK](unset()).findings == []


@cuda.jit
def write_first_kernel(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] = i
        x[i] += np.float32(1)


@cuda.jit
def one_field_kernel(records):
    i = cuda.grid(1)
    if i < records.shape[0]:
        records[i].left = i


@cuda.jit
def read_right_kernel(records, out):
    i = cuda.grid(1)
    if i < records.shape[0]:
        out[i] = records[i].right


@cuda.jit
def read_left_kernel(records, out):
    i = cuda.grid(1)
    if i < records.shape[0]:
        out[i] = records[i].left


@pytest.mark.parametrize(
    ("reader", "found"), [(read_left_kernel, []), (read_right_kernel, ["uninitialised-global"])]
)
def test_field_is_initialised_only_by_a_write_to_it(reader, found):
    records = cuda.device_array(N, PAIR)
    gpukit.check(one_field_kernel)[3, BLOCK](records)
    report = gpukit.check(reader)[3, BLOCK](records, np.zeros(N, np.float32))
    assert [f.kind for f in report.findings] == found


def test_uninitialised_output_that_is_partly_written_is_a_finding():
    report = gpukit.check(fill_kernel)[3, BLOCK](unset(), 5, 66)
    (found,) = report.findings
    assert (found.kind, found.array, found.index) == ("never-written", "out", (0,))
    assert "61 of the 70" in found.message


def test_second_launch_that_completes_an_output_has_no_findings():
    x = unset()
    gpukit.check(fill_kernel)[3, BLOCK](x, 0, 33)
    report = gpukit.check(fill_kernel)[3, BLOCK](x, 33, N)
    assert "never-written" not in [f.kind for f in report.findings]


@cuda.jit
def forgetful_kernel(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        doubled = x[i] + x[i]  # noqa: F841


def test_uninitialised_output_that_is_never_written_is_a_finding():
    x, out = cuda.to_device(np.ones(N, np.float32)), cuda.device_array(N, np.float32)
    (found,) = gpukit.check(forgetful_kernel)[3, 32](x, out).findings
    assert (found.kind, found.array) == ("never-written", "out")
    assert found.message.startswith(
        "The kernel never accesses out, which is new, uninitialized memory"
    )


def test_initialised_array_that_is_never_accessed_is_no_finding():
    x, out = np.ones(N, np.float32), np.zeros(N, np.float32)
    assert gpukit.check(forgetful_kernel)[3, 32](x, out).findings == []
