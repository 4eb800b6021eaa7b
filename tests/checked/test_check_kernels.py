"""gpukit.check: accepted kernels, block shapes, device functions, failed launches."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors, launch
from tests.checked.reports import line_of

N = 70
BLOCK = 32


def numbers(n=N):
    return np.arange(n, dtype=np.float32)


# --- Shapes of launches ----------------------------------------------------------------------


@cuda.jit
def places_2d_kernel(out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = 100 * row + col


@cuda.jit
def places_3d_kernel(out):
    x, y, z = cuda.grid(3)
    if x < out.shape[2] and y < out.shape[1] and z < out.shape[0]:
        out[z, y, x] = 100 * z + 10 * y + x


@cuda.jit
def race_3d_kernel(out):
    x, y, z = cuda.grid(3)
    out[z, y] = x


def test_two_dimensional_block_covers_rows_and_columns():
    out = np.zeros((13, 19), np.int32)
    assert gpukit.check(places_2d_kernel)[(3, 4), (8, 4)](out).findings == []
    np.testing.assert_array_equal(out, 100 * np.arange(13)[:, None] + np.arange(19))


def test_three_dimensional_block_covers_all_axes():
    out = np.zeros((3, 5, 7), np.int32)
    assert gpukit.check(places_3d_kernel)[(2, 2, 2), (4, 3, 2)](out).findings == []
    z, y, x = np.indices(out.shape)
    np.testing.assert_array_equal(out, 100 * z + 10 * y + x)


def test_finding_gives_three_dimensional_thread_indices():
    report = gpukit.check(race_3d_kernel)[1, (3, 2, 2)](np.zeros((2, 2), np.int32))
    (found,) = report.errors
    assert found.kind == "global-race"
    assert found.threads == ((1, 0, 0), (0, 0, 0))
    assert found.count == 8  # two of three threads in each of four rows


# --- Shared memory ---------------------------------------------------------------------------


@cuda.jit
def two_views_kernel(out):
    whole = cuda.shared.array(0, dtype=np.float32)
    tx = cuda.threadIdx.x
    first, second = whole[:BLOCK], whole[BLOCK:]
    first[tx] = tx
    second[tx] = 10 * tx
    cuda.syncthreads()
    other = (tx + 1) % BLOCK
    out[tx] = first[other] + second[other]


@cuda.jit
def two_types_kernel(out):
    whole = cuda.shared.array(0, dtype=np.float32)
    counts = cuda.shared.array(0, dtype=np.int32)
    tx = cuda.threadIdx.x
    whole[tx] = tx
    out[tx] = counts[(tx + 1) % BLOCK]


def test_two_views_of_dynamic_shared_memory_do_not_race_with_each_other():
    out = np.zeros(BLOCK, np.float32)
    report = gpukit.check(two_views_kernel)[1, BLOCK, 0, 8 * BLOCK](out)
    assert report.findings == []
    np.testing.assert_array_equal(out, 11 * ((np.arange(BLOCK) + 1) % BLOCK))


def test_dynamic_shared_memory_is_bounded_by_the_launch_configuration():
    report = gpukit.check(two_views_kernel)[1, BLOCK, 0, 4 * BLOCK + 40](np.zeros(BLOCK))
    assert [(f.kind, f.line) for f in report.errors if "10 * tx" in f.source] == [
        ("out-of-bounds", line_of(two_views_kernel, "10 * tx"))
    ]


def test_two_arrays_of_dynamic_shared_memory_alias_each_other():
    report = gpukit.check(two_types_kernel)[1, BLOCK, 0, 4 * BLOCK](np.zeros(BLOCK, np.int32))
    assert {f.kind for f in report.findings} & {"shared-race", "warp-race"}


# --- Device functions ------------------------------------------------------------------------


@cuda.jit(device=True)
def store_first(out, value):
    out[0] = value


@cuda.jit(device=True)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@cuda.jit(device=True)
def tail_sum(x, k):
    if k == 0:
        return x[k]
    return x[k] + tail_sum(x, k - 1)


@cuda.jit
def calls_kernel(out):
    store_first(out, cuda.grid(1))


@cuda.jit
def fibonacci_kernel(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = fibonacci(i)


@cuda.jit
def tail_sum_kernel(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = tail_sum(x, i)


def test_finding_in_a_device_function_gives_its_line_in_that_function():
    report = gpukit.check(calls_kernel)[1, BLOCK](np.zeros(3, np.int32))
    (found,) = report.errors
    assert found.kind == "global-race"
    assert found.line == line_of(store_first, "out[0] = value")
    assert found.source == "out[0] = value"


def test_recursive_device_function_gives_the_right_result():
    out = np.zeros(11, np.int64)
    assert gpukit.check(fibonacci_kernel)[1, BLOCK](out).findings == []
    assert out.tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55]


def test_a_recursive_device_function_may_read_an_array():
    x, out = numbers(9), np.zeros(9, np.float32)
    assert gpukit.check(tail_sum_kernel)[1, BLOCK](x, out).errors == []
    np.testing.assert_array_equal(out, np.cumsum(x))


# --- What counts as a kernel -----------------------------------------------------------------


def plain_kernel(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = -x[i]


class Dispatcher:
    """The attributes of a numba.cuda kernel that gpukit.check uses."""

    def __init__(self, function):
        self.py_func = function
        self.targetoptions = {"device": False, "fastmath": False, "opt": True, "link": ()}


KERNELS = {
    "kernel": cuda.jit(plain_kernel),
    "kernel with a signature": cuda.jit("void(float32[:], float32[:])")(plain_kernel),
    "function": plain_kernel,
    "kernel of another target": Dispatcher(plain_kernel),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_kernels_of_all_targets_and_plain_functions_are_accepted(kernel):
    x, out = numbers(), np.zeros(N, np.float32)
    report = gpukit.check(kernel)[launch.ceil_div(N, BLOCK), BLOCK](x, out)
    assert (report.kernel, report.findings) == ("plain_kernel", [])
    np.testing.assert_array_equal(out, -x)


twice = cuda.jit(device=True)(lambda value: value + value)


@cuda.jit
def twice_kernel(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = twice(x[i])


def test_a_lambda_may_be_a_device_function():
    x, out = numbers(), np.zeros(N, np.float32)
    assert gpukit.check(twice_kernel)[3, BLOCK](x, out).findings == []
    np.testing.assert_array_equal(out, 2 * x)


def test_lambda_that_returns_a_value_is_rejected_as_a_kernel():
    with pytest.raises(errors.Invalid, match="cannot return a value") as raised:
        gpukit.check(lambda out: out[0])[1, 1](numbers())
    assert raised.value.kernel == "<lambda>"


# --- Invalid launches ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [((1, 2048), "2048"), (((1, 70000), 32), "70000"), ((1, (1, 1, 65)), "65"), ((1, 0), "0")],
)
def test_invalid_launch_configuration_is_a_finding_and_runs_nothing(sizes, reason):
    out = np.zeros(N, np.float32)
    report = gpukit.check(plain_kernel)[sizes](numbers(), out)
    (found,) = report.findings
    assert (found.kind, found.severity) == ("launch-refused", "error")
    assert found.line == line_of(plain_kernel, "def plain_kernel")
    assert reason in found.message
    assert (report.blocks_run, report.exit_code) == (0, 1)
    assert not out.any()


def test_too_much_dynamic_shared_memory_is_a_finding():
    report = gpukit.check(two_views_kernel)[1, BLOCK, 0, 1 << 20](np.zeros(BLOCK, np.float32))
    assert [f.kind for f in report.findings] == ["launch-refused"]
    assert report.blocks_run == 0


@pytest.mark.parametrize("count", [0, 1, 3])
def test_wrong_number_of_arguments_is_rejected_naming_the_kernel(count):
    with pytest.raises(errors.ArgumentError, match="plain_kernel takes 2 arguments"):
        gpukit.check(plain_kernel)[3, BLOCK](*[numbers()] * count)


def test_argument_of_an_unsupported_type_is_rejected():
    with pytest.raises(errors.ArgumentError, match="plain_kernel"):
        gpukit.check(plain_kernel)[3, BLOCK](object(), numbers())


@cuda.jit
def unknown_name_kernel(out):
    out[0] = not_defined_anywhere  # noqa: F821


@cuda.jit
def yields_kernel(out):
    yield out[0]


@cuda.jit
def wrong_types_kernel(out):
    out[0] = out + "text"


@pytest.mark.parametrize("kernel", [unknown_name_kernel, yields_kernel, wrong_types_kernel])
def test_compilation_error_is_that_of_a_plain_launch(kernel):
    with pytest.raises(errors.CompileError) as plain:
        kernel[1, 1](numbers())
    with pytest.raises(type(plain.value)) as checked:
        gpukit.check(kernel)[1, 1](numbers())
    assert str(checked.value) == str(plain.value)
