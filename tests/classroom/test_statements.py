"""The statements that students have to find are recognized, however a text writes them."""

import pytest

from gpukit.classroom import statements
from tests.classroom import courses

SECRET = ["y[i] = a[i] * x[i] + b[i]", "if i < y.size:"]


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Make an exercise with these two statements."""
    return courses.begin(tmp_path, monkeypatch)


def test_the_statements_that_compute_are_secret_and_vocabulary_is_not(made):
    assert sorted(statements.secret(made)) == sorted(SECRET)


@pytest.mark.parametrize("file", ["starter.py", "task.md"])
def test_a_statement_that_students_are_given_is_no_secret(made, file):
    path = made.folder / file
    path.write_text(path.read_text() + "\n# if i<y.size:\n")
    assert statements.secret(made) == SECRET[:1]


@pytest.mark.parametrize(
    "text",
    [
        "y[i] = a[i] * x[i] + b[i]",
        "def f(a, x, b, y, i):\n    y[i] = (a[i] * x[i]) + b[i]  # right",
        "# y[i]=a[i]*x[i]+b[i]",
        "Then y[i] =\na[i] * x[i] + b[i] is stored.",
    ],
    ids=["itself", "brackets", "a comment", "words"],
)
def test_a_statement_is_found(text):
    assert [found.statement for found in statements.shown(text, SECRET)] == SECRET[:1]


@pytest.mark.parametrize("text", ["", "y[i] = a[i] * x[i]", "if j < y.size:", "y = a * x + b"])
def test_another_statement_is_not_found(text):
    assert statements.shown(text, SECRET) == []


def test_the_line_of_a_statement_is_named():
    text = '"""A\nB"""\nif (i <\n  y.size):\n    pass\ny[i] = (a[i] * x[i]) + b[i]\n'
    lines = {found.statement: found.line for found in statements.shown(text, SECRET)}
    assert lines == {SECRET[0]: 6, SECRET[1]: 3}


def test_a_size_alone_is_vocabulary(made):
    exercise = courses.edit(made, "solution.py", "    if i <", "    n = y.shape[0]\n    if i <")
    assert sorted(statements.secret(exercise)) == sorted(SECRET)
