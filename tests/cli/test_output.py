"""Output of commands: colours, progress, closed pipes and full disks."""

import os
import subprocess
import sys

import pytest

from gpukit import cli
from gpukit.cli import parser, show


class Terminal:
    """The part of a terminal that the commands use."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("variables", "fancy"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_needs_a_terminal_that_wants_it(monkeypatch, variables, fancy):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert show.fancy(Terminal()) is fancy


def test_output_that_is_no_terminal_is_plain(capsys):
    show.table(("a", "b"), [["x", "1"], ["yy", "22"]], right=(1,))
    show.text(show.paint("good", "good"))
    assert capsys.readouterr().out == "a    b\nx    1\nyy  22\ngood\n"


def test_progress_is_silent_without_a_terminal(capsys):
    with show.progress(2) as step:
        step("one")
        step("two")
    assert capsys.readouterr() == ("", "")


def test_a_closed_pipe_gives_no_traceback():
    done = subprocess.run(
        f"{sys.executable} -m gpukit.cli list | head -c 1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full exists only on Linux")  # noqa: PTH110
@pytest.mark.usefixtures("shelf")  # `hint` records progress
@pytest.mark.parametrize("command", ["list", "list --json", "hint block_sum"])
def test_output_to_a_full_disk_is_one_sentence_and_the_environment_exit_code(command):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "gpukit.cli", *command.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 3
    assert " ".join(done.stderr.split()) == (
        "gpukit: error: cannot write the output: no space left on device. Free some space "
        "on that disk."
    )


def test_a_missing_temporary_folder_is_reported_in_one_sentence(monkeypatch, capsys):
    def nowhere():
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("tempfile.gettempdir", nowhere)
    monkeypatch.setattr(parser, "command", lambda name: lambda _arguments: nowhere())
    assert cli.main(["list"]) == 3
    assert "Set TMPDIR to a folder that you can write to" in capsys.readouterr().err
