"""Commands and options: help, usage errors, wrong names, exit codes of errors."""

import pytest

from gpukit import cli, errors
from gpukit.cli import parser

COMMANDS = """
    doctor bench run train ptx sass codegen start list test hint reset check profile estimate play
    new verify release export grade
""".split()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([command, "--help"])
    assert stop.value.code == 0
    assert f"usage: gpukit {command}" in capsys.readouterr().out


def test_help_names_every_command_and_the_exit_codes(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    words = capsys.readouterr().out
    assert all(f"\n    {command} " in words for command in COMMANDS)
    assert "Exit codes: 0" in " ".join(words.split())


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out.startswith("gpukit ")


MISUSE = (
    [],
    ["fly"],
    ["test"],
    ["check"],
    ["profile"],
    ["play"],
    ["hint", "block_sum", "x"],
    ["export", "zip_add", "--to", "zip"],
    ["export", "zip_add", "--to", "canvas", "--out", "new"],
    ["play", "--launches", "-1", "script.py"],
    ["play", "--launches", "0", "script.py"],
    ["play", "--launches", "many", "script.py"],
    ["bench", "--seconds", "-1"],
    ["doctor", "extra"],
    ["new"],
    ["verify"],
    ["release", "folder"],
)


@pytest.mark.parametrize("words", MISUSE, ids=" ".join)
def test_usage_error_exits_with_2_and_shows_the_usage(words, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(words)
    assert stop.value.code == 2
    assert "usage: gpukit" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "train", "check", "profile", "estimate", "play"])
def test_a_command_without_its_script_says_that_only_the_script_is_missing(command, capsys):
    with pytest.raises(SystemExit):
        cli.main([command])
    assert capsys.readouterr().err.endswith("arguments are required: SCRIPT.py\n")


def test_no_arguments_show_the_help(capsys):
    with pytest.raises(SystemExit):
        cli.main([])
    words = capsys.readouterr().err
    assert all(f"\n    {command} " in words for command in COMMANDS)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["bench", "--seconds", "x"], "expected seconds between 0 and 3600, got 'x'"),
        (["play", "--launches", "2.5", "a.py"], "expected a whole number, 1 or more, got '2.5'"),
        (["hint", "block_sum", "x"], "expected a whole number, got 'x'"),
        (["ptx", "--arch", "x", "matmul_tiled"], "expected an architecture such as sm_90, got x"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_invalid_number_is_reported_with_what_is_expected(words, says, capsys):
    with pytest.raises(SystemExit):
        cli.main(words)
    shown = capsys.readouterr().err
    assert says in shown
    assert "_" not in shown.partition("error:")[2].replace("sm_90", "")


def test_python_m_gpukit_runs_the_command(fresh_python):
    done = fresh_python("-m", "gpukit", "--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "gpukit")


WRONG_NAMES = (
    ["test", "blok_sum"],
    ["hint", "blok_sum"],
    ["reset", "blok_sum"],
    ["hint", "block_sum", "4"],
    ["hint", "block_sum", "0"],
    ["test", "block_sum", "--file", "not_there.py"],
    ["bench", "saxpi"],
    ["new", "no_topic"],
    ["new", "01_maps/scale", "--like", "blok_sum"],
    ["verify", "blok_sum"],
    ["release", "nowhere", "blok_sum"],
)


@pytest.mark.parametrize("words", WRONG_NAMES, ids=" ".join)
def test_a_wrong_name_exits_with_2_and_one_sentence(words, capsys):
    assert cli.main(words) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("gpukit: error: ")
    assert "Traceback" not in shown.err
    assert shown.out == ""


def let_list_raise(monkeypatch, error):
    def fail(_arguments):
        raise error

    monkeypatch.setattr(parser, "command", lambda name: fail)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.TargetError("no GPU"), 3),
        (errors.KernelError("out of bounds"), 1),
        (errors.LaunchError("2048 threads"), 1),
    ],
)
def test_a_gpukit_error_is_one_paragraph_and_an_exit_code(monkeypatch, capsys, error, code):
    let_list_raise(monkeypatch, error)
    assert cli.main(["list"]) == code
    assert capsys.readouterr().err == f"gpukit: error: {error}\n"


def test_an_unusable_target_exits_with_the_environment_code(shelf, fresh_python):
    done = fresh_python("-m", "gpukit.cli", "test", "guarded_map", GPUKIT_TARGET="tpu")
    assert done.returncode == 3
    assert "GPUKIT_TARGET" in done.stderr


def test_an_unexpected_error_keeps_its_traceback(monkeypatch):
    let_list_raise(monkeypatch, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        cli.main(["list"])


def test_ctrl_c_ends_with_130_and_no_traceback(monkeypatch, capsys):
    let_list_raise(monkeypatch, KeyboardInterrupt())
    assert cli.main(["list"]) == 130
    assert capsys.readouterr().err == "gpukit: stopped.\n"
