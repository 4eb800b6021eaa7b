"""Device functions under the checker, which instruments them however they were defined."""

import linecache
import types

import numba
import numpy as np
import pytest

import gpukit
from gpukit import cuda

N = 64
SHAPE = (2, 32)
ADD = "void(float64[:], float64, int64)"


def add(out, value, i):
    out[i] += value


def made_by_exec():
    text = "def add(out, value, i):\n    out[i] += value\n"
    linecache.cache["<made>"] = (len(text), None, text.splitlines(True), "<made>")
    space = {}
    exec(compile(text, "<made>", "exec"), space)
    return cuda.jit(device=True)(space["add"])


def made_in_a_function():
    one = 1.0

    @cuda.jit(device=True)
    def closure(out, value, i):
        out[i] += value * one

    return closure


def through_another():
    inner = cuda.jit(ADD, device=True)(add)

    @cuda.jit(device=True)
    def outer(out, value, i):
        inner(out, value, i)

    return outer


def with_a_signature_through_another():
    inner = cuda.jit(ADD, device=True)(add)

    @cuda.jit(ADD, device=True)
    def outer(out, value, i):
        inner(out, value, i)

    return outer


WAYS = {
    "plain": cuda.jit(device=True)(add),
    "signature": cuda.jit(ADD, device=True)(add),
    "signature without a result": cuda.jit("(float64[:], float64, int64)", device=True)(add),
    "signature that casts": cuda.jit("void(float64[::1], float32, int32)", device=True)(add),
    "signature of types": cuda.jit((numba.float64[:], numba.float64, numba.int64), device=True)(
        add
    ),
    "signatures": cuda.jit([ADD, "void(float32[:], float32, int64)"], device=True)(add),
    "inline": cuda.jit(device=True, inline="always")(add),
    "forceinline": cuda.jit(device=True, forceinline=True)(add),
    "lineinfo": cuda.jit(device=True, lineinfo=True)(add),
    "fastmath": cuda.jit(device=True, fastmath=True)(add),
    "njit": numba.njit(add),
    "njit with a signature": numba.njit(ADD)(add),
    "exec": made_by_exec(),
    "closure": made_in_a_function(),
    "through another": through_another(),
    "signatures through another": with_a_signature_through_another(),
}
MODULE = types.SimpleNamespace(add=WAYS["signature"])


def kernel_with(device):
    @cuda.jit
    def kernel(x, out, places):
        i = cuda.grid(1)
        device(out, x[i], places[i])

    return kernel


def kernel_that_hands_on(device):
    @cuda.jit(device=True)
    def apply(f, out, value, i):
        f(out, value, i)

    @cuda.jit
    def kernel(x, out, places):
        i = cuda.grid(1)
        apply(device, out, x[i], places[i])

    return kernel


def kernel_of_a_module():
    @cuda.jit
    def kernel(x, out, places):
        i = cuda.grid(1)
        MODULE.add(out, x[i], places[i])

    return kernel


KERNELS = {
    **{way: kernel_with(device) for way, device in WAYS.items()},
    "argument": kernel_that_hands_on(WAYS["plain"]),
    "argument with a signature": kernel_that_hands_on(WAYS["signature"]),
    "module": kernel_of_a_module(),
}
ALL = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def checked(kernel, out=None, places=None):
    out = np.zeros(N) if out is None else out
    places = np.arange(N) if places is None else places
    report = gpukit.check(kernel)[SHAPE](np.arange(float(N)), out, places)
    assert report.notes == []  # every function was instrumented
    return [(f.kind, f.index) for f in report.findings]


@ALL
@pytest.mark.costly
def test_correct_device_function_has_no_findings(kernel):
    out = np.zeros(N)
    assert checked(kernel, out) == []
    assert out.tolist() == list(range(N))


@ALL
def test_a_race_in_a_device_function_is_found(kernel):
    places = np.arange(N)
    places[40] = 3
    assert checked(kernel, places=places) == [("global-race", (3,))]


@ALL
def test_out_of_bounds_access_in_a_device_function_is_found(kernel):
    places = np.arange(N)
    places[5] = N
    assert {kind for kind, _ in checked(kernel, places=places)} == {"out-of-bounds"}


@ALL
def test_uninitialised_read_in_a_device_function_is_found(kernel):
    kinds = [kind for kind, _ in checked(kernel, cuda.device_array(N, np.float64))]
    assert kinds == ["uninitialised-global"]


def counts(kernel):
    profile = gpukit.profile(kernel)[SHAPE](np.arange(float(N)), np.zeros(N), np.arange(N))
    names = ("global_load_requests", "global_store_requests", "global_bytes_asked")
    return [sum(a.counts[n] for a in profile.accesses) for n in names]


@ALL
@pytest.mark.costly
def test_counters_do_not_depend_on_how_the_device_function_is_compiled(kernel):
    assert counts(kernel) == counts(KERNELS["plain"]) == [6, 2, 4 * 8 * N]


@cuda.jit([("float32(float32, int32)"), ("float64(float64, int32)")], device=True)
def thirds(x, n):
    return x / 3 + n


@cuda.jit("int32(float64)", device=True)
def whole(x):
    return x


@cuda.jit
def casting_kernel(x, out):
    i = cuda.grid(1)
    out[i, 0] = thirds(np.float32(x[i]), 2.75)
    out[i, 1] = thirds(x[i], 2.75)
    out[i, 2] = whole(x[i] + np.float32(0.5))


def test_signatures_cast_arguments_as_in_a_plain_launch():
    plain, watched = np.zeros((4, 3)), np.zeros((4, 3))
    x = np.arange(4.0) + 0.3
    casting_kernel[1, 4](x, plain)
    assert gpukit.check(casting_kernel)[1, 4](x, watched).findings == []
    np.testing.assert_array_equal(plain, watched)
    assert plain[0].tolist() == [np.float32(0.3) / 3 + 2, 0.3 / 3 + 2, 0]


@cuda.jit("int64(float64[:], int64)", device=True)
def fill_down(out, i):
    out[i] = 1
    if i >= 2:
        return fill_down(out, i - 2)
    return i


@cuda.jit
def recursive_kernel(out):
    if cuda.grid(1) < 2:
        fill_down(out, out.size - 1 - cuda.grid(1))


def test_function_that_cannot_be_instrumented_is_named_in_a_note_without_false_findings():
    report = gpukit.check(recursive_kernel)[SHAPE](cuda.device_array(N, np.float64))
    assert report.findings == []
    assert [n for n in report.notes if "fill_down" in n and "were not checked" in n] == report.notes
    assert len(report.notes) == 1
