"""Operators, `math` and `cuda.fp16` on float16, against NumPy's float16.

NumPy rounds every operation once, as IEEE 754 says.
"""

import functools
import math
import operator
from fractions import Fraction

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from tests.compiler.half_cases import ALL, CHOSEN, LEFT, RIGHT, RNG, rows, run, same_bits


@pytest.fixture(autouse=True)
def _quiet_numpy():
    with np.errstate(all="ignore"):
        yield


# Operators

ARITHMETIC = {
    "a + b": np.add,
    "a - b": np.subtract,
    "a * b": np.multiply,
    "a / b": np.divide,
    "add(a, b)": np.add,
    "sub(a, b)": np.subtract,
    "mul(a, b)": np.multiply,
    "div(a, b)": np.divide,
    "half.hadd(a, b)": np.add,
    "half.hsub(a, b)": np.subtract,
    "half.hmul(a, b)": np.multiply,
    "half.hdiv(a, b)": np.divide,
}
IN_PLACE = {
    "add": operator.iadd,
    "sub": operator.isub,
    "mul": operator.imul,
    "div": operator.itruediv,
}
COMPARISONS = {
    "a == b": np.equal,
    "a != b": np.not_equal,
    "a < b": np.less,
    "a <= b": np.less_equal,
    "a > b": np.greater,
    "a >= b": np.greater_equal,
}
NAMED_COMPARISONS = {
    "half.heq(a, b)": np.equal,
    "half.hne(a, b)": np.not_equal,
    "half.hlt(a, b)": np.less,
    "half.hle(a, b)": np.less_equal,
    "half.hgt(a, b)": np.greater,
    "half.hge(a, b)": np.greater_equal,
}
SIGNS = {"-a": np.negative, "+a": np.positive, "abs(a)": np.abs}


@functools.cache
def arithmetic():
    return dict(
        zip(ARITHMETIC, rows(list(ARITHMETIC), np.float16, LEFT, RIGHT, **IN_PLACE), strict=True)
    )


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


def test_division_by_zero_raises_under_numbas_python_error_model():
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


def test_floor_division_is_computed_in_float32():
    found = run("a // b", np.float32, LEFT, RIGHT)
    wanted = run("a // b", np.float32, LEFT.astype("f4"), RIGHT.astype("f4"))
    np.testing.assert_array_equal(found, wanted)


# math and cuda.fp16


def steps_apart(found, wanted):
    """Return the largest distance between the two, in float16 steps."""
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    keys = []
    for values in (found, wanted):
        bits = values[~np.isnan(wanted)].view(np.int16).astype(np.int64)
        keys.append(np.where(bits < 0, -(bits & 0x7FFF), bits))
    return np.abs(keys[0] - keys[1]).max()


WITHIN_ONE_STEP = {
    "half.hsin(a)": np.sin,
    "half.hcos(a)": np.cos,
    "half.htanh(a)": np.tanh,
    "half.hexp(a)": np.exp,
    "half.hexp2(a)": np.exp2,
    "half.hexp10(a)": lambda x: 10.0**x,
    "half.hlog(a)": np.log,
    "half.hlog2(a)": np.log2,
    "half.hlog10(a)": np.log10,
    "half.hrsqrt(a)": lambda x: 1 / np.sqrt(x),
    "math.sin(a)": np.sin,
    "math.cos(a)": np.cos,
    "math.tanh(a)": np.tanh,
    "math.exp(a)": np.exp,
    "math.log(a)": np.log,
    "math.log2(a)": np.log2,
    "math.log10(a)": np.log10,
}
if hasattr(math, "exp2"):
    WITHIN_ONE_STEP["math.exp2(a)"] = np.exp2
ROUNDED_ONCE = {
    "half.hsqrt(a)": np.sqrt,
    "half.hrcp(a)": np.reciprocal,
    "half.hceil(a)": np.ceil,
    "half.hfloor(a)": np.floor,
    "half.htrunc(a)": np.trunc,
    "half.hrint(a)": np.rint,
    "half.hneg(a)": np.negative,
    "half.habs(a)": np.abs,
    "math.sqrt(a)": np.sqrt,
    "math.ceil(a)": np.ceil,
    "math.floor(a)": np.floor,
    "math.trunc(a)": np.trunc,
    "math.fabs(a)": np.abs,
    "float(a)": np.positive,
}


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
    assert not np.signbit(largest).any()
    assert np.signbit(least).all()


def rounded(value):
    """Return a fraction rounded to the nearest float16, ties to even."""
    near = np.float16(float(value))
    around = [near, np.nextafter(near, np.float16(np.inf)), np.nextafter(near, np.float16(-np.inf))]
    finite = [x for x in around if np.isfinite(x)]
    return min(finite, key=lambda x: (abs(Fraction(float(x)) - value), x.view(np.uint16) & 1))


def test_fused_multiply_add_is_rounded_once():
    a, b, c = RNG.integers(0, 65536, (3, 4000)).astype(np.uint16).view(np.float16)
    # A product midway between two float16s, and an addend that decides the rounding.
    a[:2], b[:2], c[:2] = [2049 / 1024 - 1, 1 + 2**-10], [1.5, 1 + 2**-10], [6e-8, -6e-8]
    exact = [
        Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        if np.isfinite([x, y, z]).all()
        else None
        for x, y, z in zip(a, b, c, strict=True)
    ]
    keep = [i for i, v in enumerate(exact) if v is not None and 0 < abs(v) < 65504]
    assert len(keep) > 1000
    found = run("half.hfma(a, b, c)", np.float16, a[keep], b[keep], c[keep])
    np.testing.assert_array_equal(found, np.array([rounded(exact[i]) for i in keep], np.float16))


def test_fused_multiply_add_of_infinities_follows_ieee_754():
    a = np.array([np.inf, np.inf, 65504, np.nan], np.float16)
    b = np.array([1, 0, 2, 1], np.float16)
    found = run("half.hfma(a, b, c)", np.float16, a, b, -b)
    np.testing.assert_array_equal(found, np.array([np.inf, np.nan, np.inf, np.nan], np.float16))


def test_functions_of_fp16_accept_other_numbers():
    found = run("half.hmul(a, 2.5)", np.float16, CHOSEN)
    same_bits(found, CHOSEN * np.float16(2.5))


def test_functions_of_fp16_refuse_a_tuple():
    with pytest.raises(TypingError, match=r"cuda\.fp16\.hadd works on float16, not on"):
        run("half.hadd(a, (a, a))", np.float16, CHOSEN)
