"""float16 in Numba's CPU target: bits, conversions, typing, operators, and `cuda.fp16`.

NumPy's float16 is the reference. It rounds every operation once, as IEEE 754 says.
"""

from __future__ import annotations

import functools
import math
import operator
import re
from fractions import Fraction

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from gpukit.compiler.passes import typing
from gpukit.compiler.runtime import half, half_convert

half.install()

ALL = np.arange(65536, dtype=np.uint16).view(np.float16)
RNG = np.random.default_rng(20)
# Every pair of these is one case of a binary operation.
CHOSEN = np.concatenate([
    np.array([0.0, -0.0, 1.0, -1.0, 65504, -65504, 6e-8, -6e-8, 6.1e-5, 2.5, 3.0, 0.1, 1e-3,
              np.inf, -np.inf, np.nan], np.float16),
    RNG.integers(0, 65536, 240).astype(np.uint16).view(np.float16),
])  # fmt: skip
LEFT, RIGHT = (a.ravel() for a in np.meshgrid(CHOSEN, CHOSEN))


@pytest.fixture(autouse=True)
def _quiet_numpy():
    with np.errstate(all="ignore"):
        yield


def same_bits(found, wanted):
    """Demand equal bits; any NaN is as good as any other."""
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(wanted[numbers]))


def rows(expressions, result, *arrays, **scope):
    """Return one row of results for each expression in `a`, `b`, `c`: one loop, compiled once."""
    names = "abc"[: len(arrays)]
    lines = [f"def loop(out, {', '.join(f'{n}_' for n in names)}):", " for i in range(a_.size):"]
    lines += [f"  {n} = {n}_[i]" for n in names]
    lines += [f"  out[{k}, i] = {text}" for k, text in enumerate(expressions)]
    known = {"np": np, "math": math, "half": half, **scope}
    exec("\n".join(lines), known)
    out = np.full((len(expressions), arrays[0].size), 99, result)
    numba.njit(error_model="numpy")(known["loop"])(out, *arrays)
    return out


def run(expression, result, *arrays, **scope):
    """Return what an expression gives for each element, compiled."""
    return rows([expression], result, *arrays, **scope)[0]


def singles():
    """Return float32s that are hard to round: float16s, the middles between them, neighbours."""
    exact = ALL[np.isfinite(ALL)].astype(np.float32)
    ordered = np.unique(exact)
    middles = (ordered[1:] + ordered[:-1]) / 2
    hard = np.concatenate([exact, middles, np.float32([65520, -65520, 65519.99, 2**-25])])
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
def test_float16_is_cut_off_to_an_integer_and_held_in_its_range(kind):
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


def test_float16_decides_branches():
    out = run("1 if a else 0", np.int64, ALL)
    np.testing.assert_array_equal(out, ALL.astype(bool))


# Operators

ARITHMETIC = {
    "a + b": np.add, "a - b": np.subtract, "a * b": np.multiply, "a / b": np.divide,
    "add(a, b)": np.add, "sub(a, b)": np.subtract, "mul(a, b)": np.multiply,
    "div(a, b)": np.divide, "half.hadd(a, b)": np.add, "half.hsub(a, b)": np.subtract,
    "half.hmul(a, b)": np.multiply, "half.hdiv(a, b)": np.divide,
}  # fmt: skip
IN_PLACE = {
    "add": operator.iadd, "sub": operator.isub, "mul": operator.imul, "div": operator.itruediv
}  # fmt: skip
COMPARISONS = {
    "a == b": np.equal, "a != b": np.not_equal, "a < b": np.less, "a <= b": np.less_equal,
    "a > b": np.greater, "a >= b": np.greater_equal,
}  # fmt: skip
NAMED_COMPARISONS = {
    "half.heq(a, b)": np.equal, "half.hne(a, b)": np.not_equal, "half.hlt(a, b)": np.less,
    "half.hle(a, b)": np.less_equal, "half.hgt(a, b)": np.greater,
    "half.hge(a, b)": np.greater_equal,
}  # fmt: skip
SIGNS = {"-a": np.negative, "+a": np.positive, "abs(a)": np.abs}


@functools.cache
def arithmetic():
    return dict(zip(
        ARITHMETIC, rows(list(ARITHMETIC), np.float16, LEFT, RIGHT, **IN_PLACE), strict=True
    ))  # fmt: skip


@functools.cache
def comparisons():
    texts = [*COMPARISONS, *NAMED_COMPARISONS]
    return dict(zip(texts, rows(texts, np.bool_, LEFT, RIGHT), strict=True))


@functools.cache
def functions():
    texts = [*SIGNS, *WITHIN_ONE_STEP, *ROUNDED_ONCE]
    return dict(zip(texts, rows(texts, np.float16, ALL), strict=True))


