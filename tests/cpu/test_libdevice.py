"""libdevice functions return CUDA's values, also at the edges of their ranges."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from gpukit import cuda
from gpukit.cpu import libdevice
from gpukit.cpu.libdevice.table import MISSING, ROWS

DTYPES = {"h": np.int16, "i": np.int32, "l": np.int64, "f": np.float32, "d": np.float64}


def call(name, *columns):
    """Run a libdevice function with one result in a kernel, one thread per row of columns."""
    function = getattr(libdevice, name)
    takes, gives, _ = ROWS[name]
    arrays = [np.asarray(c, DTYPES[t]) for c, t in zip(columns, takes, strict=True)]
    out = np.zeros(arrays[0].size, DTYPES[gives])
    KERNELS[len(takes)](function)[1, out.size](*arrays, out)
    return out


def unary(function):
    @cuda.jit
    def unary_kernel(x, out):
        i = cuda.grid(1)
        out[i] = function(x[i])

    return unary_kernel


def binary(function):
    @cuda.jit
    def binary_kernel(x, y, out):
        i = cuda.grid(1)
        out[i] = function(x[i], y[i])

    return binary_kernel


def ternary(function):
    @cuda.jit
    def ternary_kernel(x, y, z, out):
        i = cuda.grid(1)
        out[i] = function(x[i], y[i], z[i])

    return ternary_kernel


KERNELS = {1: unary, 2: binary, 3: ternary}


def as_int32(value):
    """Return the int32 with the same 32 bits as an unsigned integer."""
    return int(np.array(value & 0xFFFFFFFF, np.uint32).view(np.int32))


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("sinf", np.sin),
        ("exp", np.exp),
        ("log1p", np.log1p),
        ("rsqrtf", lambda x: 1 / np.sqrt(x)),
        ("cbrt", np.cbrt),
        ("fast_expf", np.exp),
        ("exp10", lambda x: 10**x),
        ("fabsf", np.abs),
    ],
)
@pytest.mark.costly
def test_libdevice_agrees_with_numpy(name, reference):
    x = np.linspace(0.1, 9, 37).astype(DTYPES[ROWS[name][0]])
    np.testing.assert_allclose(call(name, x), reference(x), rtol=1e-6 if "f" in name[-1] else 1e-14)


@pytest.mark.parametrize(
    ("name", "args", "want"),
    [
        ("popc", (-1,), 32),
        ("clz", (0,), 32),
        ("clzll", (1,), 63),
        ("ffs", (8,), 4),
        ("brev", (1,), -(2**31)),
        ("mul24", (0xFFFFFF, 2), -2),
        ("umul24", (0xFFFFFF, 2), 2 * 0xFFFFFF),
        ("mulhi", (-(2**31), 2), -1),
        ("umulhi", (-1, -1), -2),
        ("hadd", (2**31 - 1, 2**31 - 1), 2**31 - 1),
        ("umax", (-1, 5), -1),
        ("max", (-1, 5), 5),
        ("sad", (3, 10, 100), 107),
        ("byte_perm", (0x33221100, 0x77665544, 0x7410), 0x77441100),
        ("roundf", (-2.5,), -3),
        ("rintf", (-2.5,), -2),
        ("saturatef", (1.5,), 1),
        ("fdimf", (1, 3), 0),
        ("ilogb", (10.0,), 3),
        ("double2hiint", (1.0,), 0x3FF00000),
    ],
)
@pytest.mark.costly
def test_libdevice_returns_the_value_that_cuda_documents(name, args, want):
    assert call(name, *([a] for a in args))[0] == want


@pytest.mark.parametrize(
    ("name", "x", "want"),
    [
        ("float2int_rz", 1e20, 2**31 - 1),
        ("float2int_rz", -1e20, -(2**31)),
        ("float2int_rn", math.nan, 0),
        ("float2int_rd", -1.5, -2),
        ("float2int_ru", -1.5, -1),
        ("float2uint_rn", -3, 0),
        ("float2uint_rn", 3e9, as_int32(3_000_000_000)),
        ("double2ll_rz", 1e30, 2**63 - 1),
        ("saturatef", math.nan, 0),
    ],
)
@pytest.mark.costly
def test_conversions_saturate_as_on_a_gpu(name, x, want):
    assert call(name, [x])[0] == want


@pytest.mark.parametrize("mode", ["rd", "ru", "rz", "rn"])
@pytest.mark.parametrize("kind", ["f", "d"])
@pytest.mark.parametrize("op", ["add", "mul", "div"])
@pytest.mark.costly
def test_arithmetic_rounds_in_the_direction_of_its_suffix(op, kind, mode):
    draw, dtype = random.Random(1), DTYPES[kind]
    x, y = (
        np.array([draw.uniform(-1, 1) * 2.0 ** draw.randint(-30, 30) for _ in range(64)], dtype)
        for _ in range(2)
    )
    for a, b, r in zip(x, y, call(f"{kind}{op}_{mode}", x, y), strict=True):
        left, right = Fraction(float(a)), Fraction(float(b))
        exact = {"add": left + right, "mul": left * right, "div": left / right}[op]
        down = Fraction(float(np.nextafter(r, dtype(-np.inf))))
        up = Fraction(float(np.nextafter(r, dtype(np.inf))))
        here = Fraction(float(r))
        towards = {"rz": "rd" if exact >= 0 else "ru"}.get(mode, mode)
        assert {
            "rd": here <= exact < up,
            "ru": down < exact <= here,
            "rn": abs(here - exact) <= min(abs(up - exact), abs(down - exact)),
        }[towards]


@pytest.mark.parametrize(
    ("inverse", "function", "points"),
    [
        ("erfinv", math.erf, [-0.9999, -0.4, 1e-9, 0.3, 0.7]),
        ("erfcinv", math.erfc, [1e-300, 1e-10, 0.2, 0.9, 1.5, 1.999]),
    ],
)
def test_inverse_error_functions_invert_the_error_functions(inverse, function, points):
    back = [function(float(v)) for v in call(inverse, points)]
    np.testing.assert_allclose(back, points, rtol=1e-11)


def test_functions_with_two_results_return_a_tuple():
    sincos = libdevice.sincos

    @cuda.jit
    def sincos_kernel(x, s, c):
        i = cuda.grid(1)
        s[i], c[i] = sincos(x[i])

    x = np.linspace(-3, 3, 32)
    s, c = np.full(32, np.nan), np.full(32, np.nan)
    sincos_kernel[1, 32](x, s, c)
    np.testing.assert_allclose(s, np.sin(x))
    np.testing.assert_allclose(c, np.cos(x))


@pytest.mark.parametrize("name", sorted(MISSING))
def test_a_missing_function_says_why(name):
    with pytest.raises(AttributeError, match="not supported on the CPU target yet"):
        getattr(libdevice, name)


def test_an_unknown_function_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'sine'"):
        libdevice.sine
