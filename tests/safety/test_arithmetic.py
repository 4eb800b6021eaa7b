"""Arithmetic that crashes in C or raises in Python gives a value in a kernel."""

import numpy as np
import pytest

from gpukit import cuda, errors
from tests.safety.attempt import assert_good_launch, guarded, on_cpu

pytestmark = on_cpu


@cuda.jit
def divide_kernel(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] / b[i]


@cuda.jit
def floor_divide_kernel(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] // b[i]


@cuda.jit
def remainder_kernel(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] % b[i]


@cuda.jit
def shift_kernel(a, b, out):
    i = cuda.grid(1)
    out[i] = (a[i] << b[i]) ^ (a[i] >> b[i])


@cuda.jit
def power_kernel(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] ** b[i]


@cuda.jit
def to_integer_kernel(a, out):
    i = cuda.grid(1)
    out[i] = int(a[i])


def test_float_division_by_zero_gives_infinity_and_nan():
    with guarded(3) as out:
        divide_kernel[1, 3](np.array([1.0, -1.0, 0.0]), np.zeros(3), out)
        np.testing.assert_array_equal(out, [np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("kernel", [floor_divide_kernel, remainder_kernel], ids=["//", "%"])
@pytest.mark.parametrize(
    "kind", [np.int8, np.int32, np.int64, np.uint32, np.uint64], ids=lambda k: k.__name__
)
@pytest.mark.costly
def test_integer_division_by_zero_or_overflow_does_not_crash(kernel, kind):
    least = np.iinfo(kind).min
    a = np.array([5, 0, least, least, 7], kind)
    b = np.array([0, 0, -1 if least < 0 else 0, 0, 2], kind)
    with guarded(5, kind) as out:
        kernel[1, 5](a, b, out)
        assert out[4] == (3 if kernel is floor_divide_kernel else 1)
    assert_good_launch()


@pytest.mark.parametrize("count", [-1, 64, 100, 2**40])
def test_an_enormous_shift_does_not_crash(count):
    with guarded(2, np.int64) as out:
        shift_kernel[1, 2](np.array([5, -5]), np.array([count, count]), out)
    assert_good_launch()


def test_a_negative_power_of_zero_does_not_crash():
    with guarded(2, np.int64) as out:
        power_kernel[1, 2](np.array([0, 3]), np.array([-1, 4]), out)
        assert out[1] == 81
    assert_good_launch()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint64], ids=lambda k: k.__name__)
def test_a_float_out_of_range_of_an_integer_type_does_not_crash(value, kind):
    with guarded(2, kind) as out:
        to_integer_kernel[1, 2](np.array([value, 3.5]), out)
        assert out[1] == 3
    assert_good_launch()


# ---- arrays in place of scalars -------------------------------------------------------------


@cuda.jit
def select_array_kernel(a, out):
    out[0] = cuda.selp(out[0] > 0, a, 1)


@cuda.jit
def multiply_array_kernel(a, out):
    out[0] = cuda.fma(out[0], a, 1.0)


@pytest.mark.parametrize(
    ("kernel", "name"), [(select_array_kernel, "selp"), (multiply_array_kernel, "fma")]
)
def test_an_array_in_place_of_a_scalar_names_function_and_type(kernel, name):
    with pytest.raises(errors.KernelTypeError, match=rf"cuda\.{name} works on numbers.*array"):
        kernel[1, 1](np.ones(3), np.ones(3))


# --- Division by zero with debug=True ----------------------------------------------------------


@cuda.jit(device=True, debug=True)
def quotient(a, b):
    return a / b


@cuda.jit(debug=True)
def quotients_kernel(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = quotient(10, a[i])


@cuda.jit(debug=True)
def division_kernel(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = 10 // a[i]


@cuda.jit(debug=True)
def in_place_kernel(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] %= a[i]


@cuda.jit(debug=True)
def variable_kernel(a, out):
    i = cuda.grid(1)
    if i < a.size:
        v = 10
        v /= a[i]
        out[i] = v


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize(
    ("kernel", "function", "source"),
    [
        (quotients_kernel, "quotient", "return a / b"),
        (division_kernel, "division_kernel", "out[i] = 10 // a[i]"),
        (in_place_kernel, "in_place_kernel", "out[i] %= a[i]"),
        (variable_kernel, "variable_kernel", "v /= a[i]"),
    ],
)
@pytest.mark.costly
def test_with_debug_a_division_by_zero_names_line_and_thread(kernel, function, source, dtype):
    a, out = np.full(40, 4, dtype), np.ones(40)
    kernel[2, 32](a, out)
    assert np.isin(out, [1, 2, 2.5]).all()
    a[37] = 0
    with pytest.raises(ZeroDivisionError, match="division by zero") as caught:
        kernel[2, 32](a, out)
    found = caught.value
    assert (found.kernel, found.source.strip()) == (function, source)
    assert (found.block, found.thread) == ((1, 0, 0), (5, 0, 0))
