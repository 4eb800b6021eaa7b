"""gpukit.check on statements that write many elements: rows and slices."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors
from tests.checked.plain_kernels import collide_kernel

ROWS = 40


@cuda.jit
def row_kernel(out):
    out[cuda.grid(1)] = 5


@cuda.jit
def slice_kernel(out):
    out[cuda.grid(1), :] = 5


@cuda.jit
def ellipsis_kernel(out):
    out[..., cuda.grid(1)] = 5


@cuda.jit
def one_slice_kernel(out):
    out[0, 1:] = cuda.threadIdx.x


@pytest.mark.parametrize("kernel", [row_kernel, slice_kernel])
def test_whole_row_writes_have_no_findings(kernel):
    out = cuda.device_array((ROWS, 3), np.float32)
    assert gpukit.check(kernel)[1, ROWS](out).findings == []
    assert (out.copy_to_host() == 5).all()


def test_whole_column_writes_have_no_findings():
    out = cuda.device_array((3, ROWS), np.float32)
    assert gpukit.check(ellipsis_kernel)[1, ROWS](out).findings == []


@pytest.mark.parametrize("kernel", [collide_kernel, one_slice_kernel])
def test_two_threads_writing_one_row_are_a_race(kernel):
    (found,) = gpukit.check(kernel)[1, 64](np.zeros((1, 3), np.float32)).errors
    assert (found.kind, found.array) == ("global-race", "out")


@cuda.jit
def read_and_slice_kernel(out, seen):
    if cuda.threadIdx.x == 0:
        out[0, 1:] = 5
    else:
        seen[cuda.threadIdx.x] = out[0, 1]


@cuda.jit
def read_and_add_kernel(out, seen):
    if cuda.threadIdx.x == 0:
        out[0] += 5
    else:
        seen[cuda.threadIdx.x] = out[0, 1]


@pytest.mark.parametrize("kernel", [read_and_slice_kernel, read_and_add_kernel])
def test_reading_an_element_of_a_row_that_another_thread_writes_is_a_race(kernel):
    (found,) = gpukit.check(kernel)[1, 64](np.zeros((2, 64)), np.zeros(64)).errors
    assert (found.kind, found.array, found.index) == ("global-race", "out", (0, 1))


def test_row_updated_in_place_is_not_reported_as_unwritten():
    @cuda.jit
    def kernel(out):
        out[0] += 5

    out = np.ones((2, 3))
    assert gpukit.check(kernel)[1, 1](out).findings == []
    assert out.tolist() == [[6] * 3, [1] * 3]


def test_row_outside_the_array_is_a_finding():
    (found,) = gpukit.check(row_kernel)[1, ROWS](np.zeros((ROWS - 1, 3))).errors
    assert (found.kind, found.index) == ("out-of-bounds", (ROWS - 1,))


@cuda.jit
def next_row_kernel(count, out):
    out[cuda.atomic.add(count, 0, 1), :] = 5


@cuda.jit
def next_whole_row_kernel(count, out):
    out[cuda.atomic.add(count, 0, 1)] = 5


@pytest.mark.parametrize("kernel", [next_row_kernel, next_whole_row_kernel])
def test_index_of_a_slice_is_evaluated_once(kernel):
    count, out = np.zeros(1, np.int32), np.zeros((8, 3), np.float32)
    gpukit.check(kernel)[1, 4](count, out)
    assert (count[0], out[:, 0].tolist()) == (4, [5] * 4 + [0] * 4)


def test_value_of_a_slice_assignment_is_evaluated_before_its_index():
    @cuda.jit
    def kernel(count, out):
        out[cuda.atomic.add(count, 0, 1), :] = cuda.atomic.add(count, 0, 1)

    count, out = np.zeros(1, np.int32), np.full((2, 3), np.nan, np.float32)
    gpukit.check(kernel)[1, 1](count, out)
    np.testing.assert_array_equal(out, [[np.nan] * 3, [0] * 3])


@pytest.mark.parametrize("command", [gpukit.check, gpukit.profile, gpukit.play])
def test_ellipsis_with_all_indices_is_a_single_element(command):
    out = np.zeros(ROWS, np.float32)
    command(ellipsis_kernel)[1, ROWS](out)
    assert out.tolist() == [5] * ROWS


def test_race_on_an_element_indexed_with_an_ellipsis_is_found():
    @cuda.jit
    def kernel(out):
        out[..., 0] = cuda.threadIdx.x

    (found,) = gpukit.check(kernel)[1, 64](np.zeros(1, np.float32)).errors
    assert (found.kind, found.array) == ("global-race", "out")


@cuda.jit
def changed_row_kernel(a, row):
    a[row] -= np.float32(1)


@pytest.mark.parametrize("row", [2, 5, -3])
def test_out_of_bounds_slice_update_stops_a_plain_launch(row):
    whole = np.ones((9, 3), np.float32)
    with pytest.raises(errors.OutOfBounds, match=f"index {row} is outside"):
        changed_row_kernel[1, 1](whole[3:5], row)
    assert (whole == 1).all()


@pytest.mark.parametrize("row", [2, 5, 2**31])
def test_out_of_bounds_slice_update_is_a_finding(row):
    whole = np.ones((9, 3), np.float32)
    (found,) = gpukit.check(changed_row_kernel)[1, 1](whole[3:5], row).errors
    assert (found.kind, found.index) == ("out-of-bounds", (row,))
    assert (whole == 1).all()


@cuda.jit(device=True)
def shift(values, k):
    k = k + 1
    cuda.syncwarp()
    values[k] = 0


@cuda.jit
def shift_kernel(a):
    shift(a[1:], cuda.grid(1))


def test_finding_in_an_inlined_function_uses_the_names_of_that_function():
    (found,) = gpukit.check(shift_kernel)[1, 32](np.zeros(32, np.float32)).errors
    assert (found.array, found.index) == ("values", (31,))
    assert "`if k < values.shape[0]:`" in found.fix
