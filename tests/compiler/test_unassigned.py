"""Unassigned variables: warnings of a plain launch and findings of a checked one."""

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


def after_a_return(x, out):
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


def every_case_of_an_elif_chain(x, out):
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


def shuffled(x, out):
    i = cuda.grid(1)
    if cuda.laneid == 0:
        v = x[i]
    v = cuda.shfl_sync(0xFFFFFFFF, v, 0)
    out[i] = v


def selected(x, out):
    i = cuda.grid(1)
    if i < 7:
        v = x[i]
    out[i] = v if i < 7 else 0


def found_in_a_loop(x, out):
    i = cuda.grid(1)
    for k in range(x.shape[0]):
        if x[k] > x[i]:
            position = k
            break
    out[i] = position


def under_a_condition_implied_by_the_guard(x, out):
    i = cuda.grid(1)
    j = i + 1
    k = 2 * j
    if k < 50:
        v = x[i]
    cuda.syncthreads()
    if i < 24:
        out[i] = v


def carried_to_the_next_iteration(x, out):
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
    after_a_return,
    last_of_a_loop,
    every_case_of_an_elif_chain,
    two_conditions,
    shuffled,
    selected,
    carried_to_the_next_iteration,
    under_a_condition_implied_by_the_guard,
]
WRONG = [one_branch, one_side_of_two]


def alternating_signs():
    return np.where(np.arange(N) % 2, 1, -1).astype(np.float32)


def over_functions(functions):
    return pytest.mark.parametrize("function", functions, ids=lambda f: f.__name__)


def warnings_of(function):
    kernel = cuda.jit(function)
    x = alternating_signs()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for dtype in (np.float32, np.float64):
            kernel[1, N - 8](x, np.zeros(N, dtype))
    return caught


def findings_of(function):
    x = alternating_signs()
    report = gpukit.check(cuda.jit(function))[1, N - 8](x, np.zeros(N, np.float32))
    return [f for f in report.findings if f.kind == "uninitialised-local"]


@over_functions(WRONG)
@pytest.mark.slow
def test_reading_a_variable_of_one_branch_warns_once_at_the_reading_line(function):
    (one,) = warnings_of(function)
    assert one.category is errors.KernelWarning
    assert (one.filename, one.lineno) == (__file__, line_of(function, "= v"))
    assert f"{function.__name__}: v has a value only if an `if`" in str(one.message)


@over_functions([*SOUND, found_in_a_loop])
@pytest.mark.costly
def test_a_variable_that_may_be_assigned_on_every_path_does_not_warn(function):
    assert warnings_of(function) == []


@over_functions(WRONG)
def test_reading_an_unassigned_variable_is_an_error_of_a_checked_launch(function):
    (found,) = findings_of(function)
    assert (found.severity, found.array, found.index) == ("error", "v", ())
    assert found.line == line_of(function, "= v")
    assert found.threads == ((0, 0, 0),)
    assert found.count == (N - 8) // 2
    assert "reads v in line" in found.message


@over_functions(SOUND)
@pytest.mark.costly
def test_a_variable_assigned_before_every_read_is_no_finding(function):
    assert findings_of(function) == []


def test_a_search_that_finds_nothing_leaves_its_variable_unassigned():
    (found,) = findings_of(found_in_a_loop)
    assert (found.array, found.threads) == ("position", ((1, 0, 0),))


def assigned_without_a_break(x, out):
    i = cuda.grid(1)
    for _ in range(3):
        if x[i] > 10:
            break
    else:
        v = x[i]
    out[i] = v


@pytest.mark.parametrize(("value", "findings"), [(1.0, 0), (20.0, 1)])
def test_a_variable_assigned_in_the_else_of_a_loop_is_unassigned_after_a_break(value, findings):
    kernel = cuda.jit(assigned_without_a_break)
    report = gpukit.check(kernel)[1, N](np.full(N, value), np.zeros(N))
    assert len(report.errors) == findings
