"""`gpukit check`: findings, files and exit codes."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gpukit import cli
from gpukit.course import catalogue
from tests.cli.watched import RACE_LINE, SOUND, WARNED, WRONG


@pytest.mark.parametrize(("own", "code"), [("check", 1), ("play", 1), ("profile", 2)])
def test_check_counts_launches_that_the_script_itself_checks(own, code, script, capsys):
    text = f"import gpukit\ngpukit.{own}(collide_kernel)[1, 32](one)\n"
    assert cli.main(["check", script(text)]) == code
    assert ("error: global-race" in capsys.readouterr().out) == (code == 1)


PRINTED_BY_THE_SCRIPT = """
import gpukit
def run():
    collide_kernel[1, 32](one)
print({report})
"""


@pytest.mark.parametrize(
    "report", ["gpukit.check(collide_kernel)[1, 32](one)", "gpukit.check(run)()"]
)
def test_findings_printed_by_the_script_are_counted_but_not_printed_again(report, script, capsys):
    assert cli.main(["check", script(PRINTED_BY_THE_SCRIPT.format(report=report))]) == 1
    shown = capsys.readouterr().out
    assert shown.count("error: global-race") == 1
    assert "1 error in collide_kernel[1, 32]" in shown[shown.rindex("What to do") :]
    assert "Already printed above and not repeated: 1 finding." in shown


def test_findings_printed_by_the_script_are_in_the_json(script, capsys):
    text = PRINTED_BY_THE_SCRIPT.format(report="gpukit.check(collide_kernel)[1, 32](one)")
    assert cli.main(["check", "--json", script(text)]) == 1
    assert [f["kind"] for f in json.loads(capsys.readouterr().out)["findings"]] == ["global-race"]


def test_check_counts_an_invalid_launch_once(script, capsys):
    text = "import gpukit\ngpukit.check(fill_kernel)[1, 2000](out)\n"
    assert cli.main(["check", script(text)]) == 1
    assert capsys.readouterr().out.count("error: launch-refused") == 1


def test_check_of_a_correct_script_exits_with_0(script, capsys):
    assert cli.main(["check", script(SOUND)]) == 0
    shown = capsys.readouterr()
    assert "no findings" in shown.out.lower()
    assert "fill_kernel" in shown.out
    assert shown.err == ""


def test_check_of_a_script_without_a_launch_gives_advice_and_exits_with_2(script, capsys):
    assert cli.main(["check", script("")]) == 2
    shown = capsys.readouterr().out
    assert "the script launched no kernel" in shown
    assert "kernel[blocks, threads](...)" in shown


def test_check_of_an_exercise_answer_names_the_command_that_launches_it(tmp_path, capsys):
    folder = tmp_path / "04_reduction" / "block_sum"
    folder.mkdir(parents=True)
    shutil.copy(catalogue.find("block_sum").folder / "exercise.toml", folder)
    answer = folder / "answer.py"
    answer.write_text("from gpukit import cuda\n")
    assert cli.main(["check", str(answer)]) == 2
    assert "launch it with `gpukit test block_sum`" in capsys.readouterr().out


def test_check_prints_an_error_and_exits_with_1(script, capsys):
    assert cli.main(["check", script(WRONG)]) == 1
    words = capsys.readouterr().out
    assert words.startswith("error: global-race at ")
    assert f"script.py:{RACE_LINE}" in words
    assert f"> {RACE_LINE} | out[0] = cuda.threadIdx.x" in words
    assert "What to do: " in words


def test_check_with_warnings_only_exits_with_0(script, capsys):
    assert cli.main(["check", script(WARNED)]) == 0
    assert capsys.readouterr().out.startswith("warning: float64 at ")


def test_check_continues_after_an_error(script, capsys):
    assert cli.main(["check", script(WRONG + SOUND + "print(out[69])")]) == 1
    assert capsys.readouterr().out.startswith("69.0\n")


def test_check_merges_findings_of_many_launches(script, capsys):
    cli.main(["check", "--json", script(f"for _ in range(5):\n    {WRONG}")])
    data = json.loads(capsys.readouterr().out)
    (found,) = data["findings"]
    assert found["count"] == 5 * 31
    assert data["launches"][0]["launches"] == 5


def test_check_json_contains_the_finding_and_the_exit_code(script, capsys):
    assert cli.main(["check", "--json", script(WRONG)]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["schema"], data["exit_code"], data["ok"]) == ("gpukit-check", 1, False)
    (found,) = data["findings"]
    assert (found["kind"], found["line"]) == ("global-race", RACE_LINE)
    assert found["details"]["hazard"] == "write-write"


@pytest.mark.parametrize("error", ["1 / 0", "fill_kernel[3, 32](out, out)"])
def test_check_json_is_complete_when_an_error_ends_the_script(error, script, capsys):
    assert cli.main(["check", "--json", script(WRONG + error)]) == 1
    assert json.loads(capsys.readouterr().out)["findings"]


def test_check_shows_findings_made_before_an_invalid_launch(script, capsys):
    assert cli.main(["check", script(WRONG + "fill_kernel[3, 32](out, out)")]) == 1
    shown = capsys.readouterr()
    assert "global-race" in shown.out
    assert "fill_kernel takes 1 arguments" in shown.err


def test_check_writes_junit_beside_the_text(script, capsys):
    assert cli.main(["check", "--junit", "found.xml", script(WRONG)]) == 1
    suite = ElementTree.parse("found.xml").getroot()
    assert suite.get("failures") == "1"
    failing = [case for case in suite.iter("testcase") if case.find("failure") is not None]
    assert [case.get("name") for case in failing] == ["global-race"]
    assert "global-race" in capsys.readouterr().out


def test_check_writes_a_page_beside_the_text(script):
    assert cli.main(["check", "--html", "found.html", script(WRONG)]) == 1
    page = Path("found.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "global-race" in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_check_writes_its_files_for_a_correct_script(script):
    assert cli.main(["check", "--junit", "a.xml", "--html", "a.html", script(SOUND)]) == 0
    assert ElementTree.parse("a.xml").getroot().get("failures") == "0"
    assert Path("a.html").exists()
