"""float32 mathematics of the CPU target: CUDA's error bounds, special values, vectorization."""

import math
import operator
import re

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from benchmarks.float32_mathematics import FUNCTIONS, TWO, kernel, worst
from gpukit import cuda
from gpukit.compiler import native
from gpukit.compiler.runtime import float32, formulas, half_convert

pytestmark = pytest.mark.cpu
BLOCK = 64
NAN, INF, PI = math.nan, math.inf, math.pi
LEAST, MOST = 2.0**-149, 3.4028234663852886e38  # the smallest and the largest float32
KERNELS = {name: kernel(name) for name in FUNCTIONS}
ONE = sorted(set(FUNCTIONS) - set(TWO))


def run(called, *arrays, checked=False):
    """Return the results of a kernel of this file, at least as float32."""
    arrays = [np.asarray(a) for a in arrays]
    out = np.full_like(arrays[0], NAN, dtype=np.result_type(arrays[0], np.float32))
    launched = gpukit.check(called) if checked else called
    launched[-(-out.size // BLOCK), BLOCK](*arrays, out)
    return out


def single(*values):
    return np.array(values, np.float32)


def sample(count=50_001):
    """Return random bit patterns and numbers of ordinary magnitude."""
    draw = np.random.default_rng(20261126)
    bits = draw.integers(0, 1 << 32, count, dtype=np.uint32).view(np.float32)
    ordinary = 4 * draw.standard_normal(count, np.float32)
    return np.concatenate([bits, ordinary, draw.random(count, np.float32)])


def samples(name):
    """Return one array per argument of a function."""
    x = sample()
    return (x, np.random.default_rng(1).permutation(x)) if name in TWO else (x,)


def error_in_ulp(name, *arrays, found):
    """Return the largest error in units in the last place, before or after rounding."""
    with np.errstate(all="ignore"):
        right = FUNCTIONS[name][1](*(a.astype(np.float64) for a in arrays))
    error, _, steps, _ = worst(found, right)
    return max(error, steps)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.costly
def test_results_are_within_cudas_error_bounds(name):
    arrays = samples(name)
    found = run(KERNELS[name], *arrays)
    assert error_in_ulp(name, *arrays, found=found) <= FUNCTIONS[name][2]


# Not the functions that are device functions, which Numba has compiled already.
@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"exp10", "cbrt"}))
@pytest.mark.costly
def test_results_are_within_cudas_error_bounds_without_fma_instructions(name, monkeypatch):
    monkeypatch.setenv("GPUKIT_CACHE", "0")
    monkeypatch.setattr(half_convert, "in_hardware", lambda context, feature="": False)
    with native.listing() as code:
        found = run(kernel(name), *samples(name))
    assert "llvm.fma" not in code["llvm"]
    assert error_in_ulp(name, *samples(name), found=found) <= FUNCTIONS[name][2]


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_tanh_of_any_number_is_within_two_ulp(values):
    x = single(*values)
    right = np.tanh(x.astype(np.float64))
    ulp = np.spacing(np.abs(right).astype(np.float32))
    assert (np.abs(run(KERNELS["tanh"], x) - right) / ulp).max() <= 2


