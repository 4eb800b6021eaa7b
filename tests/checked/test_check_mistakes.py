"""gpukit.check on mistakes visible in the source; the corpus holds the bugs themselves."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from tests.compiler import texts

MISTAKES = {"lost-value", "no-effect", "zero-division", "stale-constant"}
NOTHING = 0

# Bodies of `kernel(a, n, x)` (array, integer, float) without such a mistake.
FINE = [
    "x = 2 * x\na[0] = x",
    "while n > 0:\n    n //= 2\n    a[0] += 1",
    "for k in range(3):\n    a[k] = x\n    x += 1",
    "for k in range(3):\n    x += a[k]\na[0] = x",
    "for k in range(3):\n    if a[k] > x:\n        x = a[k]\na[0] = x",
    "if n > 3:\n    n = 3\nfor k in range(n):\n    a[k] = 1",
    "a = a[1:]\na[0] = 1",
    "b = cuda.shared.array(4, np.float32)\nb[0] = a[0]\na = b\na[1] = 1",
    "x, n = 1.0, 2\na[0] = 1",
    "x = 3.0\ndef inner():\n    return x\na[0] = inner()",
    "for k in range(2):\n    if k > 0:\n        a[0] = x\n    else:\n        x = 2.0",
    "a[0] = twice(x)",
    "if NOTHING > 0:\n    a[0] = n // NOTHING",
    "a[0] = x / 0.0",
    "'text'\n...\na[0] = x",
    "if n == 5:\n    twice(x)\na[0] = x",
    "cuda.atomic.add(a, 0, 1)",
]


@cuda.jit(device=True)
def twice(x):
    x *= 2
    return x


def mistakes(kernel, *arguments):
    found = gpukit.check(kernel)[1, 1](*arguments).findings
    return [f for f in found if f.kind in MISTAKES]


@pytest.mark.parametrize("body", FINE)
@pytest.mark.costly
def test_used_value_has_no_findings(body):
    kernel = texts.kernel_of(body, "a, n, x", NOTHING=NOTHING, twice=twice)
    assert mistakes(kernel, np.zeros(8), 5, 1.5) == []


LOST = [
    "x += a[0]",
    "for k in range(3):\n    x += a[k]",
    "for k in range(3):\n    x = max(x, a[k])",
    "if a[0] > x:\n    x = a[0]\nelse:\n    x = 1.0",
    "a[0] = x\nx = 3.0",
    "if a.size > 3:\n    a = 2 * x",
]


@pytest.mark.parametrize("body", LOST)
@pytest.mark.costly
def test_parameter_assigned_and_never_read_again_is_named(body):
    kernel = texts.kernel_of(body, "a, n, x")
    (found,) = mistakes(kernel, np.zeros(8), 5, 1.5)
    assert (found.kind, found.severity) == ("lost-value", "warning")
    assert "`x`" in found.message or "`a`" in found.message


def test_unchanged_global_is_not_reported_at_the_next_launch():
    kernel = texts.kernel_of("a[0] = TABLE[1] * SCALE", TABLE=np.arange(3.0), SCALE=np.nan)
    assert [mistakes(kernel, np.zeros(8)) for _ in range(2)] == [[], []]


def test_new_kernel_captures_the_current_value_of_a_global():
    table = np.arange(3.0)
    for _ in range(2):
        kernel = texts.kernel_of("a[0] = TABLE[1]", TABLE=table)
        a = np.zeros(1)
        assert mistakes(kernel, a) == []
        assert a[0] == table[1]
        table += 1


def test_changed_global_is_reported_once_at_its_first_use():
    kernel = texts.kernel_of("a[0] = SCALE\na[1] = SCALE", SCALE=2.0)
    assert mistakes(kernel, np.zeros(8)) == []
    kernel.py_func.__globals__["SCALE"] = 3.0
    (found,) = mistakes(kernel, np.zeros(8))
    assert (found.kind, found.source) == ("stale-constant", "a[0] = SCALE")
    assert "pass `SCALE`" in found.fix


WITHOUT_EFFECT = {
    "a[0] == n": ("a[0] == n", "`a[0] = n`"),
    "x == twice(x)": ("x == twice(x)", "`x = twice(x)`"),
    "a[0] + 1": ("a[0] + 1", "remove the line"),
    "if n > 3:\n    a[0] < x": ("a[0] < x", "remove the line"),
    "n": ("n", "remove the line"),
}


@pytest.mark.parametrize("body", WITHOUT_EFFECT)
@pytest.mark.costly
def test_statement_without_effect_is_found_with_a_fix(body):
    kernel = texts.kernel_of(f"{body}\na[1] = x", "a, n, x", twice=twice)
    (found,) = mistakes(kernel, np.zeros(8), 5, 1.5)
    what, fix = WITHOUT_EFFECT[body]
    assert (found.kind, found.severity, found.details["what"]) == ("no-effect", "warning", what)
    assert fix in found.fix


@cuda.jit(device=True)
def compares(a):
    a[0] == 3  # noqa: B015
    return a[1]


def test_statement_without_effect_is_found_in_a_device_function():
    kernel = texts.kernel_of("a[2] = compares(a)", "a, n, x", compares=compares)
    (found,) = mistakes(kernel, np.zeros(8), 5, 1.5)
    assert (found.kind, found.kernel, found.source[:9]) == ("no-effect", "compares", "a[0] == 3")
