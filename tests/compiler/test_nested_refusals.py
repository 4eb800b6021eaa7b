"""Nested functions that cannot be inlined, and errors inside nested functions."""

import numpy as np
import pytest

from gpukit import cuda, errors
from tests.compiler.test_nested import call, own_compiler, poisoned, reduced, square
from tests.compiler.test_refusals import kernel_of
from tests.compiler.texts import refusal


def test_a_nested_function_passed_as_an_argument_may_capture_only_constants():
    @cuda.jit
    def kernel(a, out):
        v = a[0]
        out[0] = call(lambda x: x + v, a[1])

    with pytest.raises(Exception, match=r"Cannot capture the non-constant value .*'v'"):
        kernel[1, 1](np.ones(2), poisoned(1))


PASS_V = "pass v to f as an argument"
# Body of the kernel, part of the message.
UNSUPPORTED = {
    "@cuda.jit(device=True)\ndef f(x):  # here\n return x\na[0] = f(1)": "remove the decorator",
    "def f(x, *, y):  # here\n    return x\na[0] = f(1, y=2)": "name each",
    "def f(x):\n    return f(x - 1)  # here\na[0] = f(1)": "as a loop",
    "v = a[0]\ndef f(x):\n    return x + v\nv = a[1]  # here\na[2] = f(1)": PASS_V,
    "v = 0\ndef f(x):\n    return x + v\nfor v in range(3):  # here\n    a[2] = f(1)": PASS_V,
    "def f(x):\n    return x\ndef f(x):  # here\n    return 2 * x\na[0] = f(1)": "more than once",
    "if a[0] > 0:\n    def f(x):\n        return x\na[0] = f(1)": "may not be defined",
    "a[0] = f(1)  # here\ndef f(x):\n    return x": "may not be defined",
    "def f(x):\n    return x\ng = f  # here\na[0] = g(1)": "used as a value",
    "def f(x, y=a[0]):  # here\n    return x\na[0] = f(1)": "default value",
    "def f(x, y):\n    return x\na[0] = f(1, y=2)": "in order",
    "def f(x, y=1, z=2):\n    return x\na[0] = f(1, 2)": "in order",
    "def f(*x):\n    return x[0]\na[0] = f(1)": "name each argument",
    "t = (1, 2)\ndef f(x, y):\n    return x\na[0] = f(*t)": "write each argument",
}


@own_compiler
@pytest.mark.parametrize("body", UNSUPPORTED)
def test_a_nested_function_that_cannot_be_inlined_is_refused_at_its_line(body):
    assert UNSUPPORTED[body] in refusal(kernel_of(body), body, errors.Unsupported)


@own_compiler
@pytest.mark.parametrize(
    ("call", "message"), [("f()", "missing"), ("f(1, 2)", "too many"), ("f(1, 2, 3)", "too many")]
)
def test_wrong_arguments_are_reported_at_the_call(call, message):
    body = f"def f(x):\n    return x\na[0] = {call}"
    assert message in refusal(kernel_of(body), body, errors.Invalid)


AS_ARGUMENT = {
    "lambda x, y: x + cuda.threadIdx.x": "it uses cuda.threadIdx",
    "lambda x, y: x + TABLE[0]": "brackets",
    "lambda x, y: square(x)": "it uses square",
}
TABLE = (1, 2)


@own_compiler
@pytest.mark.parametrize("function", AS_ARGUMENT)
def test_a_function_passed_as_an_argument_must_not_depend_on_the_kernel(function):
    body = f"a[0] = reduced({function}, a[1], a[2])"
    kernel = kernel_of(body)
    kernel.py_func.__globals__.update(reduced=reduced, square=square, TABLE=TABLE)
    assert AS_ARGUMENT[function] in refusal(kernel, body, errors.Unsupported)


@own_compiler
def test_an_out_of_bounds_access_is_reported_at_the_line_in_the_function():
    body = "def f(k):\n    return a[k]  # here\na[0] = f(7)"
    with pytest.raises(errors.OutOfBounds) as caught:
        kernel_of(body)[1, 1](np.zeros(4))
    assert caught.value.source.endswith("# here")


@own_compiler
def test_an_access_through_an_index_function_is_reported_as_written():
    body = "w = 3\nat = lambda r, c: r * w + c\na[at(int(a[0]), 1)] = 1"
    with pytest.raises(errors.OutOfBounds, match=r"a\[at\(int\(a\[0\]\), 1\)\]: index"):
        kernel_of(body)[1, 1](np.full(4, 7.0))
    with pytest.raises(errors.OutOfBounds, match=r"a\[at\(2, 1\)\]: index"):
        kernel_of(body.replace("int(a[0])", "2"))[1, 1](np.zeros(4))


@own_compiler
def test_kernels_that_differ_only_in_a_nested_function_are_compiled_separately(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("GPUKIT_CACHE_DIR", str(tmp_path))
    found = []
    for value in (1, 2):
        path = tmp_path / "same.py"
        path.write_text(
            "from gpukit import cuda\n\n\n@cuda.jit\ndef kernel(a):\n"
            f"    def f():\n        return {value}\n\n    a[0] = f()\n"
        )
        scope = {"__name__": "same"}
        exec(compile(path.read_text(), str(path), "exec"), scope)
        a = poisoned(1)
        scope["kernel"][1, 1](a)
        found.append(a[0])
    assert found == [1, 2]
