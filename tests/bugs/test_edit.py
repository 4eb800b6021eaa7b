"""Edits of a function's source apply in one place, or not at all."""

from __future__ import annotations

import inspect

import pytest

from tests.bugs.edit import edit


def helper(v):
    return v + 1


def sums(v):
    a = helper(v)
    b = helper(v)
    return a + b


def test_the_lines_of_a_hunk_replace_those_of_the_source() -> None:
    product = edit([sums], "-    return a + b\n+    c = a * b\n+    return c - 1", "product")
    assert (sums(4), product.function(4)) == (10, 24)


def test_an_edit_of_a_helper_changes_the_function_that_calls_it() -> None:
    hunks = "-    return v + 1\n+    return v - 1\n@@\n-    return a + b\n+    return a - 2 * b"
    assert edit([helper, sums], hunks, "both").function(4) == -3
    assert sums(4) == 10


def test_marked_lines_are_those_of_the_edited_source() -> None:
    hunks = "-    a = helper(v)\n+    a = v\n     b = helper(v)  # BUG\n+    b += 1  # BUG"
    marked = edit([sums], hunks, "marked")
    lines, first = inspect.getsourcelines(marked.function)
    assert first == 1
    assert [lines[k - 1].strip() for k in sorted(marked.lines)] == [
        "b = helper(v)  # BUG",
        "b += 1  # BUG",
    ]


def test_the_error_of_an_edit_that_does_not_apply_names_it() -> None:
    with pytest.raises(ValueError, match="the edit 'bad': expected these lines once"):
        edit([sums], "-    return a", "bad")
