"""Answers in host code: a tape, a training step."""

import pytest

from tests.course.changes import edit


def test_failing_host_code_is_shown_with_its_computation(attempt):
    report = attempt("tape", edit(("found[part] += slope", "found[part] = slope")))
    assert report.failed.sizes() == "a = Value(-1.4); b = a + a; b.backward()"


def test_host_code_under_another_name_is_recognised(attempt):
    report = attempt("tape", edit(("class Value:", "class Values:")))
    assert report.status == "missing"
    assert "Expected Value, found nothing callable with that name" in report.why
    assert "Did you mean Values? Rename it to Value." in report.why


def test_imported_host_code_is_rejected(attempt):
    report = attempt("tape", "from decimal import Decimal as Value\n")
    assert report.status == "missing"
    assert "Write it yourself" in report.why


def test_a_function_with_other_parameters_is_rejected(attempt):
    report = attempt("training_step", edit(("label, most", "label, most, extra")))
    assert "5 parameters. Yours has 6" in report.why


def test_host_code_that_times_out_gets_an_explanation(attempt):
    report = attempt("tape", edit(("if value not in seen:", "if True:")), seconds=2)
    assert report.status == "timeout"
    assert "visit each value once" in report.why


def test_host_code_has_no_checked_launches(attempt):
    report = attempt("tape", edit())
    assert report.passed
    assert not any(row.name.startswith("checked") for row in report.rows)


@pytest.mark.parametrize("copy", ["loss.copy_to_host()", "np.asarray(loss)"])
def test_each_copy_to_the_host_is_counted(attempt, copy):
    twice = (
        ("import gpukit\n", "import numpy as np\nimport gpukit\n"),
        ("    optimizer.step()\n", f"    optimizer.step()\n    {copy}\n"),
    )
    report = attempt("training_step", edit(*twice))
    assert report.status == "but"
    assert "6 device-to-host copies; required: at most 3" in report.why