# Arguments, then the result. Values that are special in every type are in `special_functions`,
# except those of np.exp2 and cuda.rsqrt.
LIMITS = {
    "exp": [(89, INF), (-104, 0), (-103, LEAST)],
    "exp2": [
        (0, 1),
        (INF, INF),
        (-INF, 0),
        (NAN, NAN),
        (128, INF),
        (-149, LEAST),
        (-150, 0),
        (5, 32),
    ],
    "exp10": [(39, INF), (3, 1000), (-46, 0)],
    "expm1": [(LEAST, LEAST), (89, INF)],
    "log2": [(LEAST, -149), (8, 3)],
    "log10": [(1000, 3)],
    "log1p": [(-1.5, NAN), (-LEAST, -LEAST)],
    "sin": [(LEAST, LEAST), (-LEAST, -LEAST)],
    "cos": [(LEAST, 1)],
    "tan": [(-LEAST, -LEAST)],
    "asin": [(1.5, NAN)],
    "acos": [(-1.5, NAN)],
    "sinh": [(90, INF), (LEAST, LEAST)],
    "cosh": [(-90, INF)],
    "tanh": [(MOST, 1), (-LEAST, -LEAST)],
    "asinh": [(-LEAST, -LEAST)],
    "atanh": [(1.5, NAN)],
    "erf": [(5, 1), (-MOST, -1)],
    "erfc": [(11, 0), (MOST, 0)],
    "cbrt": [(27, 3), (-8, -2)],
    "rsqrt": [(0, INF), (-0.0, -INF), (INF, 0), (-1, NAN), (NAN, NAN), (4, 0.5)],
    "atan2": [(LEAST, MOST, 0)],
    "hypot": [(3, 4, 5), (MOST, MOST, INF), (LEAST, 0, LEAST), (3e-39, 4e-39, 5e-39)],
    "pow": [
        (-8, 1 / 3, NAN),
        (2, 128, INF),
        (2, -149, LEAST),
        (-2, 129, -INF),
        (-2, -151, -0.0),
        (-1, 16777215, -1),
        (-1, 16777216, 1),
        (10, 3, 1000),
    ],
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.costly
def test_results_at_the_limits_of_float32_are_exact(name):
    *arguments, want = (single(*column) for column in zip(*LIMITS[name], strict=True))
    found = run(KERNELS[name], *arguments)
    np.testing.assert_array_equal(found, want)
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(want[numbers]))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_range_reduction_is_accurate_next_to_multiples_of_half_pi(name):
    """Of large float32s, 16367173 * 2**72 is the nearest to a multiple of pi / 2."""
    x = single(16367173 * 2.0**72, -16367173 * 2.0**72, PI, PI / 2, 1e10, MOST, -MOST)
    found = run(KERNELS[name], x)
    assert error_in_ulp(name, x, found=found) <= 1


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.costly
def test_a_checked_launch_is_bit_identical_to_a_plain_one(name):
    arrays = [a[::37] for a in samples(name)]
    plain, checked = (run(KERNELS[name], *arrays, checked=c) for c in (False, True))
    np.testing.assert_array_equal(plain.view(np.uint32), checked.view(np.uint32))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.costly
def test_loops_over_threads_are_vectorized_and_call_no_function(name, monkeypatch):
    monkeypatch.setenv("GPUKIT_CACHE", "0")
    with native.listing() as code:
        run(kernel(name), *(single(1, 2, 3) for _ in range(2 if name in TWO else 1)))
    called = set(re.findall(r"call [^@\n]*@([\w.]+)\(", code["llvm"]))
    own = re.compile(r"llvm\.|Py|gpukit_")
    assert [c for c in called if not own.match(c)] == []
    assert re.search(r"fmul <\d+ x (float|double)>|fdiv <\d+ x float>", code["llvm"])


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.costly
def test_fastmath_keeps_the_error_bounds_for_finite_results(name):
    fast = cuda.jit(fastmath=True)(KERNELS[name].py_func)
    arrays = samples(name)
    with np.errstate(all="ignore"):
        right = FUNCTIONS[name][1](*(a.astype(np.float64) for a in arrays)).astype(np.float32)
    finite = np.isfinite(right) & np.all([np.isfinite(a) for a in arrays], axis=0)
    arrays = [a[finite] for a in arrays]
    found = run(fast, *arrays)
    assert error_in_ulp(name, *arrays, found=found) <= FUNCTIONS[name][2]


