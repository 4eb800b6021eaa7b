"""float16 in Numba's CPU target: bits, conversions, types, and no library calls.

NumPy's float16 is the reference.
"""

import math
import operator
import re
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from gpukit.compiler.lowering import typing
from gpukit.compiler.runtime import half, half_convert
from tests.compiler.half_cases import ALL, RNG, run, same_bits


@pytest.fixture(autouse=True)
def _quiet_numpy():
    with np.errstate(all="ignore"):
        yield


def singles():
    """Return float32 values that are hard to round: float16s, midpoints, their neighbours."""
    exact = ALL[np.isfinite(ALL)].astype(np.float32)
    ordered = np.unique(exact)
    midpoints = (ordered[1:] + ordered[:-1]) / 2
    hard = np.concatenate([exact, midpoints, np.float32([65520, -65520, 65519.99, 2**-25])])
    near = [np.nextafter(hard, np.float32(s * np.inf)) for s in (1, -1)]
    special = np.float32([0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-40, 3e38])
    random = RNG.integers(0, 2**32, 200_000, np.uint32).view(np.float32)
    return np.concatenate([hard, *near, special, random])


# Bits and conversions


def test_every_bit_pattern_survives_a_load_and_a_store():
    out = run("a", np.float16, ALL)
    np.testing.assert_array_equal(out.view(np.uint16), ALL.view(np.uint16))


@pytest.mark.parametrize("wide", [np.float32, np.float64])
def test_every_float16_widens_exactly(wide):
    same_bits(run("a", wide, ALL), ALL.astype(wide))


def test_float32_is_rounded_to_the_nearest_float16():
    values = singles()
    same_bits(run("np.float16(a)", np.float16, values), values.astype(np.float16))


def test_float64_is_rounded_once():
    values = singles().astype(np.float64)
    beside = [np.nextafter(values, s * np.inf) for s in (1, -1)]
    values = np.concatenate([values, *beside, [1e300, -1e300, 1e-300, 5e-324, 2.0**-25]])
    same_bits(run("np.float16(a)", np.float16, values), values.astype(np.float16))


@intrinsic
def extend_on_bits(typingctx, x):
    def codegen(context, builder, sig, args):
        return half_convert.extend_bits(builder, args[0])

    return types.float32(x), codegen


@intrinsic
def shorten_on_bits(typingctx, x):
    def codegen(context, builder, sig, args):
        return half_convert.shorten_bits(builder, args[0])

    return types.float16(x), codegen


def test_widening_on_bits_agrees_with_numpy():
    same_bits(run("extend(a)", np.float32, ALL, extend=extend_on_bits), ALL.astype(np.float32))


def test_rounding_on_bits_agrees_with_numpy():
    values = singles()
    found = run("shorten(a)", np.float16, values, shorten=shorten_on_bits)
    same_bits(found, values.astype(np.float16))


INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_become_float16(kind):
    info = np.iinfo(kind)
    near = [v for e in range(64) for v in (2**e - 1, 2**e, 2**e + 1, -(2**e))]
    edges = [v for v in (*near, 65519, 65520, 2049, 2051) if info.min <= v <= info.max]
    random = RNG.integers(info.min, info.max, 1000, kind, endpoint=True)
    values = np.concatenate([np.array([info.min, info.max, *edges], kind), random])
    wanted = values.astype(np.float64).astype(np.float16)
    same_bits(run("np.float16(a)", np.float16, values), wanted)


@pytest.mark.parametrize("kind", INTEGERS)
def test_float16_is_truncated_and_clamped_to_an_integer_type(kind):
    info = np.iinfo(kind)
    wide = ALL.astype(np.float64)
    numbers = np.where(np.isfinite(wide), np.trunc(wide), 0).astype(np.int64)
    wanted = [min(max(int(n), info.min), info.max) for n in numbers]
    found = run("kind(a)", kind, ALL, kind=kind)
    np.testing.assert_array_equal(found[ALL == np.inf], info.max)
    np.testing.assert_array_equal(found[ALL == -np.inf], info.min)
    rest = ~np.isinf(ALL)
    np.testing.assert_array_equal(found[rest], np.array(wanted, kind)[rest])


@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
def test_float16_becomes_complex(kind):
    np.testing.assert_array_equal(run("a", kind, ALL), ALL.astype(kind))


def test_a_bool_becomes_float16():
    out = run("np.float16(a)", np.float16, np.array([True, False]))
    assert out.tolist() == [1, 0]


def test_constants_are_rounded_once():
    pi = np.float16(3.14159)
    out = run("pi", np.float16, ALL[:1], pi=pi)
    assert out[0] == pi


