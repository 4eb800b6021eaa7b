"""Common behaviour of `gpukit check`, `profile` and `play` on scripts."""

import contextlib
import json
import sys
from pathlib import Path

import pytest

from gpukit import cli
from tests.cli.watched import COMMANDS, SOUND, WARNED, WRONG

# Exit codes without a launch: a check of nothing must not look like a check without findings.
NOTHING = {"check": 2, "profile": 0, "play": 0}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_the_command_does(command, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([command, "--help"])
    assert stop.value.code == 0
    words = " ".join(capsys.readouterr().out.split())
    assert f"usage: gpukit {command}" in words
    assert "SCRIPT.py" in words
    assert "print only JSON" in words


@pytest.mark.parametrize("command", ["run", *COMMANDS])
def test_a_missing_script_exits_with_2_and_one_sentence(command, capsys):
    assert cli.main([command, "not_there.py"]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"gpukit: error: {command}: expected a Python script")
    assert "Traceback" not in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_failure_before_the_first_launch_is_not_reported_as_no_launch(command, script, capsys):
    assert cli.main([command, script("fill_kernel[3, 32](out.tolist())")]) == 1
    shown = capsys.readouterr()
    assert "stopped with an error before it launched a kernel" in shown.out
    assert "no kernel" not in shown.out


@pytest.mark.parametrize("command", COMMANDS)
def test_a_script_that_fails_shows_no_frames_of_gpukit(command, script, capsys):
    path = script("def go():\n    fill_kernel[3, 32](out.tolist())\n\ngo()\n")
    assert cli.main([command, path]) == 1
    shown = capsys.readouterr().err
    assert shown.count('  File "') == shown.count(f'  File "{path}"') >= 2


BAD = "@cuda.jit\ndef bad_kernel(out):\n    out[0] = out.nonsense\n\nbad_kernel[1, 1](out)\n"


OUTSIDE = "@cuda.jit\ndef off_kernel(out):\n    out[70] = 1\n\noff_kernel[1, 1](out)\n"


@pytest.mark.parametrize(
    ("command", "text"),
    [*((command, BAD) for command in ("run", *COMMANDS)), ("run", OUTSIDE), ("profile", OUTSIDE)],
)
def test_an_error_that_names_its_line_is_shown_without_a_traceback(command, text, script, capsys):
    path = script(text)
    line = 1 + Path(path).read_text(encoding="utf-8").split("\n").index(text.split("\n")[2])
    assert cli.main([command, path]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith(f"gpukit: error: {path}:{line} in ")
    assert "What to do: " in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("own", COMMANDS)
def test_launches_that_the_script_itself_checks_are_not_reported_as_no_launch(
    command, own, script, capsys
):
    cli.main([command, script(f"import gpukit\ngpukit.{own}(collide_kernel)[1, 32](one)\n")])
    words = " ".join(capsys.readouterr().out.split())
    assert "no kernel" not in words
    counted = command == "check" and own != "profile"
    assert (f"all launches of the script are made by gpukit.{own}." in words) is not counted


def test_a_check_in_the_script_that_raises_counts_as_a_launch(script, capsys):
    text = """
    import gpukit
    try:
        gpukit.profile(fill_kernel)[1, 32](np.zeros(3, np.complex256))
    except Exception as error:
        print(type(error).__name__)
    """
    cli.main(["profile", script(text)])
    shown = " ".join(capsys.readouterr().out.split())
    assert "all launches of the script are made by gpukit.profile" in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_message_about_no_launch_fits_the_terminal(command, script, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    cli.main([command, script("")])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


@pytest.mark.parametrize("command", COMMANDS)
def test_a_script_gets_its_arguments(command, script, capsys):
    path = script("print(sys.argv[1:])\n" + SOUND)
    assert cli.main([command, path, "--n", "3", "--json"]) == 0
    assert capsys.readouterr().out.startswith("['--n', '3', '--json']\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_script_without_launches_is_reported(command, script, capsys):
    assert cli.main([command, script("")]) == NOTHING[command]
    words = capsys.readouterr().out.lower()
    assert "no kernel" in words


@pytest.mark.parametrize("command", COMMANDS)
def test_json_of_a_script_without_launches_is_json(command, script, capsys):
    assert cli.main([command, "--json", script("")]) == NOTHING[command]
    data = json.loads(capsys.readouterr().out)
    assert (data["launches"] if command == "check" else data) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_all_of_standard_output_whatever_a_script_and_its_child_print(
    command, script, capfd
):
    path = script("""
        import os, subprocess
        print("hello")
        subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
        os.write(1, b"straight to the file")
        fill_kernel[3, 32](out)
    """)
    assert cli.main([command, "--json", path]) == 0
    shown = capfd.readouterr()
    json.loads(shown.out)
    words = ("hello", "from a child", "straight to the file")
    assert [output for output in words if output not in shown.err] == []


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.costly
def test_a_script_that_fails_exits_with_1_and_its_own_traceback(command, script, capsys):
    assert cli.main([command, script(SOUND + "1 / 0")]) == 1
    words = capsys.readouterr().err
    assert "ZeroDivisionError" in words
    assert "script.py" in words
    assert "gpukit/" not in words


@pytest.mark.parametrize("command", [*COMMANDS, "estimate"])
@pytest.mark.parametrize(
    ("failing", "first"),
    [("1 / 0", "Traceback"), ("fill_kernel[3, 2000](out)", "Traceback"), (BAD, "gpukit: error:")],
    ids=["Python", "launch", "kernel"],
)
@pytest.mark.costly
def test_results_before_a_script_failed_are_followed_by_a_note_and_the_error(
    command, failing, first, script, capsys
):
    path = script(SOUND + failing)
    with contextlib.redirect_stderr(sys.stdout):
        cli.main([command, path])
    results, note, error = capsys.readouterr().out.partition(
        "Note: The script was stopped by an error; nothing after that was "
    )
    assert "fill_kernel" in results
    assert "rror" not in results
    assert note
    assert error.partition(".\n")[2].startswith(first)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.costly
def test_the_exit_code_of_a_correct_script_is_preserved(command, script):
    assert cli.main([command, script(SOUND + "sys.exit(5)")]) == 5


@pytest.mark.parametrize("command", ["check", "play"])
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize(("launch", "code"), [(WRONG, 1), (WARNED, 0)], ids=["error", "warning"])
def test_a_command_that_reports_findings_exits_with_1_only_for_errors(
    command, options, launch, code, script, capsys
):
    assert cli.main([command, *options, script(launch)]) == code


@pytest.mark.parametrize("command", ["check", "play"])
def test_help_of_a_command_that_reports_findings_says_when_it_exits_with_1(command, capsys):
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    assert "Exits with 1 if it reports an error;" in " ".join(capsys.readouterr().out.split())


MUTUAL = """
import numpy as np
from gpukit import cuda

@cuda.jit(device=True)
def even(n):
    return True if n == 0 else odd(n - 1)

@cuda.jit(device=True)
def odd(n):
    return False if n == 0 else even(n - 1)

@cuda.jit("void(float64[:])")
def kernel(out):
    out[0] = even(3)

kernel[1, 1](np.zeros(1))
"""


@pytest.mark.parametrize("command", ["run", "check"])
def test_error_on_mutual_recursion_gives_its_location(command, fresh_python, tmp_path):
    script = tmp_path / "mutual.py"
    script.write_text(MUTUAL)
    output = fresh_python("-m", "gpukit.cli", command, str(script)).stderr
    assert "File" not in output
    line = MUTUAL.splitlines().index("def even(n):")
    assert f"mutual.py:{line} in even" in output
