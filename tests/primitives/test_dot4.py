"""Four products of int8 at once: signs, order, overflow, and one instruction on a GPU."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from gpukit import cuda, gpu_code
from gpukit.gpu_code import sass
from gpukit.primitives.dot4 import dot4
from tests import oracle


@cuda.jit
def dot4_kernel(a, b, c, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = dot4(a[i], b[i], c[i])


def words(values):
    """The int32 words of an array (n, 4) of int8."""
    return np.ascontiguousarray(values, np.int8).view(np.int32).reshape(-1)


def dotted(a, b, c):
    """What the kernel makes of int8 (n, 4), int8 (n, 4) and int32 (n,)."""
    out = np.full(len(c), -1, np.int32)
    dot4_kernel[-(-len(c) // 64), 64](words(a), words(b), np.asarray(c, np.int32), out)
    return out


def expected(a, b, c):
    """The sums in int64, reduced to int32 as two's complement arithmetic does."""
    wide = np.asarray(c, np.int64) + (np.asarray(a, np.int64) * np.asarray(b, np.int64)).sum(axis=1)
    return wide.astype(np.int32)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("sign", [1, -1])
def test_each_byte_is_multiplied_by_the_byte_at_its_place(place, sign):
    a, b = np.zeros((1, 4)), np.arange(2, 6)[None]
    a[0, place] = sign
    assert dotted(a, b, [10]).tolist() == [10 + sign * (2 + place)]


@pytest.mark.parametrize("a", [-128, -1, 0, 127])
@pytest.mark.parametrize("b", [-128, -1, 0, 127])
def test_the_ends_of_the_range_are_multiplied_exactly(a, b):
    assert dotted(np.full((1, 4), a), np.full((1, 4), b), [0]).tolist() == [4 * a * b]


def test_a_sum_beyond_int32_wraps_around():
    ends = [np.iinfo(np.int32).max, np.iinfo(np.int32).min]
    made = dotted([[1, 0, 0, 0], [-1, 0, 0, 0]], np.ones((2, 4)), ends)
    assert made.tolist() == ends[::-1]


four = st.lists(st.integers(-128, 127), min_size=4, max_size=4)


@given(st.lists(st.tuples(four, four, st.integers(-(2**31), 2**31 - 1)), min_size=1, max_size=70))
def test_sums_are_those_of_integers(rows):
    a, b, c = map(list, zip(*rows, strict=True))
    np.testing.assert_array_equal(dotted(a, b, c), expected(a, b, c), strict=True)


def test_the_oracle_multiplies_alike():
    rng = np.random.default_rng(9)
    a, b = rng.integers(-128, 128, (2, 5, 4))
    out, right = np.full(5, -1, np.int32), expected(a, b, np.arange(5))
    oracle.launch(dot4_kernel, 1, 8, words(a), words(b), np.arange(5, dtype=np.int32), out)
    np.testing.assert_array_equal(out, right)


@pytest.mark.slow
def test_the_checker_finds_nothing():
    given = words(np.ones((5, 4))), words(np.ones((5, 4))), np.zeros(5, np.int32)
    report = gpukit.check(dot4_kernel)[1, 8](*given, cuda.device_array(5, np.int32))
    assert report.findings == []


@pytest.mark.compilers
def test_four_products_are_one_instruction_of_a_gpu():
    given = words(np.ones((5, 4))), words(np.ones((5, 4))), np.zeros(5, np.int32)
    (codes,) = gpu_code.build_many(
        [(dot4_kernel, (*given, np.zeros(5, np.int32)))], [(7, 5), (9, 0)]
    )
    for code in codes.values():
        opcodes = [one.opcode for one in sass.parse(code.sass)]
        assert sum(opcode.startswith("IDP.4A") for opcode in opcodes) == 1