def test_the_truth_value_of_a_float16_is_numpys():
    out = run("1 if a else 0", np.int64, ALL)
    np.testing.assert_array_equal(out, ALL.astype(bool))


# Types

F2, F4, F8 = types.float16, types.float32, types.float64
MIXED = [
    (F2, F2),
    (types.int8, F2),
    (types.boolean, F2),
    (types.uint8, F4),
    (types.int16, F4),
    (types.uint16, F8),
    (types.int32, F8),
    (types.int64, F8),
    (types.uint64, F8),
    (F4, F4),
    (F8, F8),
    (types.complex64, types.complex64),
]


@pytest.mark.parametrize(("other", "wanted"), MIXED, ids=str)
def test_mixed_arithmetic_has_the_type_of_the_cuda_target(other, wanted):
    def function(a, b):
        left = a + b
        right = b * a
        return left, right

    found = typing.infer(function, (F2, other)).typemap
    assert {found["left"], found["right"]} == {wanted}


def test_float16_times_a_literal_integer_is_float64():
    def function(a):
        doubled = a * 2
        return doubled

    assert typing.infer(function, (F2,)).typemap["doubled"] == F8


@pytest.mark.parametrize("function", [math.sin, math.floor, math.trunc, math.sqrt, abs, float])
def test_functions_of_float16_return_float16(function):
    assert cpu_target.typing_context.resolve_function_type(function, (F2,), {}).return_type == F2


@pytest.mark.parametrize("kind", [F4, F8, types.int64])
def test_typing_rules_of_other_types_do_not_change(kind):
    resolve = cpu_target.typing_context.resolve_function_type
    assert resolve(operator.add, (kind, kind), {}).return_type == kind
    assert resolve(math.floor, (F4,), {}).return_type == types.int64


def test_installing_twice_changes_nothing():
    before = cpu_target.typing_context.resolve_value_type(operator.add)
    half.install()
    cpu_target.typing_context.refresh()
    assert cpu_target.typing_context.resolve_value_type(operator.add) == before


# No calls of library functions that may be missing

LIBRARY_CALL = re.compile(
    r"__(?:gnu_[fh]2[fh]_ieee|extendhf\w+|trunc\w+hf\w*|float\w+hf|fix\w*hf\w+)"
)


def test_no_conversion_calls_a_library_function():
    @numba.njit(error_model="numpy")
    def everything(h, f, d, i, u):
        for k in range(h.size):
            h[k] = h[k] * np.float16(f[k]) + np.float16(d[k])
            f[k] = f[k] + h[k]
            d[k] = d[k] + h[k] + math.sin(h[k])
            i[k] = np.int64(h[k]) + np.int8(h[k])
            u[k] = np.uint64(h[k])
            h[k] += np.float16(i[k] & 255) + np.float16(u[k])

    arrays = [np.ones(9, k) for k in (np.float16, np.float32, np.float64, np.int64, np.uint64)]
    everything(*arrays)
    (text,) = everything.inspect_asm().values()
    assert not LIBRARY_CALL.findall(text)


GENERIC = """
import numba, numpy as np
from numba.core.registry import cpu_target
from gpukit.compiler.runtime import half, half_convert
half.install()
if half_convert._triple().startswith("x86"):
    assert not half_convert.in_hardware(cpu_target.target_context)
@numba.njit(error_model="numpy")
def square(out, a, d):
    for i in range(a.size):
        out[i] = a[i] * a[i] + np.float16(d[i])
a = np.arange(65536, dtype=np.uint16).view(np.float16)
d = np.linspace(-70000, 70000, 65536)
out = np.zeros_like(a)
square(out, a, d)
with np.errstate(all="ignore"):
    np.testing.assert_array_equal(out, a * a + d.astype(np.float16))
(text,) = square.inspect_asm().values()
assert "hfsf" not in text and "hf2" not in text and "_ieee" not in text
"""


def test_a_processor_without_float16_instructions_gives_the_same_results(fresh_python):
    done = fresh_python("-c", GENERIC, NUMBA_CPU_NAME="generic")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("triple", "features", "found"),
    [
        ("aarch64-unknown-linux-gnu", "", True),
        ("x86_64-unknown-linux-gnu", "+sse2,+f16c", True),
        ("x86_64-unknown-linux-gnu", "+sse2", False),
    ],
)
def test_hardware_conversion_is_used_where_the_processor_has_it(
    triple, features, found, monkeypatch
):
    monkeypatch.setattr(half_convert, "_triple", lambda: triple)
    codegen = SimpleNamespace(_tm_features=features)
    assert half_convert.in_hardware(SimpleNamespace(codegen=lambda: codegen)) is found