NUMPY = {"pow": "power"} | {n: f"arc{n[1:]}" for n in (*ONE, "atan2") if n[0] == "a"}


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"exp10", "erf", "erfc", "rsqrt", "cbrt"}))
@pytest.mark.costly
def test_numpys_functions_are_the_same_functions(name):
    function = getattr(np, NUMPY.get(name, name))

    @cuda.jit
    def one_kernel(x, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = function(x[i])

    @cuda.jit
    def two_kernel(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = function(x[i], y[i])

    arrays = [a[::53] for a in samples(name)]
    found = run(two_kernel if name in TWO else one_kernel, *arrays)
    np.testing.assert_array_equal(found, run(KERNELS[name], *arrays))


def test_all_spellings_of_a_power_are_the_same_function():
    @cuda.jit
    def spelled_kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i, 0] = x[i] ** y[i]
            out[i, 1] = pow(x[i], y[i])
            out[i, 2] = np.power(x[i], y[i])
            value = x[i]
            value **= y[i]
            out[i, 3] = value
            out[i, 4] = x[i]
            out[i, 4] **= y[i]
            out[i, 5] = operator.pow(x[i], y[i])

    x, y = (a[::53] for a in samples("pow"))
    out = np.full((x.size, 6), NAN, np.float32)
    spelled_kernel[-(-x.size // BLOCK), BLOCK](x, y, out)
    want = np.repeat(run(KERNELS["pow"], x, y)[:, None], 6, axis=1)
    np.testing.assert_array_equal(out, want)


def test_an_integer_power_is_a_product():
    @cuda.jit
    def cube_kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = x[i] ** 3

    x = np.random.default_rng(2).standard_normal(1001, np.float32)
    np.testing.assert_array_equal(run(cube_kernel, x), x * (x * x))


@pytest.mark.parametrize("name", ["expf", "sinf", "logf", "powf", "exp10f"])
@pytest.mark.costly
def test_fast_functions_of_libdevice_are_the_accurate_ones(name):
    exact, fast = getattr(cuda.libdevice, name), getattr(cuda.libdevice, f"fast_{name}")

    @cuda.jit
    def both_kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = exact(x[i]) - fast(x[i])

    @cuda.jit
    def powers_kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = exact(x[i], y[i]) - fast(x[i], y[i])

    x = np.linspace(0.1, 9, 333, dtype=np.float32)
    found = run(powers_kernel if name == "powf" else both_kernel, x, x[::-1].copy())
    np.testing.assert_array_equal(found, np.zeros_like(x))


@pytest.mark.parametrize("name", sorted(set(ONE) - {"exp10"}))
@pytest.mark.costly
def test_float64_functions_are_those_of_the_c_library(name):
    x = np.linspace(0.01, 0.99, 1001) + (name == "acosh")
    found, right = run(KERNELS[name], x), FUNCTIONS[name][1](x)
    np.testing.assert_allclose(found, right, rtol=1e-14)


def test_an_integer_argument_is_converted_to_float64():
    x, out = np.arange(-3, 4), np.full(7, NAN)
    KERNELS["tanh"][1, 7](x, out)
    np.testing.assert_allclose(out, np.tanh(x), rtol=1e-14)


def test_njit_functions_keep_numbas_own_mathematics():
    """This holds before, while and after a kernel uses the same function."""

    def power(x):
        return math.exp(x) * x ** np.float32(0.3)

    before, after = numba.njit(power), numba.njit(power)
    wanted = before(np.float32(1.7))

    @cuda.jit
    def power_kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = before(x[i])

    run(power_kernel, single(1, 2, 3))
    assert after(np.float32(1.7)) == wanted
    text = after.inspect_llvm((numba.float32,))
    assert "gpukit" not in text
    assert re.search(r"@(expf|llvm\.exp\.f32)\(", text)


@cuda.jit(device=True)
def power_of(value):
    return math.exp(value)


@cuda.jit
def text_kernel(x, out):
    out[0] = power_of("x")


@cuda.jit
def row_kernel(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = (x[i] ** out[i])[0]


@pytest.mark.parametrize(
    ("called", "line", "rule"),
    [
        (text_kernel, "return math.exp(value)", r"The operation exp does not exist for \(.*str"),
        (row_kernel, "out[i] = (x[i] ** out[i])[0]", "computes with a whole array"),
    ],
)
def test_errors_quote_the_line_as_written(called, line, rule):
    with pytest.raises(gpukit.errors.GpukitError, match=rule) as caught:
        called[1, 4](np.ones((4, 4), np.float32), np.ones(4, np.float32))
    assert line in str(caught.value)


def test_a_formula_is_traced_once():
    @cuda.jit
    def twice_kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = math.exp(x[i]) + math.exp(-x[i])

    np.testing.assert_allclose(run(twice_kernel, single(0, 1)), [2, 2 * np.cosh(1)], rtol=1e-6)
    assert formulas.trace(float32.exp, 1, True) is formulas.trace(float32.exp, 1, True)
