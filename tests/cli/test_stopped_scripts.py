"""Scripts ended by --timeout or Ctrl-C: results before the stop, and unfinished launches."""

import json
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from gpukit import cli
from gpukit.cli import limit
from tests.cli.watched import COMMANDS, SOUND


@pytest.fixture
def timeout_at_work(monkeypatch):
    """Make --timeout expire as soon as the script sets `sys.at_work[0]`."""
    import sys

    monkeypatch.setattr(sys, "at_work", np.zeros(1), raising=False)

    def watch(self):
        while not sys.at_work[0]:
            time.sleep(0.01)
        self.expired = True
        limit._interrupt()
        while not self._over.wait(5):  # repeat: an interrupt during a finalizer is ignored
            limit._interrupt()

    monkeypatch.setattr(limit.TimeLimit, "_watch", watch)


ENDLESS = """
@cuda.jit
def spin_kernel(at_work):
    while at_work[0] < 2:
        at_work[0] = 1
fill_kernel[3, 32](out)
"""


@pytest.mark.usefixtures("timeout_at_work")
@pytest.mark.parametrize(
    "slow",
    ["sys.at_work[0] = 1; __import__('time').sleep(600)", "spin_kernel[2, 32](sys.at_work)"],
    ids=["asleep", "in a kernel"],
)
def test_check_that_times_out_reports_what_it_ran(slow, script, capsys):
    path = script(f"{ENDLESS}{slow}\n")
    assert cli.main(["check", "--timeout", "600", path]) == 1
    words = " ".join(capsys.readouterr().out.split())
    line = Path(path).read_text(encoding="utf-8").count("\n")
    assert f"stopped in line {line} of script.py, after the --timeout of 600 seconds" in words
    stopped = "spin_kernel was stopped by the --timeout of 600 seconds after 0 of its 2 blocks"
    assert (stopped in words) == ("spin" in slow)
    assert "Ctrl-C" not in words
    assert ("3 of 5 blocks" if "spin" in slow else "3 blocks") in words


SPIN = f"{ENDLESS}spin_kernel[2, 32](sys.at_work)\n"


@pytest.mark.usefixtures("timeout_at_work")
def test_json_of_a_stopped_check_marks_the_launch_as_partial(script, capsys):
    assert cli.main(["check", "--timeout", "600", "--json", script(SPIN)]) == 1
    report = json.loads(capsys.readouterr().out)
    fill, spin = report["launches"]
    assert (fill["blocks_run"], fill["stopped"]) == (3, "")
    assert (spin["blocks_run"], spin["stopped"]) == (0, "the --timeout of 600 seconds")
    assert report["exit_code"] == 1


@pytest.mark.usefixtures("timeout_at_work")
def test_junit_and_html_of_a_stopped_check_state_its_progress(script, tmp_path):
    xml, page = tmp_path / "found.xml", tmp_path / "found.html"
    options = ["--timeout", "600", "--junit", str(xml), "--html", str(page)]
    cli.main(["check", *options, script(SPIN)])
    suite = ElementTree.fromstring(xml.read_text(encoding="utf-8"))
    (error,) = suite.iter("error")
    assert suite.get("errors") == "1"
    assert error.get("message") == "stopped by the --timeout of 600 seconds after 0 of 2 blocks"
    words = page.read_text(encoding="utf-8")
    assert "No findings so far" in words
    assert "stopped by the --timeout of 600 seconds after 0 of its 2 blocks" in words


@pytest.mark.usefixtures("timeout_at_work")
@pytest.mark.parametrize("command", ["profile", "play"])
def test_a_command_that_times_out_names_the_unfinished_launch(command, script, capsys):
    assert cli.main([command, "--timeout", "600", script(SPIN)]) == 1
    shown = capsys.readouterr()
    assert "fill_kernel" in shown.out
    assert "spin_kernel" not in shown.out
    assert "spin_kernel was stopped by the --timeout of 600 seconds after 0 of its" in shown.err
    assert "in line" in shown.err


@pytest.mark.usefixtures("timeout_at_work")
def test_a_stopped_array_function_is_reported_by_name(script, capsys):
    slow = """
    @cuda.vectorize(["float64(float64)"])
    def heavy(x):
        while x < 2:
            x = 1
        return x
    heavy(np.full(1, 3.0))  # compiles it, so that the timeout expires during a run
    import threading
    threading.Timer(0.5, lambda: sys.at_work.fill(1)).start()
    heavy(np.zeros(512))
    """
    assert cli.main(["check", "--timeout", "600", script(slow)]) == 1
    words = " ".join(capsys.readouterr().out.split())
    assert "1 of 3 blocks" in words
    assert "cuda.vectorize" not in words
    assert "heavy" in words


@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_in_a_script_is_reported_and_exits_with_130(command, script, capsys):
    assert cli.main([command, script(f"{SOUND}raise KeyboardInterrupt")]) == 130
    shown = capsys.readouterr()
    words = " ".join((shown.out + shown.err).split())
    assert "script.py, by Ctrl-C; nothing after that was" in words
    assert "fill_kernel" in shown.out


def test_a_stopped_profile_shows_one_launch_per_kernel_and_shape(script, capsys):
    text = f"{5 * SOUND}fill_kernel[2, 32](out)\nraise KeyboardInterrupt"
    assert cli.main(["profile", script(text)]) == 130
    shown = capsys.readouterr().out
    assert shown.count("\nOccupancy\n") == 2
    assert "6 launches were counted; the last of each kernel and shape is shown." in shown


def test_check_within_its_timeout_exits_normally(script, capsys):
    assert cli.main(["check", "--timeout", "600", script(SOUND)]) == 0
    assert "stopped" not in capsys.readouterr().out
