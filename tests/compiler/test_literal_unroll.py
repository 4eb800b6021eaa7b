"""Loops over `literal_unroll(...)` behave as in Python, where it returns its argument."""

import numba
import numpy as np
import pytest
from numba import literal_unroll

import gpukit
from gpukit import cuda, errors

FLOATS, INTS = np.linspace(1, 2, 8, dtype=np.float32), np.arange(8)
MIXED = (1, 2.5, np.int8(-3))
NESTED = ((1, 2.5), (3, np.float32(4.5)))
LABELS = ("a", "bcd")
COUNT = 2


def add_elements(out, t):
    for v in literal_unroll(t):
        out[0] += v


def first_elements(out, t):
    k = 0
    for a in literal_unroll(t):
        out[k] = a[0]
        k += 1


def index_by_constants(out, t):
    for i in literal_unroll(range(COUNT)):
        out[i] = t[i]


def index_downwards(out, t):
    for i in literal_unroll(range(-1, -3, -1)):
        out[i] = t[i]


def nested_constants(out):
    k = 0
    for row in literal_unroll(NESTED):
        for v in numba.literal_unroll(row):
            out[k] = v
            k += 1


def nested_arguments(out, t):
    k = 0
    for row in literal_unroll(t):
        for a in literal_unroll(row):
            out[k] = a[-1]
            k += 1


def pairs(out, t):
    for i, x in literal_unroll(t):
        out[i] = x


def lengths(out):
    k = 0
    for label in literal_unroll(LABELS):
        out[k] = len(label)
        k += 1


def leave_or_skip(out, t):
    last = 0
    for v in literal_unroll(t):
        if v > 2:
            break
        if v == 1:
            continue
        out[last] = v
        last += 1
    else:
        out[2] = 7
    out[3] = last


def assigned_in_body(out, t):
    for v in literal_unroll(t):
        v = v + 1
        w = v * 2
        out[0] += w


def read_after(out, t):
    for v in literal_unroll(t):
        pass
    out[0] = v


def local_tuple(out, a):
    both = a, a[2]
    for v in literal_unroll((a[0], both[1])):
        out[0] += v


CASES = {
    "numbers": (add_elements, MIXED),
    "no elements": (add_elements, ()),
    "arrays": (first_elements, (FLOATS, INTS)),
    "a range as index": (index_by_constants, (np.float32(1.5), 4)),
    "a range downwards": (index_downwards, (np.float32(1.5), 4)),
    "tuples of tuples": (nested_constants,),
    "tuples of tuples of arrays": (nested_arguments, ((FLOATS, INTS), (INTS,))),
    "an unpacked element": (pairs, ((0, 2.5), (1, 3))),
    "strings": (lengths,),
    "break": (leave_or_skip, (0, 1, np.float32(1.5), np.int8(3), 4)),
    "else": (leave_or_skip, (0, 1)),
    "a variable assigned in the body": (assigned_in_body, MIXED),
    "a variable read after the loop": (read_after, MIXED),
    "a tuple created in the kernel": (local_tuple, FLOATS),
}


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.costly
def test_an_unrolled_loop_does_what_python_does(case, checked):
    function, *arguments = CASES[case]
    expected, out = np.zeros(4), np.zeros(4)
    function(expected, *arguments)
    kernel = cuda.jit(function)
    if checked:
        assert not gpukit.check(kernel)[1, 1](out, *arguments).errors
    else:
        kernel[1, 1](out, *arguments)
    np.testing.assert_array_equal(out, expected)


def test_device_function_unrolls_the_tuple_of_each_call():
    @cuda.jit(device=True)
    def first_above(t, bound):
        for a in literal_unroll(t):
            if a[0] > bound:
                return a[0] * 1.0
        return -1.0

    @cuda.jit
    def kernel(out, t):
        out[0] = first_above(t, 0.5)
        out[1] = first_above((t[1], t[0]), 9)

    out = np.full(2, np.nan)
    kernel[1, 1](out, (INTS, FLOATS))
    np.testing.assert_array_equal(out, [1, -1])


def test_an_unrolled_body_may_contain_barriers():
    @cuda.jit
    def kernel(out, t):
        tile = cuda.shared.array(8, np.float64)
        i = cuda.threadIdx.x
        for a in literal_unroll(t):
            tile[i] = a[i]
            cuda.syncthreads()
            out[i] += tile[7 - i]
            cuda.syncthreads()

    out = np.zeros(8)
    assert not gpukit.check(kernel)[1, 8](out, (FLOATS, INTS)).errors
    np.testing.assert_allclose(out, FLOATS[::-1] + INTS[::-1])


def test_a_race_in_an_unrolled_body_is_found_at_its_line():
    @cuda.jit
    def kernel(out, t):
        for a in literal_unroll(t):
            out[0] = a[cuda.threadIdx.x]

    report = gpukit.check(kernel)[1, 8](np.zeros(1), (FLOATS, INTS))
    assert {found.kind for found in report.errors} == {"global-race"}
    assert "out[0] = a[cuda.threadIdx.x]" in str(report)


def test_an_array_is_refused_with_advice():
    with pytest.raises(errors.GpukitError, match="a tuple, or of a range of constants") as failed:
        cuda.jit(add_elements)[1, 1](np.zeros(1), FLOATS)
    assert "loop over t without literal_unroll" in str(failed.value)
