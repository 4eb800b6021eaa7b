"""Variables without a value: what a plain kernel warns of, and what a checked launch finds."""

import warnings

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors, target
from tests.checked.reports import line_of

pytestmark = pytest.mark.skipif(
    target.wanted() == "cuda", reason="these are the messages of gpukit's own compiler"
)
N = 40


def one_branch(x, out):
    i = cuda.grid(1)
    if x[i] > 0:
        v = x[i]
    out[i] = v


def one_side_of_two(x, out):
    i = cuda.grid(1)
    if x[i] > 0:
        v = x[i]
    else:
        out[i] = 0
    out[i] = v


def under_the_same_guard(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        v = x[i]
    cuda.syncthreads()
    if i < x.shape[0]:
        out[i] = v


def behind_a_return(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        v = x[i]
    else:
        return
    out[i] = v


def last_of_a_loop(x, out):
    i = cuda.grid(1)
    for k in range(x.shape[0]):
        last = k
    out[i] = last


def every_case_by_name(x, out):
    i = cuda.grid(1)
    if i % 3 == 0:
        v = x[i]
    elif i % 3 == 1:
        v = -x[i]
    elif i % 3 == 2:
        v = x[i] * x[i]
    out[i] = v


def two_conditions(x, out):
    i = cuda.grid(1)
    if x[i] > 0:
        v = x[i]
    if x[i] <= 0:
        v = -x[i]
    out[i] = v


def handed_over(x, out):
    i = cuda.grid(1)
    if cuda.laneid == 0:
        v = x[i]
    v = cuda.shfl_sync(0xFFFFFFFF, v, 0)
    out[i] = v


def chosen(x, out):
    i = cuda.grid(1)
    if i < 7:
        v = x[i]
    out[i] = v if i < 7 else 0


def found_in_a_loop(x, out):
    i = cuda.grid(1)
    for k in range(x.shape[0]):
        if x[k] > x[i]:
            place = k
            break
    out[i] = place


def under_what_follows_from_the_guard(x, out):
    i = cuda.grid(1)
    j = i + 1
    k = 2 * j
    if k < 50:
        v = x[i]
    cuda.syncthreads()
    if i < 24:
        out[i] = v


def carried_round_a_loop(x, out):
    i = cuda.grid(1)
    acc = np.float32(0)
    for k in range(4):
        if k == 0:
            before = x[i]
        else:
            acc += before
    out[i] = acc


SOUND = [
    under_the_same_guard,
    behind_a_return,
    last_of_a_loop,
    every_case_by_name,
    two_conditions,
    handed_over,
    chosen,
    carried_round_a_loop,
    under_what_follows_from_the_guard,
]
WRONG = [one_branch, one_side_of_two]


def signs():
    return np.where(np.arange(N) % 2, 1, -1).astype(np.float32)


def named(functions):
    return pytest.mark.parametrize("function", functions, ids=lambda f: f.__name__)


def warned(function):
    kernel = cuda.jit(function)
    x = signs()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for dtype in (np.float32, np.float64):
            kernel[1, N - 8](x, np.zeros(N, dtype))
    return caught


def findings(function):
    x = signs()
    report = gpukit.check(cuda.jit(function))[1, N - 8](x, np.zeros(N, np.float32))
    return [f for f in report.findings if f.kind == "uninitialised-local"]


@named(WRONG)
@pytest.mark.slow
def test_a_variable_of_one_branch_is_warned_of_once_at_the_line_that_reads_it(function):
    (one,) = warned(function)
    assert one.category is errors.KernelWarning
    assert (one.filename, one.lineno) == (__file__, line_of(function, "= v"))
    assert f"{function.__name__}: v has a value only where an `if`" in str(one.message)


@named([*SOUND, found_in_a_loop])
@pytest.mark.costly
def test_a_variable_that_may_well_have_a_value_is_not_warned_of(function):
    assert warned(function) == []


@named(WRONG)
def test_a_variable_that_is_read_without_a_value_is_an_error_of_a_checked_launch(function):
    (found,) = findings(function)
    assert (found.severity, found.array, found.index) == ("error", "v", ())
    assert found.line == line_of(function, "= v")
    assert found.threads == ((0, 0, 0),)
    assert found.count == (N - 8) // 2
    assert "reads v in line" in found.message


@named(SOUND)
@pytest.mark.costly
def test_a_variable_that_has_a_value_wherever_it_is_read_is_no_finding(function):
    assert findings(function) == []


def test_a_search_that_finds_nothing_leaves_its_variable_without_a_value():
    (found,) = findings(found_in_a_loop)
    assert (found.array, found.threads) == ("place", ((1, 0, 0),))
