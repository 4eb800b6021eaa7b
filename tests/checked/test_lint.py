"""What is float64 by accident in kernels of float32 arrays, as the GPU's compiler has it.

Which of these hold a double was read off the PTX that NVVM makes of them for sm_80.
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
    """Does one operation on float32 at a time, with literals that float32 holds exactly."""
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
    """Return a function that makes `out[i] = <expression>` a kernel's function, in a file."""

    def make(expression):
        text = f"def kernel(x, out):\n    i = cuda.grid(1)\n    out[i] = {expression}\n"
        path = tmp_path / "kernel.py"
        path.write_text(text)
        scope = {"cuda": cuda, "math": math, "np": np, "TENTH": TENTH}
        exec(compile(text, str(path), "exec"), scope)
        return scope["kernel"]

    return make


def test_operations_that_a_gpu_does_in_float32_are_no_accident():
    assert accidents(single_kernel.py_func) == []


@pytest.mark.parametrize("expression", ACCIDENTS)
def test_an_accident_names_the_literals_and_integers_that_cause_it(kernel_of, expression):
    (found,) = accidents(kernel_of(expression))
    assert list(found.causes) == ACCIDENTS[expression]


@pytest.mark.parametrize("expression", [e for e, causes in ACCIDENTS.items() if causes])
def test_an_accident_is_gone_when_its_causes_are_float32(kernel_of, expression):
    (found,) = accidents(kernel_of(expression))
    for cause in found.causes:
        part = f"({cause})" if f"({cause})" in expression else cause
        expression = expression.replace(part, f"np.float32({cause})", 1)
    assert accidents(kernel_of(expression)) == []


def test_an_accident_names_the_argument_that_is_a_float_of_python():
    def kernel(x, scale, out):
        i = cuda.grid(1)
        out[i] = x[i] * scale * x[i]

    single = types.Array(types.float32, 1, "C")
    (found,) = lint.accidents(kernel, (single, types.float64, single), frozenset({1}))
    assert (found.causes, found.kinds) == (("scale",), ("float64",))


def test_an_accident_shows_the_expression_as_it_is_written(kernel_of):
    (found,) = accidents(kernel_of("(x[i] * np.float32(TENTH)) / TENTH"))
    assert found.what == "(x[i] * np.float32(TENTH)) / TENTH"


def test_a_variable_that_is_read_for_more_than_its_store_stays_float64():
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


def test_float64_that_was_chosen_is_no_accident():
    assert accidents(chosen_kernel) == []


def test_float64_that_was_chosen_is_found_where_it_is_asked_for():
    single = types.Array(types.float32, 1, "C")
    found = lint.accidents(chosen_kernel, (single, single), chosen=True)
    assert [a.what for a in found] == ["cuda.shared.array(32, np.float64)", "np.float64(x[tid])"]


def test_words_offer_float32_for_float64_that_was_chosen():
    what = "cuda.shared.array(32, np.float64)"
    message, fix = describe("float64", {"what": what, "reason": "chosen", "line": 3})
    assert message.startswith(f"`{what}` in line 3 is float64, though")
    assert fix == "write `cuda.shared.array(32, np.float32)`"


def test_words_name_the_literal_and_its_float32():
    message, fix = describe(
        "float64", {"what": "x[i] * 0.1", "reason": "literal", "causes": ["0.1"], "line": 3}
    )
    assert message.startswith("`x[i] * 0.1` in line 3 is float64 because of the literal `0.1`,")
    assert fix == "write `np.float32(0.1)`"


def test_words_name_the_types_of_causes_that_are_no_literals():
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


def test_a_device_function_is_looked_at_in_the_kernel_that_calls_it():
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = raised_to(x[i])

    (found,) = accidents(kernel)
    assert (found.location.kernel, found.what) == ("raised_to", "1.0")


@cuda.jit(device=True)
def scaled(value, by):
    return value * by


def test_an_accident_names_no_cause_of_the_caller_in_a_device_function():
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = scaled(x[i], 0.1) * x[i]

    (found,) = accidents(kernel)
    assert (found.what, found.causes, found.reason) == ("value * by", (), "argument")


def test_a_device_function_that_is_handed_to_one_that_moves_four_is_looked_at():
    def kernel(x, out):
        map4(tenth_of, x, cuda.grid(1), x, out)

    (found,) = accidents(kernel)
    assert (found.location.kernel, found.what) == ("tenth_of", "TENTH * value")
