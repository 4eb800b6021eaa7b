"""Names that look like something else: what they stand for decides, never how they are spelled."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda

R, I32 = range, np.int32
LANES = 32


@cuda.jit(device=True)
def take_len(counter):
    return cuda.atomic.add(counter, 0, 1)


@cuda.jit(device=True)
def place_int(n):
    return cuda.threadIdx.x + n


@cuda.jit(device=True)
def float(x, max):
    return x * max + 1


@cuda.jit
def tickets(counter, out):
    i = cuda.threadIdx.x
    tile = cuda.shared.array(LANES, np.int32)
    ticket = take_len(counter)
    tile[i] = ticket
    cuda.syncthreads()
    out[i] = ticket


def test_a_device_function_whose_name_ends_in_that_of_a_builtin_is_called_once():
    counter, out = np.zeros(1, np.int32), np.full(LANES, -1, np.int32)
    tickets[1, LANES](counter, out)
    assert counter[0] == LANES
    assert sorted(out) == list(range(LANES))


def test_a_guard_may_call_a_device_function_whose_name_ends_in_that_of_a_type():
    @cuda.jit
    def kernel(out):
        if place_int(0) < 4:
            out[cuda.threadIdx.x] = 1

    out = np.zeros(LANES, np.int32)
    kernel[1, LANES](out)
    assert out.tolist() == [1] * 4 + [0] * (LANES - 4)


@cuda.jit
def done(x, out):
    i = cuda.threadIdx.x
    is_done = x[i] > 0
    if not is_done:
        out[i] = 1


@cuda.jit
def finished(x, out):
    i = cuda.threadIdx.x
    is_finished = x[i] > 0
    if not is_finished:
        out[i] = 1


def test_a_condition_on_a_variable_called_done_is_counted_as_a_branch():
    x = np.array([1, -1] * LANES, np.float32)
    counts = [gpukit.profile(k)[1, 64](x, np.zeros(64, np.float32)).total for k in (done, finished)]
    assert counts[0]["branches"] == counts[1]["branches"] == 2
    assert counts[0].as_dict() == counts[1].as_dict()


def test_builtins_and_types_are_known_under_any_name():
    @cuda.jit
    def plain(a, out, n):
        i = cuda.grid(1)
        place = np.int32(i)
        for k in range(4):
            if place + k < n:
                out[place] += a[place + k]

    @cuda.jit
    def aliased(a, out, n):
        i = cuda.grid(1)
        place = I32(i)
        for k in R(4):
            if place + k < n:
                out[place] += a[place + k]

    given = np.zeros(8, np.float32), np.zeros(8, np.float32), 8
    texts = [str(gpukit.explain(k, *given, block=32)) for k in (plain, aliased)]
    assert texts[1].replace("aliased", "plain").replace("I32", "np_int32") == texts[0]


def test_a_device_function_and_its_parameters_may_have_the_names_of_builtins():
    @cuda.jit
    def kernel(x, out):
        range = cuda.grid(1)
        if range < out.size:
            out[range] = float(x[range], max=3)

    x, out = np.arange(8, dtype=np.int64), np.full(8, -1, np.int64)
    kernel[1, LANES](x, out)
    np.testing.assert_array_equal(out, 3 * x + 1)


@cuda.jit
def like_flags(x, out):
    returned = cuda.threadIdx.x
    in_range = x[returned] > 0
    left_1 = 0
    for skip_2 in range(returned):
        if skip_2 > 5:
            break
        left_1 += skip_2
        cuda.syncwarp()
    if not in_range:
        return
    cuda.syncwarp()
    out[returned] = left_1


def test_variables_called_as_flags_of_ours_keep_their_values():
    x = np.array([1, -1] * (LANES // 2), np.float32)
    out = np.full(LANES, -1, np.int64)
    like_flags[1, LANES](x, out)
    wanted = [sum(range(min(i, 6))) if x[i] > 0 else -1 for i in range(LANES)]
    assert out.tolist() == wanted


@pytest.mark.slow
def test_a_recording_shows_variables_called_as_flags_and_masks_of_ours():
    x, out = np.ones(LANES, np.float32), np.zeros(LANES, np.int64)
    told = gpukit.play(like_flags)[1, LANES](x, out).recording
    assert {"returned", "in_range", "left_1"} <= set(told["variables"])
    line = like_flags.py_func.__code__.co_firstlineno + 3
    assert [s["kind"] for s in told["steps"] if s["line"] == line] == ["run"]


def test_an_array_whose_name_the_compiler_needs_has_its_findings():
    @cuda.jit
    def kernel(thread):
        thread[cuda.threadIdx.x + 1] = 1

    report = gpukit.check(kernel)[1, LANES](np.zeros(LANES, np.int32))
    assert [(f.kind, f.array) for f in report.errors] == [("out-of-bounds", "thread")]


def test_a_variable_without_a_value_is_named_as_the_person_named_it():
    @cuda.jit
    def kernel(x, out):
        range = cuda.threadIdx.x
        if x[range] > 0:
            max = x[range]
        out[range] = max

    report = gpukit.check(kernel)[1, LANES](np.zeros(LANES, np.int32), np.zeros(LANES, np.int32))
    (found,) = [f for f in report.findings if f.kind == "uninitialised-local"]
    assert found.array == "max"


def test_a_field_called_size_is_read_from_memory_where_it_stands():
    kind = np.dtype([("size", np.int32)])

    @cuda.jit
    def kernel(records, out):
        i = cuda.threadIdx.x
        first = records[0]
        place = i + first.size
        cuda.syncthreads()
        if i == 0:
            records[0]["size"] = 100
        cuda.syncthreads()
        out[i] = place

    out = np.full(LANES, -1, np.int32)
    kernel[1, LANES](np.zeros(1, kind), out)
    assert out.tolist() == list(range(LANES))


@pytest.mark.parametrize(
    "name", ["left_1", "temp_1", "array_1", "returned", "_at", "rt_storage_get"]
)
@pytest.mark.costly
def test_a_captured_array_may_have_the_name_of_a_variable_of_ours(name):
    scope = {"cuda": cuda, "np": np, name: np.arange(LANES, dtype=np.int32)}
    text = f"""
def kernel(out):
    i = cuda.threadIdx.x
    if i > 20:
        return
    v = cuda.shfl_sync(0x1fffff, {name}[i], 3) + {name}[i]
    out[i] = v
"""
    from tests.compiler.strategies import register

    exec(compile(text, register(text), "exec"), scope)
    out = np.full(LANES, -1, np.int32)
    cuda.jit(scope["kernel"])[1, LANES](out)
    assert out.tolist() == [i + 3 if i <= 20 else -1 for i in range(LANES)]
