"""The origin of a NaN or infinity: the first line that computes one from finite numbers."""

import math

import numpy as np

from gpukit import cuda
from gpukit.checked import not_finite, recording
from gpukit.cpu.launch import configure


def first(kernel, *arguments, threads=4):
    shape = configure.parse((1, threads))
    return not_finite.first(recording.record(kernel, shape, arguments))


@cuda.jit
def sigmoid_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        e = math.exp(x[i])
        out[i] = e / (1 + e)


@cuda.jit
def quotient_kernel(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / y[i]


@cuda.jit
def maximum_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        high = np.float32(-math.inf)
        high = max(high, x[i])
        out[i] = math.exp(-high)


@cuda.jit(device=True)
def put_logarithm(out, i, x_2):
    out[i] = math.log(x_2)


@cuda.jit
def logarithm_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        put_logarithm(out, i, x[i])


def vector(*values):
    return np.array(values, np.float32)


def test_origin_is_the_line_of_the_overflow_and_not_a_line_that_propagates_it():
    found = first(sigmoid_kernel, vector(1, 2, 89, 90), vector(0, 0, 0, 0))
    assert found.text == "e = math.exp(x[i])"
    assert found.value == "inf"
    assert (found.block, found.thread) == (0, 2)
    assert dict(found.operands)["x[2]"] == 89


def test_zero_divided_by_zero_is_reported_with_its_operands():
    found = first(quotient_kernel, vector(1, 0), vector(1, 0), vector(9, 9), threads=2)
    assert found.value == "nan"
    assert {"x[1]": 0.0, "y[1]": 0.0}.items() <= dict(found.operands).items()


def test_line_of_a_device_function_is_quoted_as_written():
    found = first(logarithm_kernel, vector(1, -1), vector(0, 0), threads=2)
    assert (found.text, found.value) == ("out[i] = math.log(x_2)", "nan")


def test_message_names_line_value_operands_and_thread():
    found = first(quotient_kernel, vector(1, 0), vector(1, 0), vector(9, 9), threads=2)
    words = str(found)
    assert words.startswith(f"Line {found.line} computes nan from finite operands: ")
    assert "x[1] = 0.0, y[1] = 0.0 (thread 1 of block 0)" in words
    assert "out[i] = x[i] / y[i]" in words


def test_nan_in_the_input_has_no_origin():
    assert first(quotient_kernel, vector(np.nan), vector(1), vector(9), threads=1) is None


@cuda.jit
def gate_kernel(x, gate, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * gate[i]


def test_nan_from_an_infinity_is_reported_with_its_operands():
    found = first(gate_kernel, vector(1, np.inf), vector(0, 0), vector(9, 9), threads=2)
    assert "computes nan from an infinite operand: " in str(found)
    assert {"x[1]": "inf", "gate[1]": 0.0}.items() <= dict(found.operands).items()


def test_propagated_infinity_has_no_origin():
    assert first(gate_kernel, vector(np.inf), vector(2), vector(9), threads=1) is None


def test_infinity_as_an_initial_value_is_intentional():
    found = first(maximum_kernel, vector(-100), vector(9), threads=1)
    assert found.text == "out[i] = math.exp(-high)"


def test_finite_numbers_have_no_origin():
    assert first(quotient_kernel, vector(1, 2), vector(4, 5), vector(9, 9), threads=2) is None