@pytest.mark.parametrize("text", ARITHMETIC)
def test_arithmetic_is_rounded_once(text):
    same_bits(arithmetic()[text], ARITHMETIC[text](LEFT, RIGHT))


@pytest.mark.parametrize("text", COMPARISONS)
def test_comparisons_agree_with_numpy(text):
    np.testing.assert_array_equal(comparisons()[text], COMPARISONS[text](LEFT, RIGHT))


@pytest.mark.parametrize("text", NAMED_COMPARISONS)
def test_named_comparisons_are_false_for_nan(text):
    wanted = NAMED_COMPARISONS[text](LEFT, RIGHT) & ~np.isnan(LEFT) & ~np.isnan(RIGHT)
    np.testing.assert_array_equal(comparisons()[text], wanted)


@pytest.mark.parametrize("text", SIGNS)
def test_signs_agree_with_numpy(text):
    same_bits(functions()[text], SIGNS[text](ALL))


def test_division_by_zero_raises_where_numba_is_told_to_raise():
    @numba.njit(error_model="python")
    def divide(a):
        return np.float32(a[0] / a[1])

    with pytest.raises(ZeroDivisionError):
        divide(np.zeros(2, np.float16))


def test_max_and_min_agree_with_python():
    found = rows(["max(a, b)", "min(a, b)"], np.float16, LEFT, RIGHT)
    pairs = list(zip(LEFT, RIGHT, strict=True))
    wanted = np.array([[op(*pair) for pair in pairs] for op in (max, min)], np.float16)
    np.testing.assert_array_equal(found, wanted)


def test_what_cuda_python_does_not_do_in_float16_is_done_in_float32():
    found = run("a // b", np.float32, LEFT, RIGHT)
    wanted = run("a // b", np.float32, LEFT.astype("f4"), RIGHT.astype("f4"))
    np.testing.assert_array_equal(found, wanted)


# Types

F2, F4, F8 = types.float16, types.float32, types.float64
MIXED = [
    (F2, F2), (types.int8, F2), (types.boolean, F2), (types.uint8, F4), (types.int16, F4),
    (types.uint16, F8), (types.int32, F8), (types.int64, F8), (types.uint64, F8), (F4, F4),
    (F8, F8), (types.complex64, types.complex64),
]  # fmt: skip


@pytest.mark.parametrize(("other", "wanted"), MIXED, ids=str)
def test_mixed_arithmetic_has_the_type_of_the_cuda_target(other, wanted):
    def function(a, b):
        left = a + b
        right = b * a
        return left, right

    found = typing.infer(function, (F2, other))
    assert {found["left"], found["right"]} == {wanted}


def test_a_literal_integer_makes_float64():
    def function(a):
        doubled = a * 2
        return doubled

    assert typing.infer(function, (F2,))["doubled"] == F8


@pytest.mark.parametrize("function", [math.sin, math.floor, math.trunc, math.sqrt, abs, float])
def test_functions_of_float16_give_float16(function):
    assert cpu_target.typing_context.resolve_function_type(function, (F2,), {}).return_type == F2


@pytest.mark.parametrize("kind", [F4, F8, types.int64])
def test_no_rule_for_another_type_changes(kind):
    resolve = cpu_target.typing_context.resolve_function_type
    assert resolve(operator.add, (kind, kind), {}).return_type == kind
    assert resolve(math.floor, (F4,), {}).return_type == types.int64


def test_installing_twice_changes_nothing():
    before = cpu_target.typing_context.resolve_value_type(operator.add)
    half.install()
    cpu_target.typing_context.refresh()
    assert cpu_target.typing_context.resolve_value_type(operator.add) == before


# math and cuda.fp16


def steps_apart(found, wanted):
    """Return how many float16s lie between the two, at most."""
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    keys = []
    for values in (found, wanted):
        bits = values[~np.isnan(wanted)].view(np.int16).astype(np.int64)
        keys.append(np.where(bits < 0, -(bits & 0x7FFF), bits))
    return np.abs(keys[0] - keys[1]).max()


WITHIN_ONE_STEP = {
    "half.hsin(a)": np.sin, "half.hcos(a)": np.cos, "half.htanh(a)": np.tanh,
    "half.hexp(a)": np.exp, "half.hexp2(a)": np.exp2, "half.hexp10(a)": lambda x: 10.0**x,
    "half.hlog(a)": np.log, "half.hlog2(a)": np.log2, "half.hlog10(a)": np.log10,
    "half.hrsqrt(a)": lambda x: 1 / np.sqrt(x), "math.sin(a)": np.sin, "math.cos(a)": np.cos,
    "math.tanh(a)": np.tanh, "math.exp(a)": np.exp, "math.log(a)": np.log,
    "math.log2(a)": np.log2, "math.log10(a)": np.log10,
}  # fmt: skip
if hasattr(math, "exp2"):
    WITHIN_ONE_STEP["math.exp2(a)"] = np.exp2
