"""Variations of a solution: the changes made, and the answers that they explain."""

import ast

import pytest

from gpukit.course import explain, variations
from gpukit.course.variations import Variation

KERNEL = """
import numpy as np
LIMIT = np.float32(2)

def kernel(x, y, out):
    i = cuda.grid(1)
    total = np.float32(0)
    high = np.float32(-np.inf)
    for k in range(i, x.size, 32):
        total += x[k] * (y[k] - total)
        high = max(2 * x[k], LIMIT)
    cuda.syncthreads()
    if i < out.size and i > 0:
        out[i] = math.sqrt(total) + high
"""


@pytest.fixture(scope="module")
def changes():
    return {(v.right, v.wrong) for v in variations.of(KERNEL)}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("total += x[k] * (y[k] - total)", ""),
        ("total += x[k] * (y[k] - total)", "total -= x[k] * (y[k] - total)"),
        ("total += x[k] * (y[k] - total)", "total = x[k] * (y[k] - total)"),
        ("total += x[k] * (y[k] - total)", "total += x[k] * y[k] - total"),
        ("total += x[k] * (y[k] - total)", "total += y[k] - total"),
        ("total += x[k] * (y[k] - total)", "total += x[k] * (x[k] - total)"),
        ("high = max(2 * x[k], LIMIT)", "high = min(2 * x[k], LIMIT)"),
        ("high = max(2 * x[k], LIMIT)", "high = 2 * max(x[k], LIMIT)"),
        ("high = max(2 * x[k], LIMIT)", "high = max(2 * int(x[k]), LIMIT)"),
        ("for k in range(i, x.size, 32):", "for k in range(i, x.size, 64):"),
        ("for k in range(i, x.size, 32):", "for k in range(i, x.size):"),
        ("for k in range(i, x.size, 32):", "for k in range(i, min(x.size, 128), 32):"),
        ("for k in range(i, x.size, 32):", "for k in range(i, out.size, 32):"),
        ("if i < out.size and i > 0:", "if i <= out.size and i > 0:"),
        ("if i < out.size and i > 0:", "if i < out.size:"),
        ("if i < out.size and i > 0:", "if True:"),
        ("out[i] = math.sqrt(total) + high", "out[i] = total + high"),
        ("out[i] = math.sqrt(total) + high", "out[i] = -(math.sqrt(total) + high)"),
        (
            "high = np.float32(-np.inf)",
            "high = np.float32(0.0)  # or another initial value that is not below all numbers",
        ),
        ("high = max(2 * x[k], LIMIT)", "high = max(2 * x[k], LIMIT)  # after the loop"),
    ],
)
def test_a_variation_changes_one_thing(changes, right, wrong):
    assert (right, wrong) in changes


def test_a_repeated_expression_is_changed_everywhere(changes):
    right = "for k in range(i, x.size, 32):\ntotal += x[k] * (y[k] - total)"
    assert any(old.startswith(right) and "range(i, y.size, 32)" in new for old, new in changes)


def test_no_variation_removes_a_barrier():
    assert all("cuda.syncthreads()" in variation.text for variation in variations.of(KERNEL))


def test_variations_do_not_modify_the_syntax_tree():
    first = [variation.text for variation in variations.of(KERNEL)]
    assert ast.unparse(ast.parse(KERNEL)) not in first
    assert first == [variation.text for variation in variations.of(KERNEL)]


def test_a_starter_line_that_does_not_fit_is_skipped():
    assert list(variations.unfixed("if a:\n    b()\n", "d()\ne()\n")) == []


def variation(right, wrong="a changed line", still="", rank=0):
    return Variation(rank, right, wrong, "", still)


def test_changes_in_three_places_explain_nothing():
    assert explain.varied([variation(line) for line in "abc"], "") == ""
    assert explain.varied([], "") == ""


def test_two_places_are_both_named():
    message = explain.varied([variation("one", "1"), variation("two", "2")], "")
    assert message.index("correct:  one") < message.index("So does") < message.index("changed:  2")


def test_a_missing_line_is_called_missing():
    assert "changed:  (this line is missing)" in explain.varied([variation("one", "")], "")


def test_a_leftover_starter_line_is_named():
    left = [variation("right", "wrong", still="wrong")]
    message = "This line of the starter is still wrong: `wrong`."
    assert explain.varied(left, "if True:\n    wrong\n") == message


def test_a_removed_starter_line_is_not_called_wrong():
    message = explain.varied([variation("right", "wrong", still="wrong")], "other")
    assert "starter" not in message
    assert "changed:  wrong" in message


def test_the_statement_after_a_loop_may_move_into_it():
    text = "def kernel(x):\n    for k in range(3):\n        a = k\n    b = a\n    c = b\n"
    found = {(v.right, v.wrong) for v in variations.of(text)}
    assert ("b = a", "for k in range(3):\n    ...\n    b = a") in found
