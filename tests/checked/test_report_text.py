"""A report in a terminal: contents, layout at any width, colour."""

import re
import sys
from types import SimpleNamespace

import pytest

from gpukit import status
from gpukit.checked.finding import KINDS
from gpukit.checked.report import Report
from tests.checked.findings import finding, full, nasty, report


def test_a_race_is_shown_with_both_lines_of_its_source():
    assert report(finding("shared-race", count=28)).text(width=100) == (
        "error: shared-race at /course/reduce.py:15 in sum_kernel\n"
        "    12 | tile[tid] = x[i]\n"
        "  > 15 |     total += tile[tid + 1]\n"
        "  Thread 4 of block 2 writes tile[4] in line 12 and thread 3 of the same block reads it "
        "in line 15,\n"
        "  with no barrier in between, so the value read may be the old or the new one.\n"
        "  What to do: put `cuda.syncthreads()` between line 12 and line 15, where all threads of "
        "the block\n"
        "  reach it\n"
        "  Caught 28 times.\n"
        "\n"
        "1 error in sum_kernel[7, 96]: 7 blocks of 96 threads checked."
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_shown_with_severity_message_and_advice(kind):
    one = finding(kind)
    text = report(one).text(width=100)
    assert text.startswith(f"{one.severity}: {kind} ")
    flat = " ".join(text.split())
    assert one.message in flat
    assert f"What to do: {one.fix}" in flat


def test_one_line_with_two_accesses_is_shown_once():
    both = finding("shared-race", other_line=15, other_source="    total += tile[tid + 1]")
    assert str(report(both)).count("total += tile[tid + 1]") == 1


def test_line_numbers_are_right_aligned():
    text = report(finding("shared-race", other_line=9)).text()
    assert "\n     9 | tile" in text
    assert "\n  > 15 |     total" in text


def test_summary_counts_each_severity():
    result = report(finding("shared-race"), finding("misaligned"), finding("float64"))
    assert str(result).endswith(
        "2 errors, 1 warning in sum_kernel[7, 96]: 7 blocks of 96 threads checked."
    )


def test_summary_says_when_the_launch_stopped_early():
    assert "3 of 7 blocks of 96 threads checked" in str(report(finding("raised"), blocks_run=3))


def test_summary_says_when_no_block_ran():
    assert "no blocks checked" in str(report(finding("launch-refused"), blocks_run=0))


def test_a_clean_report_says_what_was_checked():
    assert report().text(width=100).replace("\n", " ") == (
        "No findings: 7 blocks of 96 threads in sum_kernel[7, 96] checked for races, invalid "
        "accesses, uninitialized memory, and misused barriers and masks."
    )


def test_a_report_without_a_launch_does_not_claim_a_check():
    assert str(Report([])) == "Nothing was checked: no kernel was launched."


def test_shapes_of_several_axes_are_written_as_tuples():
    result = report(grid=(3, 2, 1), block=(16, 5, 1), blocks_run=6)
    assert "6 blocks of 80 threads in sum_kernel[(3, 2), (16, 5)]" in str(result)


def test_notes_follow_the_summary():
    assert str(full()).endswith("\nNote: The blocks ran in three orders.")


@pytest.mark.parametrize("width", [30, 47, 80, 100])
def test_no_line_of_prose_is_wider_than_the_terminal(width):
    lines = full().text(width=width).splitlines()
    # Paths and code that are longer than the line are not broken.
    whole = [line for line in lines if "`" not in line and len(line.split()) > 1]
    assert len(whole) > 40
    assert max(map(len, whole)) <= width


def test_long_source_lines_are_cut_at_the_width():
    result = report(finding("float64", source="x" * 200))
    assert "x" * 50 + "...\n" not in result.text(width=50)
    assert max(len(line) for line in result.text(width=50).splitlines() if "xxx" in line) == 50


@pytest.mark.parametrize(("columns", "widest"), [("60", 60), ("300", 100)])
def test_text_is_as_wide_as_the_terminal_up_to_100(monkeypatch, columns, widest):
    monkeypatch.setenv("COLUMNS", columns)
    lines = str(full()).splitlines()
    assert widest - 12 < max(map(len, lines)) <= widest


def test_text_in_a_notebook_is_as_wide_as_its_page(monkeypatch):
    monkeypatch.setattr(status, "in_notebook", lambda: True)
    assert 60 < max(map(len, str(full()).splitlines())) <= 76


def test_code_between_backticks_is_not_broken():
    for width in range(40, 100):
        assert "`if i + 1 < x.shape[0]:`" in report(finding("out-of-bounds")).text(width=width)


def test_text_is_plain_unless_colour_is_asked_for():
    assert "\033" not in str(full())
    assert "\033[1;31merror:\033[0m" in full().text(colour=True)


@pytest.mark.parametrize("width", [33, 100])
def test_colour_changes_nothing_but_colour(width):
    coloured = full().text(colour=True, width=width)
    assert re.sub("\033\\[[0-9;]*m", "", coloured) == full().text(width=width)


def test_every_colour_ends_on_its_line():
    for line in full().text(colour=True).splitlines():
        assert line.count("\033[0m") == line.count("\033[") / 2


def test_many_findings_are_cut_short_and_counted():
    result = report(*(finding("shared-race", line=line) for line in range(20, 80)))
    assert result.text(limit=10).count("error: ") == 10
    assert "50 more are not shown here" in result.text(limit=10)
    assert "60 errors in" in result.text(limit=10)


def test_control_characters_in_the_source_are_escaped():
    assert not re.search("[\x00-\x09\x0b-\x1f]", str(nasty()))


def test_files_below_this_folder_are_named_from_here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    here = finding("float64", file=str(tmp_path / "labs" / "sum.py"))
    place = "labs\\sum.py" if sys.platform == "win32" else "labs/sum.py"
    assert str(report(here)).startswith(f"warning: float64 at {place}:15 in sum_kernel")


def test_cells_of_a_notebook_are_named_as_ipython_names_them(monkeypatch):
    compiler = SimpleNamespace(format_code_name=lambda file: ("Cell", "In[3]"))
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(compile=compiler))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    result = report(finding("float64"))
    assert str(result).startswith("warning: float64 at Cell In[3], line 15 in sum_kernel")


def test_report_repr_is_its_text():
    assert repr(full()) == str(full())
