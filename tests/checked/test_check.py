"""gpukit.check on arrays of every kind: arguments it accepts and results of the launch."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.checked.report import Report
from tests.checked.reports import kinds, line_of

BLOCK = 32
SIZES = (1, 31, 32, 33, 131, 1000)
TABLE = np.array([3.0, 5.0, 7.0], np.float32)
PAIR = np.dtype([("left", np.float32), ("right", np.int32)])


def blocks(n):
    return launch.ceil_div(n, BLOCK)


@cuda.jit
def double_kernel(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] + x[i]


@cuda.jit
def reverse_kernel(x):
    tile = cuda.shared.array(BLOCK, dtype=np.float32)
    i, tx = cuda.grid(1), cuda.threadIdx.x
    if i < x.shape[0]:
        tile[tx] = x[i]
    cuda.syncthreads()
    here = min(cuda.blockDim.x, x.shape[0] - cuda.blockIdx.x * cuda.blockDim.x)
    if i < x.shape[0]:
        x[i] = tile[here - 1 - tx]


@cuda.jit
def shift_kernel(x, out):
    i = cuda.grid(1)
    if i + 1 < x.shape[0]:
        out[i] = x[i + 1]


@pytest.mark.parametrize("n", SIZES)
def test_checked_launch_gives_the_results_of_a_plain_launch(n):
    checked, plain = np.arange(n, dtype=np.float32), np.arange(n, dtype=np.float32)
    gpukit.check(reverse_kernel)[blocks(n), BLOCK](checked)
    reverse_kernel[blocks(n), BLOCK](plain)
    wanted = np.arange(n, dtype=np.float32)
    for start in range(0, n, BLOCK):
        wanted[start : start + BLOCK] = wanted[start : start + BLOCK][::-1].copy()
    np.testing.assert_array_equal(plain, wanted)
    np.testing.assert_array_equal(checked, plain)


@pytest.mark.parametrize("n", SIZES)
def test_correct_kernel_has_no_findings(n):
    report = gpukit.check(reverse_kernel)[blocks(n), BLOCK](np.ones(n, np.float32))
    assert isinstance(report, Report)
    assert report.findings == []
    assert report.ok


def test_report_states_what_was_run():
    x = np.ones(70, np.float32)
    report = gpukit.check(double_kernel)[3, BLOCK](x, np.zeros_like(x))
    assert (report.kernel, report.grid, report.block) == ("double_kernel", (3, 1, 1), (32, 1, 1))
    assert (report.launches, report.blocks_run, report.target) == (1, 3, "checked")
    assert report.seconds > 0


# --- Arrays of every kind --------------------------------------------------------------------


def test_device_array_is_modified_in_place():
    x = cuda.to_device(np.arange(70, dtype=np.float32))
    out = cuda.to_device(np.zeros(70, np.float32))
    assert gpukit.check(double_kernel)[3, BLOCK](x, out).findings == []
    np.testing.assert_array_equal(out.copy_to_host(), 2 * np.arange(70))


def test_strided_view_is_modified_without_touching_the_gaps():
    whole = np.full(211, -1, np.float32)
    x = np.arange(70, dtype=np.float32)
    assert gpukit.check(double_kernel)[3, BLOCK](x, whole[1::3]).findings == []
    np.testing.assert_array_equal(whole[1::3], 2 * x)
    assert (whole[0::3] == -1).all()
    assert (whole[2::3] == -1).all()


def test_reversed_view_is_modified_from_its_own_start():
    whole = np.zeros(70, np.float32)
    x = np.arange(70, dtype=np.float32)
    assert gpukit.check(double_kernel)[3, BLOCK](x, whole[::-1]).findings == []
    np.testing.assert_array_equal(whole, 2 * x[::-1])


def test_finding_in_a_view_gives_the_index_in_the_view():
    whole = np.zeros(140, np.float32)
    report = gpukit.check(collide_kernel)[1, BLOCK](whole[::2])
    (found,) = report.errors
    assert (found.kind, found.array, found.index) == ("global-race", "out", (5,))


def test_finding_in_a_reversed_view_gives_the_index_in_the_view():
    report = gpukit.check(collide_kernel)[1, BLOCK](np.zeros(70, np.float32)[::-1])
    (found,) = report.errors
    assert (found.kind, found.array, found.index) == ("global-race", "out", (5,))


@cuda.jit
def collide_kernel(out):
    out[5] = cuda.threadIdx.x


def test_finding_in_a_transposed_array_gives_the_index_used_in_the_kernel():
    report = gpukit.check(collide_2d_kernel)[1, BLOCK](np.zeros((7, 5), np.float32).T)
    (found,) = report.errors
    assert (found.kind, found.index) == ("global-race", (2, 6))


@cuda.jit
def collide_2d_kernel(out):
    out[2, 6] = cuda.threadIdx.x


def test_read_only_array_can_be_read():
    x = np.broadcast_to(np.float32(4), (70,))
    out = np.zeros(70, np.float32)
    assert gpukit.check(double_kernel)[3, BLOCK](x, out).findings == []
    assert (out == 8).all()


def test_array_passed_twice_may_be_modified_elementwise():
    x = np.arange(70, dtype=np.float32)
    assert gpukit.check(double_kernel)[3, BLOCK](x, x).findings == []
    np.testing.assert_array_equal(x, 2 * np.arange(70))


def test_array_passed_twice_races_when_a_thread_reads_what_its_neighbour_writes():
    x = np.arange(70, dtype=np.float32)
    report = gpukit.check(shift_kernel)[3, BLOCK](x, x)
    assert {f.kind for f in report.findings} & {"global-race", "warp-race"}
    assert {f.line for f in report.findings} == {line_of(shift_kernel, "x[i + 1]\n")}


def test_two_arrays_do_not_race_with_each_other():
    x = np.arange(70, dtype=np.float32)
    out = np.zeros(69, np.float32)
    assert gpukit.check(shift_kernel)[3, BLOCK](x, out).findings == []
    np.testing.assert_array_equal(out, np.arange(1, 70))


def test_overlapping_views_race_on_common_elements():
    whole = np.arange(71, dtype=np.float32)
    report = gpukit.check(double_kernel)[3, BLOCK](whole[1:], whole[:-1])
    assert {f.kind for f in report.findings} & {"global-race", "warp-race"}


@cuda.jit
def tuple_kernel(pair, outs):
    i = cuda.grid(1)
    if i < outs[0].shape[0]:
        outs[0][i] = pair[0][i] + pair[1][i]
        outs[1][i] = pair[0][i] - pair[1][i]


def test_arrays_in_a_tuple_are_read_and_modified():
    x, y = np.arange(70, dtype=np.float32), np.ones(70, np.float32)
    outs = (np.zeros(70, np.float32), cuda.to_device(np.zeros(70, np.float32)))
    assert gpukit.check(tuple_kernel)[3, BLOCK]((x, y), outs).findings == []
    np.testing.assert_array_equal(outs[0], x + 1)
    np.testing.assert_array_equal(outs[1].copy_to_host(), x - 1)


@cuda.jit
def tuple_race_kernel(outs):
    outs[1][3] = cuda.threadIdx.x


def test_a_finding_names_the_array_of_a_tuple():
    outs = (np.zeros(7, np.float32), np.zeros(7, np.float32))
    (found,) = gpukit.check(tuple_race_kernel)[1, BLOCK](outs).errors
    assert (found.array, found.index) == ("outs[1]", (3,))


@cuda.jit
def fields_kernel(records):
    i = cuda.grid(1) // 2
    if i < records.shape[0]:
        if cuda.threadIdx.x % 2 == 0:
            records[i].left = i
        else:
            records[i].right = 10 * i


@cuda.jit
def one_field_kernel(records):
    i = cuda.grid(1) // 2
    if i < records.shape[0]:
        records[i].left = cuda.threadIdx.x


def test_threads_that_write_different_fields_of_a_record_do_not_race():
    records = np.zeros(37, PAIR)
    assert gpukit.check(fields_kernel)[3, BLOCK](records).findings == []
    np.testing.assert_array_equal(records["left"], np.arange(37))
    np.testing.assert_array_equal(records["right"], 10 * np.arange(37))


def test_threads_that_write_one_field_of_a_record_race():
    report = gpukit.check(one_field_kernel)[3, BLOCK](np.zeros(37, PAIR))
    assert kinds(report) == ["global-race"]
    assert report.findings[0].index == (0,)


@cuda.jit
def left_kernel(records):
    i = cuda.grid(1)
    if i < records.shape[0]:
        records[i].left = i


def test_a_kernel_may_write_one_field_and_leave_the_others():
    records = np.ones(37, PAIR)
    assert gpukit.check(left_kernel)[2, BLOCK](records).findings == []
    np.testing.assert_array_equal(records["left"], np.arange(37))
    assert (records["right"] == 1).all()


@cuda.jit
def captured_kernel(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = TABLE[i % 3]


@cuda.jit
def captured_outside_kernel(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = TABLE[i]


def test_a_captured_array_is_read():
    out = np.zeros(70, np.float32)
    assert gpukit.check(captured_kernel)[3, BLOCK](out).findings == []
    np.testing.assert_array_equal(out, np.resize(TABLE, 70))


def test_access_past_the_end_of_a_captured_array_is_found():
    (found,) = gpukit.check(captured_outside_kernel)[1, BLOCK](np.zeros(9, np.float32)).errors
    assert (found.kind, found.array, found.index) == ("out-of-bounds", "TABLE", (3,))


@cuda.jit(device=True)
def from_table(i):
    return TABLE[i]


@cuda.jit
def captured_by_a_function_kernel(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = from_table(i)


@pytest.mark.parametrize("command", [gpukit.check, gpukit.profile, gpukit.play])
def test_a_device_function_may_read_a_captured_array(command):
    out = np.full(3, np.nan, np.float32)
    command(captured_by_a_function_kernel)[1, BLOCK](out)
    np.testing.assert_array_equal(out, TABLE)


def test_access_past_the_end_of_an_array_captured_by_a_device_function_is_found():
    (found,) = gpukit.check(captured_by_a_function_kernel)[1, BLOCK](np.zeros(4, np.float32)).errors
    assert (found.kind, found.array, found.index) == ("out-of-bounds", "TABLE", (3,))
    assert found.source.strip() == "return TABLE[i]"


def test_wrapped_arguments_are_copied_out_as_in_a_plain_launch():
    x, out = np.arange(70, dtype=np.float32), np.zeros(70, np.float32)
    assert gpukit.check(double_kernel)[3, BLOCK](cuda.In(x), cuda.Out(out)).findings == []
    np.testing.assert_array_equal(out, 2 * x)


def test_an_empty_array_is_no_finding():
    empty = np.zeros(0, np.float32)
    assert gpukit.check(double_kernel)[1, BLOCK](empty, empty.copy()).errors == []


PARTICLE = np.dtype([("place", np.float32, (3,)), ("mass", np.float32)])


@cuda.jit
def referenced_kernel(particles, out):
    x = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, PARTICLE)
    own = tile[x]
    for k in range(3):
        own.place[k] = particles[x].place[k]
    own.mass = particles[x].mass
    cuda.syncthreads()
    other = tile[BLOCK - 1 - x]
    out[x] = other.mass + other.place[2]


def test_assigning_a_record_to_a_variable_reads_nothing():
    particles, out = np.ones(BLOCK, PARTICLE), np.full(BLOCK, np.nan, np.float32)
    assert gpukit.check(referenced_kernel)[1, BLOCK](particles, out).findings == []
    assert (out == 2).all()


@cuda.jit
def reference_race_kernel(records, out):
    i = cuda.grid(1)
    own = records[i]
    own.left = i
    other = records[(i + BLOCK // 2) % BLOCK]
    out[i] = other.left


@cuda.jit
def unset_field_kernel(out):
    x = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, PARTICLE)
    own = tile[x]
    own.mass = 1
    out[x] = own.mass + own.place[1]


def test_fields_accessed_through_a_record_variable_are_checked():
    report = gpukit.check(reference_race_kernel)[1, BLOCK](np.zeros(BLOCK, PAIR), np.zeros(BLOCK))
    assert (kinds(report), report.findings[0].array) == (["warp-race"], "records")
    report = gpukit.check(unset_field_kernel)[1, BLOCK](np.zeros(BLOCK, np.float32))
    assert [f.kind for f in report.errors] == ["uninitialised-shared"]


@cuda.jit
def followed_kernel(records, out):
    own = records[0]
    other = records[own.right]
    own.right = 0
    out[0] = other.left


def test_record_variable_keeps_its_record_when_the_index_field_changes():
    records, out = np.array([(5, 1), (7, 0)], PAIR), np.full(1, np.nan, np.float32)
    gpukit.check(followed_kernel)[1, 1](records, out)
    assert out[0] == 7


def test_the_option_boundscheck_does_not_hide_an_access_outside():
    @cuda.jit(boundscheck=False)
    def outside_kernel(x):
        x[cuda.grid(1) + 1] = 1

    report = gpukit.check(outside_kernel)[1, BLOCK](np.zeros(BLOCK, np.float32))
    assert "out-of-bounds" in kinds(report)