ROUNDED_ONCE = {
    "half.hsqrt(a)": np.sqrt, "half.hrcp(a)": np.reciprocal, "half.hceil(a)": np.ceil,
    "half.hfloor(a)": np.floor, "half.htrunc(a)": np.trunc, "half.hrint(a)": np.rint,
    "half.hneg(a)": np.negative, "half.habs(a)": np.abs, "math.sqrt(a)": np.sqrt,
    "math.ceil(a)": np.ceil, "math.floor(a)": np.floor, "math.trunc(a)": np.trunc,
    "math.fabs(a)": np.abs, "float(a)": np.positive,
}  # fmt: skip


@pytest.mark.parametrize("text", WITHIN_ONE_STEP)
def test_functions_are_within_one_step(text):
    wanted = WITHIN_ONE_STEP[text](ALL.astype(np.float64)).astype(np.float16)
    assert steps_apart(functions()[text], wanted) <= 1


@pytest.mark.parametrize("text", ROUNDED_ONCE)
def test_functions_are_rounded_once(text):
    same_bits(functions()[text], ROUNDED_ONCE[text](ALL))


def test_extremes_prefer_numbers_to_nan():
    found = rows(["half.hmax(a, b)", "half.hmin(a, b)"], np.float16, LEFT, RIGHT)
    np.testing.assert_array_equal(found, [np.fmax(LEFT, RIGHT), np.fmin(LEFT, RIGHT)])


def test_minus_zero_is_less_than_zero():
    zeros = np.array([0.0, -0.0], np.float16)
    texts = ["half.hmax(a, b)", "half.hmin(a, b)"]
    largest, least = rows(texts, np.float16, zeros, zeros[::-1].copy())
    assert not np.signbit(largest).any() and np.signbit(least).all()


def rounded(value):
    """Return a fraction as float16: the nearer neighbour, of two the one with an even last bit."""
    near = np.float16(float(value))
    around = [near, np.nextafter(near, np.float16(np.inf)), np.nextafter(near, np.float16(-np.inf))]
    finite = [x for x in around if np.isfinite(x)]
    return min(finite, key=lambda x: (abs(Fraction(float(x)) - value), x.view(np.uint16) & 1))


def test_fused_multiply_add_is_rounded_once():
    a, b, c = RNG.integers(0, 65536, (3, 4000)).astype(np.uint16).view(np.float16)
    # A product in the middle between two float16s, and a last bit that decides.
    a[:2], b[:2], c[:2] = [2049 / 1024 - 1, 1 + 2**-10], [1.5, 1 + 2**-10], [6e-8, -6e-8]
    exact = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
             if np.isfinite([x, y, z]).all() else None
             for x, y, z in zip(a, b, c, strict=True)]  # fmt: skip
    keep = [i for i, v in enumerate(exact) if v is not None and 0 < abs(v) < 65504]
    assert len(keep) > 1000
    found = run("half.hfma(a, b, c)", np.float16, a[keep], b[keep], c[keep])
    np.testing.assert_array_equal(found, np.array([rounded(exact[i]) for i in keep], np.float16))


def test_fused_multiply_add_knows_infinity():
    a = np.array([np.inf, np.inf, 65504, np.nan], np.float16)
    b = np.array([1, 0, 2, 1], np.float16)
    found = run("half.hfma(a, b, c)", np.float16, a, b, -b)
    np.testing.assert_array_equal(found, np.array([np.inf, np.nan, np.inf, np.nan], np.float16))


def test_functions_take_other_numbers():
    found = run("half.hmul(a, 2.5)", np.float16, CHOSEN)
    same_bits(found, CHOSEN * np.float16(2.5))


def test_functions_refuse_what_is_no_number():
    with pytest.raises(TypingError, match=r"cuda\.fp16\.hadd works on float16, not on"):
        run("half.hadd(a, (a, a))", np.float16, CHOSEN)


# No calls of functions that may be missing

LIBRARY_CALL = re.compile(r"__(?:gnu_[fh]2[fh]_ieee|extendhf\w+|trunc\w+hf\w*|float\w+hf|fix\w*hf\w+)")


def test_no_conversion_calls_a_library():
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
    assert not half_convert._in_hardware(cpu_target.target_context)
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


def test_a_processor_without_the_instructions_gives_the_same(fresh_python):
    done = fresh_python("-c", GENERIC, NUMBA_CPU_NAME="generic")
    assert done.returncode == 0, done.stderr
