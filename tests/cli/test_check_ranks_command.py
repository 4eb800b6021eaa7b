"""`gpukit check --ranks N`: a parallel program on virtual ranks."""

import json

import pytest

from gpukit import cli

RIGHT = """
from gpukit import parallel
world = parallel.World()
total = world.all_reduce(np.array([1.0 + world.rank]), name="total")
if world.rank == 0:
    print("the total is", total[0])
"""
WRONG = RIGHT.replace("world.all_reduce", "world.rank and world.all_reduce")


def test_right_script_exits_with_0_and_prints_what_it_prints_once(script, capsys):
    assert cli.main(["check", "--ranks", "3", script(RIGHT)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("the total is 6.0") == 1
    assert "the total is 1.0" not in shown
    assert "No findings in" in shown
    assert "on 3 ranks" in shown


def test_finding_is_printed_and_the_exit_code_is_1(script, capsys):
    path = script("import sys\nassert sys.argv[1:] == ['--fast']\n" + WRONG)
    assert cli.main(["check", "--ranks", "2", path, "--fast"]) == 1
    shown = capsys.readouterr().out
    assert "error: raised at script.py" in shown
    assert "Rank 0 raised TypeError" in shown


def test_json_is_all_that_is_printed(script, capsys):
    assert cli.main(["check", "--ranks", "2", "--json", script(RIGHT)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["ranks"], data["operations"], data["findings"]) == (2, 2, [])


def test_page_is_written(script, tmp_path):
    page = tmp_path / "report.html"
    assert cli.main(["check", "--ranks", "2", "--html", str(page), script(RIGHT)]) == 0
    assert "No findings in" in page.read_text()


@pytest.mark.parametrize("option", [["-m"], ["--junit", "file.xml"]])
def test_option_that_does_not_go_with_ranks_is_refused(option, script, capsys):
    assert cli.main(["check", "--ranks", "2", *option, script(RIGHT)]) == 2
    assert f"{option[0]} does not go with --ranks" in capsys.readouterr().err


def test_exit_code_of_the_script_is_a_finding(script, capsys):
    assert cli.main(["check", "--ranks", "2", script("import sys; sys.exit(5)")]) == 1
    assert "the script ended with exit code 5" in capsys.readouterr().out
