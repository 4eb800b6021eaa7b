"""Hunks of an edit apply at exactly one place or not at all."""

import pytest

from gpukit.course import edits

TEXT = "first\nsecond\nthird\nsecond\n"


def test_the_new_lines_of_each_hunk_replace_its_old_lines():
    hunks = " first\n-second\n+2\n@@\n-third\n"
    assert edits.edited(TEXT, hunks) == "first\n2\nsecond\n"


def test_old_lines_are_searched_in_the_original_text():
    moved = "-first\n@@\n third\n+first\n"
    assert edits.edited(TEXT, moved) == "second\nthird\nfirst\nsecond\n"


@pytest.mark.parametrize(
    ("hunks", "times"),
    [("-fourth\n+4", 0), ("-second\n+2", 2), ("+fourth", 0)],
    ids=["nowhere", "twice", "no old line"],
)
def test_old_lines_that_do_not_occur_exactly_once_are_an_error(hunks, times):
    with pytest.raises(ValueError, match=f"these lines once, got them {times} times"):
        edits.edited(TEXT, hunks)


def test_a_line_without_a_diff_prefix_is_an_error():
    with pytest.raises(ValueError, match=r"to begin with .*\['2'\]"):
        edits.edited(TEXT, "-third\n2")


def test_a_body_replaces_the_lines_under_the_docstring():
    text = 'def f(x):\n    """Return x."""\n    return x\n\n\nEND = 1\n'
    result = edits.with_body(text, "f", "        y = x\n        return y\n")
    assert result == 'def f(x):\n    """Return x."""\n    y = x\n    return y\n\n\nEND = 1\n'
