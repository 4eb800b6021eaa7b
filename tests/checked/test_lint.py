"""Accidental float64 in kernels on float32 arrays, as the GPU compiler types it.

The PTX that NVVM generates for sm_80 showed which of these contain double precision.
"""

import math

import numpy as np
import pytest
from numba import types

from gpukit import cuda
from gpukit.checked import lint
from gpukit.checked.messages import describe
from gpukit.primitives.vectorized import map4

HALF, TENTH = 0.5, 0.1


@cuda.jit
def single_kernel(x, out, part):
    """Operations on float32, with literals that float32 represents exactly."""
    i = cuda.grid(1)
    out[i] = 2 * x[i]
    out[i] = 255 - x[i]
    out[i] = 0.5 * x[i]
    out[i] = -(2 * x[i])
    out[i] = x[i] / 3
    out[i] = 1 - x[i] * x[i]
    out[i] += 1
    out[i] = np.float32(2 * x[i]) * x[i]
    part[0] = HALF * x[i]
    cuda.atomic.add(out, i, 2 * x[i])
    twice = 2 * x[i]
    out[i] = twice


ACCIDENTS = {
    "0.1 * x[i]": ["0.1"],
    "TENTH * x[i]": ["TENTH"],
    "-0.1 * x[i]": ["-0.1"],
    "16777217 * x[i]": ["16777217"],
    "2 * x[i] + 1": ["2"],
    "2 * x[i] * x[i]": ["2"],
    "(x[i] - 3 * x[i]) * 1.5": ["3", "1.5"],
    "math.sqrt(2 * x[i])": ["2"],
    "x[i] // 2": ["2"],
    "x[i] * x.size": ["x.size"],
    "0.5 * i / x.size + x[i]": ["0.5", "i", "x.size"],
    "x[i] * (i + 1) * 0.1": ["i + 1", "0.1"],
    "(0.1 * x[i]) ** 2 * x.size": ["0.1", "x.size"],
    "3 / x.size * x[i] * 0.1": ["3", "x.size", "0.1"],
    "min(1, x[i])": ["1"],
    "x[i] * max(x[i], 0.5)": ["0.5"],
    "min(x[i], x.size)": ["x.size"],
    "1 / x.size * x[i]": [],
}


def accidents(function):
    single = types.Array(types.float32, 1, "C")
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return lint.accidents(function, tuple(single for _ in names))


@pytest.fixture
def kernel_of(tmp_path):
    """Return a function that writes a kernel of `out[i] = <expression>` to a file."""

    def make(expression):
        text = f"def kernel(x, out):\n    i = cuda.grid(1)\n    out[i] = {expression}\n"
        path = tmp_path / "kernel.py"
        path.write_text(text)
        scope = {"cuda": cuda, "math": math, "np": np, "TENTH": TENTH}
        exec(compile(text, str(path), "exec"), scope)
        return scope["kernel"]

    return make


def test_float32_operations_are_not_reported():
    assert accidents(single_kernel.py_func) == []


@pytest.mark.parametrize("expression", ACCIDENTS)
def test_accidental_float64_is_reported_with_its_causes(kernel_of, expression):
    (found,) = accidents(kernel_of(expression))
    assert list(found.causes) == ACCIDENTS[expression]


@pytest.mark.parametrize("expression", [e for e, causes in ACCIDENTS.items() if causes])
def test_accidental_float64_is_gone_when_its_causes_are_float32(kernel_of, expression):
    (found,) = accidents(kernel_of(expression))
    for cause in found.causes:
        part = f"({cause})" if f"({cause})" in expression else cause
        expression = expression.replace(part, f"np.float32({cause})", 1)
    assert accidents(kernel_of(expression)) == []


def test_accidental_float64_names_a_python_float_argument():
    def kernel(x, scale, out):
        i = cuda.grid(1)
        out[i] = x[i] * scale * x[i]

    single = types.Array(types.float32, 1, "C")
    (found,) = lint.accidents(kernel, (single, types.float64, single), frozenset({1}))
    assert (found.causes, found.kinds) == (("scale",), ("float64",))


def test_accidental_float64_quotes_the_expression_as_written(kernel_of):
    (found,) = accidents(kernel_of("(x[i] * np.float32(TENTH)) / TENTH"))
    assert found.what == "(x[i] * np.float32(TENTH)) / TENTH"


def test_float64_variable_with_other_uses_than_a_float32_store_is_reported():
    def kernel(x, out):
        i = cuda.grid(1)
        twice = 2 * x[i]
        out[i] = twice * twice

    (found,) = accidents(kernel)
    assert found.what == "2 * x[i]"


def chosen_kernel(x, out):
    tile = cuda.shared.array(32, np.float64)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    value = np.float64(x[tid])
    out[tid] = max(tile[tid], value)


def test_explicit_float64_is_not_reported():
    assert accidents(chosen_kernel) == []


def test_explicit_float64_is_found_on_request():
    single = types.Array(types.float32, 1, "C")
    found = lint.accidents(chosen_kernel, (single, single), chosen=True)
    assert [a.what for a in found] == ["cuda.shared.array(32, np.float64)", "np.float64(x[tid])"]


def test_message_suggests_float32_for_explicit_float64():
    what = "cuda.shared.array(32, np.float64)"
    message, fix = describe("float64", {"what": what, "reason": "chosen", "line": 3})
    assert message.startswith(f"`{what}` in line 3 is float64, although")
    assert fix == "write `cuda.shared.array(32, np.float32)`"


def test_message_names_the_literal_and_its_float32_form():
    message, fix = describe(
        "float64", {"what": "x[i] * 0.1", "reason": "literal", "causes": ["0.1"], "line": 3}
    )
    assert message.startswith("`x[i] * 0.1` in line 3 is float64 because of the literal `0.1`,")
    assert fix == "write `np.float32(0.1)`"


def test_message_names_the_types_of_non_literal_causes():
    facts = {"what": "4.0 * n", "causes": ["4.0", "n"], "kinds": ["float64", "int64"], "line": 3}
    message, fix = describe("float64", facts)
    assert message.startswith(
        "`4.0 * n` in line 3 is float64 because of `4.0` (float64) and `n` (int64),"
    )
    assert fix == "write `np.float32(4.0)` and `np.float32(n)`"


@cuda.jit(device=True)
def raised_to(value):
    one = 1.0
    return one + value * value


@cuda.jit(device=True)
def tenth_of(value, _given):
    return TENTH * value


def test_device_function_is_analysed_with_the_types_of_its_call():
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = raised_to(x[i])

    (found,) = accidents(kernel)
    assert (found.location.kernel, found.what) == ("raised_to", "1.0")


@cuda.jit(device=True)
def scaled(value, by):
    return value * by


def test_accidental_float64_in_a_device_function_names_no_cause_in_the_caller():
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = scaled(x[i], 0.1) * x[i]

    (found,) = accidents(kernel)
    assert (found.what, found.causes, found.reason) == ("value * by", (), "argument")


def test_device_function_passed_to_a_vectorized_helper_is_analysed():
    def kernel(x, out):
        map4(tenth_of, x, cuda.grid(1), x, out)

    (found,) = accidents(kernel)
    assert (found.location.kernel, found.what) == ("tenth_of", "TENTH * value")
