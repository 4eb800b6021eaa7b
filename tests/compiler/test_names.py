"""Names are resolved by the object that they refer to, never by their spelling."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from tests.compiler.strategies import register

R, I32 = range, np.int32
LANES = 32


@cuda.jit(device=True)
def next_len(counter):
    return cuda.atomic.add(counter, 0, 1)


@cuda.jit(device=True)
def index_int(n):
    return cuda.threadIdx.x + n


@cuda.jit(device=True)
def float(x, max):
    return x * max + 1


@cuda.jit
def tickets(counter, out):
    i = cuda.threadIdx.x
    tile = cuda.shared.array(LANES, np.int32)
    ticket = next_len(counter)
    tile[i] = ticket
    cuda.syncthreads()
    out[i] = ticket


def test_a_device_function_whose_name_ends_like_a_builtin_is_called_once():
    counter, out = np.zeros(1, np.int32), np.full(LANES, -1, np.int32)
    tickets[1, LANES](counter, out)
    assert counter[0] == LANES
    assert sorted(out) == list(range(LANES))


def test_a_guard_may_call_a_device_function_whose_name_ends_like_a_type():
    @cuda.jit
    def kernel(out):
        if index_int(0) < 4:
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


def test_builtins_and_types_are_recognised_under_any_alias():
    @cuda.jit
    def plain(a, out, n):
        i = cuda.grid(1)
        index = np.int32(i)
        for k in range(4):
            if index + k < n:
                out[index] += a[index + k]

    @cuda.jit
    def aliased(a, out, n):
        i = cuda.grid(1)
        index = I32(i)
        for k in R(4):
            if index + k < n:
                out[index] += a[index + k]

    arguments = np.zeros(8, np.float32), np.zeros(8, np.float32), 8
    texts = [str(gpukit.explain(k, *arguments, block=32)) for k in (plain, aliased)]
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
def named_like_flags(x, out):
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


def test_variables_named_like_the_compilers_flags_keep_their_values():
    x = np.array([1, -1] * (LANES // 2), np.float32)
    out = np.full(LANES, -1, np.int64)
    named_like_flags[1, LANES](x, out)
    wanted = [sum(range(min(i, 6))) if x[i] > 0 else -1 for i in range(LANES)]
    assert out.tolist() == wanted


@pytest.mark.slow
def test_a_recording_shows_variables_named_like_the_compilers_flags():
    x, out = np.ones(LANES, np.float32), np.zeros(LANES, np.int64)
    recorded = gpukit.play(named_like_flags)[1, LANES](x, out).recording
    assert {"returned", "in_range", "left_1"} <= set(recorded["variables"])
    line = named_like_flags.py_func.__code__.co_firstlineno + 3
    assert [s["kind"] for s in recorded["steps"] if s["line"] == line] == ["run"]


def test_an_array_named_like_a_variable_of_the_compiler_has_its_findings():
    @cuda.jit
    def kernel(thread):
        thread[cuda.threadIdx.x + 1] = 1

    report = gpukit.check(kernel)[1, LANES](np.zeros(LANES, np.int32))
    assert [(f.kind, f.array) for f in report.errors] == [("out-of-bounds", "thread")]


def test_an_unassigned_variable_named_like_a_builtin_is_reported_by_its_name():
    @cuda.jit
    def kernel(x, out):
        range = cuda.threadIdx.x
        if x[range] > 0:
            max = x[range]
        out[range] = max

    report = gpukit.check(kernel)[1, LANES](np.zeros(LANES, np.int32), np.zeros(LANES, np.int32))
    (found,) = [f for f in report.findings if f.kind == "uninitialised-local"]
    assert found.array == "max"


def test_a_field_named_size_is_read_at_the_statement_that_names_it():
    kind = np.dtype([("size", np.int32)])

    @cuda.jit
    def kernel(records, out):
        i = cuda.threadIdx.x
        first = records[0]
        index = i + first.size
        cuda.syncthreads()
        if i == 0:
            records[0]["size"] = 100
        cuda.syncthreads()
        out[i] = index

    out = np.full(LANES, -1, np.int32)
    kernel[1, LANES](np.zeros(1, kind), out)
    assert out.tolist() == list(range(LANES))


@pytest.mark.parametrize(
    "name", ["left_1", "temp_1", "array_1", "returned", "_at", "rt_storage_get"]
)
@pytest.mark.costly
def test_a_captured_array_may_be_named_like_a_variable_of_the_compiler(name):
    scope = {"cuda": cuda, "np": np, name: np.arange(LANES, dtype=np.int32)}
    text = f"""
def kernel(out):
    i = cuda.threadIdx.x
    if i > 20:
        return
    v = cuda.shfl_sync(0x1fffff, {name}[i], 3) + {name}[i]
    out[i] = v
"""
    exec(compile(text, register(text), "exec"), scope)
    out = np.full(LANES, -1, np.int32)
    cuda.jit(scope["kernel"])[1, LANES](out)
    assert out.tolist() == [i + 3 if i <= 20 else -1 for i in range(LANES)]
