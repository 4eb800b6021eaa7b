"""The commands that watch a script, check, profile and play: output, files and exit codes."""

from __future__ import annotations

import json
import shutil
import textwrap
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from gpukit import cli
from gpukit.cli import limit
from gpukit.course import catalogue
from tests.checked.scripts import KERNELS

HEAD = "\nimport sys\nimport numpy as np\nfrom numba import cuda\n" + KERNELS
RACE_LINE = 1 + HEAD.split("\n").index("    out[0] = cuda.threadIdx.x")
SOUND = "fill_kernel[3, 32](out)\n"
WARNED = "half_kernel[3, 32](x, out)\n"
WRONG = "collide_kernel[1, 32](one)\n"
COMMANDS = ("check", "profile", "play")
# Exit codes where nothing is launched: nothing checked must not look like nothing found.
NOTHING = {"check": 2, "profile": 0, "play": 0}


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Write a script in a folder of the test's own and return its path."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        path = tmp_path / "script.py"
        path.write_text(HEAD + textwrap.dedent(text), encoding="utf-8")
        return str(path)

    return write


# --- All three -------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_the_command_does(command, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([command, "--help"])
    assert stop.value.code == 0
    words = " ".join(capsys.readouterr().out.split())
    assert f"usage: gpukit {command}" in words
    assert "SCRIPT.py" in words
    assert "print JSON and nothing else" in words


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_all_names_the_command(command, capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert f"\n    {command} " in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_no_script_is_misuse(command, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([command])
    assert stop.value.code == 2
    assert "usage: gpukit" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_script_that_is_not_there_exits_with_2_and_one_sentence(command, capsys):
    assert cli.main([command, "not_there.py"]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"gpukit: error: {command}: expected a Python script")
    assert shown.out == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_script_that_fails_before_it_launches_is_not_said_to_launch_nothing(
    command, script, capsys
):
    assert cli.main([command, script("fill_kernel[3, 32](out.tolist())")]) == 1
    shown = capsys.readouterr()
    assert "stopped with an error before a launch was done" in shown.out
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
def test_an_error_that_names_its_line_is_told_without_a_traceback(command, text, script, capsys):
    path = script(text)
    line = 1 + Path(path).read_text(encoding="utf-8").split("\n").index(text.split("\n")[2])
    assert cli.main([command, path]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith(f"gpukit: error: {path}:{line} in ")
    assert "What to do: " in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("own", COMMANDS)
def test_launches_that_a_script_does_with_gpukit_itself_are_not_said_to_be_none(
    command, own, script, capsys
):
    cli.main([command, script(f"import gpukit\ngpukit.{own}(collide_kernel)[1, 32](one)\n")])
    words = " ".join(capsys.readouterr().out.split())
    assert "no kernel" not in words
    counted = command == "check" and own != "profile"
    assert (f"all launches of the script are done by gpukit.{own}." in words) is not counted


@pytest.mark.parametrize(("own", "code"), [("check", 1), ("play", 1), ("profile", 2)])
def test_check_counts_the_launches_that_a_script_checks_itself(own, code, script, capsys):
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
def test_findings_that_a_script_has_printed_are_counted_and_not_printed_again(
    report, script, capsys
):
    assert cli.main(["check", script(PRINTED_BY_THE_SCRIPT.format(report=report))]) == 1
    shown = capsys.readouterr().out
    assert shown.count("error: global-race") == 1
    assert "1 error in collide_kernel[1, 32]" in shown[shown.rindex("What to do") :]
    assert "Printed above already, and not repeated: 1 finding." in shown


def test_findings_of_a_report_that_a_script_has_printed_are_in_the_json(script, capsys):
    text = PRINTED_BY_THE_SCRIPT.format(report="gpukit.check(collide_kernel)[1, 32](one)")
    assert cli.main(["check", "--json", script(text)]) == 1
    assert [f["kind"] for f in json.loads(capsys.readouterr().out)["findings"]] == ["global-race"]


def test_an_own_check_that_raises_is_known_to_have_launched(script, capsys):
    text = """
    import gpukit
    try:
        gpukit.profile(fill_kernel)[1, 32](np.zeros(3, np.complex256))
    except Exception as error:
        print(type(error).__name__)
    """
    cli.main(["profile", script(text)])
    shown = " ".join(capsys.readouterr().out.split())
    assert "all launches of the script are done by gpukit.profile" in shown


def test_check_counts_a_launch_that_a_gpu_refuses_once(script, capsys):
    text = "import gpukit\ngpukit.check(fill_kernel)[1, 2000](out)\n"
    assert cli.main(["check", script(text)]) == 1
    assert capsys.readouterr().out.count("error: launch-refused") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_said_where_there_is_nothing_fits_the_terminal(
    command, script, monkeypatch, capsys
):
    monkeypatch.setenv("COLUMNS", "60")
    cli.main([command, script("")])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


@pytest.mark.parametrize("command", COMMANDS)
def test_a_script_gets_its_arguments(command, script, capsys):
    path = script("print(sys.argv[1:])\n" + SOUND)
    assert cli.main([command, path, "--n", "3", "--json"]) == 0
    assert capsys.readouterr().out.startswith("['--n', '3', '--json']\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_script_without_launches_is_said(command, script, capsys):
    assert cli.main([command, script("")]) == NOTHING[command]
    words = capsys.readouterr().out.lower()
    assert "no kernel" in words


@pytest.mark.parametrize("command", COMMANDS)
def test_json_of_a_script_without_launches_is_json(command, script, capsys):
    assert cli.main([command, "--json", script("")]) == NOTHING[command]
    data = json.loads(capsys.readouterr().out)
    assert (data["launches"] if command == "check" else data) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_all_of_standard_output_whatever_the_script_prints(command, script, capsys):
    path = script("print('hello')\n" + SOUND)
    assert cli.main([command, "--json", path]) == 0
    shown = capsys.readouterr()
    json.loads(shown.out)
    assert "hello" in shown.err


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_all_of_standard_output_whatever_a_child_of_the_script_prints(
    command, script, capfd
):
    path = script("""
        import os, subprocess
        subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
        os.write(1, b"straight to the file")
    """)
    assert cli.main([command, "--json", path]) == NOTHING[command]
    shown = capfd.readouterr()
    json.loads(shown.out)
    assert "from a child" in shown.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.costly
def test_a_script_that_fails_exits_with_1_and_its_own_traceback(command, script, capsys):
    assert cli.main([command, script(SOUND + "1 / 0")]) == 1
    words = capsys.readouterr().err
    assert "ZeroDivisionError" in words
    assert "script.py" in words
    assert "gpukit/" not in words


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.costly
def test_what_was_seen_before_a_script_failed_is_shown(command, script, capsys):
    cli.main([command, script(SOUND + "1 / 0")])
    assert "fill_kernel" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.costly
def test_the_exit_code_of_a_sound_script_is_its_own(command, script):
    assert cli.main([command, script(SOUND + "sys.exit(5)")]) == 5


# --- check -----------------------------------------------------------------------------------


@pytest.fixture
def time_is_up_at_work(monkeypatch):
    """Let the time of --timeout be over as soon as the script has set `sys.at_work[0]`."""
    import sys

    monkeypatch.setattr(sys, "at_work", np.zeros(1), raising=False)

    def watch(self):
        while not sys.at_work[0]:
            time.sleep(0.01)
        self.expired = True
        limit._interrupt()
        while not self._over.wait(5):  # what a callback of Python's collector swallows is lost
            limit._interrupt()

    monkeypatch.setattr(limit.TimeLimit, "_watch", watch)


ENDLESS = """
@cuda.jit
def spin_kernel(at_work):
    while at_work[0] < 2:
        at_work[0] = 1
fill_kernel[3, 32](out)
"""


@pytest.mark.usefixtures("time_is_up_at_work")
@pytest.mark.parametrize(
    "slow",
    ["sys.at_work[0] = 1; __import__('time').sleep(600)", "spin_kernel[2, 32](sys.at_work)"],
    ids=["asleep", "in a kernel"],
)
def test_check_that_takes_too_long_is_stopped_and_says_what_it_ran(slow, script, capsys):
    path = script(f"{ENDLESS}{slow}\n")
    assert cli.main(["check", "--timeout", "600", path]) == 1
    words = " ".join(capsys.readouterr().out.split())
    line = Path(path).read_text(encoding="utf-8").count("\n")
    assert f"stopped in line {line} of script.py, after the 600 seconds of --timeout" in words
    stopped = "spin_kernel was stopped by the 600 seconds of --timeout after 0 of its 2 blocks"
    assert (stopped in words) == ("spin" in slow)
    assert "Ctrl-C" not in words
    assert ("3 of 5 blocks" if "spin" in slow else "3 blocks") in words


SPIN = f"{ENDLESS}spin_kernel[2, 32](sys.at_work)\n"


@pytest.mark.usefixtures("time_is_up_at_work")
def test_json_of_a_stopped_check_marks_the_launch_as_partial(script, capsys):
    assert cli.main(["check", "--timeout", "600", "--json", script(SPIN)]) == 1
    report = json.loads(capsys.readouterr().out)
    fill, spin = report["launches"]
    assert (fill["blocks_run"], fill["stopped"]) == (3, "")
    assert (spin["blocks_run"], spin["stopped"]) == (0, "the 600 seconds of --timeout")
    assert report["exit_code"] == 1


@pytest.mark.usefixtures("time_is_up_at_work")
def test_junit_and_html_of_a_stopped_check_say_how_far_it_came(script, tmp_path):
    xml, page = tmp_path / "found.xml", tmp_path / "found.html"
    given = ["--timeout", "600", "--junit", str(xml), "--html", str(page)]
    cli.main(["check", *given, script(SPIN)])
    suite = ElementTree.fromstring(xml.read_text(encoding="utf-8"))
    (error,) = suite.iter("error")
    assert suite.get("errors") == "1"
    assert error.get("message") == "stopped by the 600 seconds of --timeout after 0 of 2 blocks"
    words = page.read_text(encoding="utf-8")
    assert "No findings so far" in words
    assert "stopped by the 600 seconds of --timeout after 0 of its 2 blocks" in words


@pytest.mark.usefixtures("time_is_up_at_work")
@pytest.mark.parametrize("command", ["profile", "play"])
def test_a_command_that_takes_too_long_says_which_launch_it_does_not_show(command, script, capsys):
    assert cli.main([command, "--timeout", "600", script(SPIN)]) == 1
    shown = capsys.readouterr()
    assert "fill_kernel" in shown.out
    assert "spin_kernel" not in shown.out
    assert "spin_kernel was stopped by the 600 seconds of --timeout after 0 of its" in shown.err
    assert "in line" in shown.err


@pytest.mark.usefixtures("time_is_up_at_work")
def test_a_stopped_array_function_is_named_with_its_own_line(script, capsys):
    slow = """
    @cuda.vectorize(["float64(float64)"])
    def heavy(x):
        while x < 2:
            x = 1
        return x
    heavy(np.full(1, 3.0))  # compiles it, so that the time is up while it runs
    import threading
    threading.Timer(0.5, lambda: sys.at_work.fill(1)).start()
    heavy(np.zeros(512))
    """
    assert cli.main(["check", "--timeout", "600", script(slow)]) == 1
    words = " ".join(capsys.readouterr().out.split())
    assert "1 of 3 blocks" in words
    assert "cuda.vectorize" not in words
    assert "heavy" in words


@pytest.mark.parametrize("command", ["check", "profile", "play"])
def test_a_script_that_is_stopped_by_ctrl_c_says_so_and_exits_with_130(command, script, capsys):
    assert cli.main([command, script(f"{SOUND}raise KeyboardInterrupt")]) == 130
    shown = capsys.readouterr()
    words = " ".join((shown.out + shown.err).split())
    assert "script.py, by Ctrl-C; what it would have done after that was not" in words
    assert "fill_kernel" in shown.out


def test_a_profile_that_is_stopped_shows_one_launch_of_each_kernel_and_shape(script, capsys):
    text = f"{5 * SOUND}fill_kernel[2, 32](out)\nraise KeyboardInterrupt"
    assert cli.main(["profile", script(text)]) == 130
    shown = capsys.readouterr().out
    assert shown.count("\nOccupancy\n") == 2
    assert "6 launches were counted; the last of each kernel and shape is shown." in shown


def test_check_within_its_time_is_as_without_a_limit(script, capsys):
    assert cli.main(["check", "--timeout", "600", script(SOUND)]) == 0
    assert "stopped" not in capsys.readouterr().out


def test_check_of_a_sound_script_exits_with_0(script, capsys):
    assert cli.main(["check", script(SOUND)]) == 0
    shown = capsys.readouterr()
    assert "no findings" in shown.out.lower()
    assert "fill_kernel" in shown.out
    assert shown.err == ""


def test_check_of_a_script_without_a_launch_says_what_to_do_and_exits_with_2(script, capsys):
    assert cli.main(["check", script("")]) == 2
    shown = capsys.readouterr().out
    assert "the script launched no kernel" in shown
    assert "kernel[blocks, threads](...)" in shown


def test_check_of_an_answer_names_the_command_that_launches_it(tmp_path, capsys):
    folder = tmp_path / "04_reduction" / "block_sum"
    folder.mkdir(parents=True)
    shutil.copy(catalogue.find("block_sum").folder / "exercise.toml", folder)
    answer = folder / "answer.py"
    answer.write_text("from gpukit import cuda\n")
    assert cli.main(["check", str(answer)]) == 2
    assert "`gpukit test block_sum` launches it" in capsys.readouterr().out


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


def test_check_goes_on_after_an_error(script, capsys):
    assert cli.main(["check", script(WRONG + SOUND + "print(out[69])")]) == 1
    assert capsys.readouterr().out.startswith("69.0\n")


def test_check_makes_one_finding_of_many_launches(script, capsys):
    cli.main(["check", "--json", script(f"for _ in range(5):\n    {WRONG}")])
    data = json.loads(capsys.readouterr().out)
    (found,) = data["findings"]
    assert found["count"] == 5 * 31
    assert data["launches"][0]["launches"] == 5


def test_check_json_holds_the_finding_and_the_exit_code(script, capsys):
    assert cli.main(["check", "--json", script(WRONG)]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["schema"], data["exit_code"], data["ok"]) == ("gpukit-check", 1, False)
    (found,) = data["findings"]
    assert (found["kind"], found["line"]) == ("global-race", RACE_LINE)
    assert found["details"]["hazard"] == "write-write"


def test_check_json_is_complete_where_a_script_fails(script, capsys):
    assert cli.main(["check", "--json", script(WRONG + "1 / 0")]) == 1
    assert json.loads(capsys.readouterr().out)["findings"]


def test_check_shows_its_findings_where_a_later_launch_is_refused(script, capsys):
    assert cli.main(["check", script(WRONG + "fill_kernel[3, 32](out, out)")]) == 1
    shown = capsys.readouterr()
    assert "global-race" in shown.out
    assert "fill_kernel takes 1 arguments" in shown.err


def test_check_json_is_complete_where_an_error_of_ours_ends_the_script(script, capsys):
    assert cli.main(["check", "--json", script(WRONG + "fill_kernel[3, 32](out, out)")]) == 1
    assert json.loads(capsys.readouterr().out)["findings"]


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


def test_check_writes_its_files_for_a_sound_script_too(script):
    assert cli.main(["check", "--junit", "a.xml", "--html", "a.html", script(SOUND)]) == 0
    assert ElementTree.parse("a.xml").getroot().get("failures") == "0"
    assert Path("a.html").exists()


# --- profile and play ------------------------------------------------------------------------


def test_profile_prints_a_table_for_every_launch(script, capsys):
    assert cli.main(["profile", script(SOUND + WARNED)]) == 0
    words = capsys.readouterr().out
    assert "fill_kernel" in words
    assert "half_kernel" in words
    assert "out[i] = 0.1 * x[i]" in words


def test_profile_json_counts_what_each_launch_asked_for(script, capsys):
    assert cli.main(["profile", "--json", script(SOUND + WARNED)]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["kernel"], second["kernel"]) == ("fill_kernel", "half_kernel")


def test_profile_of_a_wrong_kernel_is_no_failure(script, capsys):
    assert cli.main(["profile", script(WRONG)]) == 0


def test_play_writes_a_page_for_each_launch(script, capsys):
    assert cli.main(["play", "--folder", "pages", script(SOUND + WRONG)]) == 0
    names = sorted(p.name for p in Path("pages").iterdir())
    assert names == ["01_fill_kernel.html", "02_collide_kernel.html"]
    words = capsys.readouterr().out
    assert all(f"wrote {Path('pages') / name}" in words for name in names)


def test_play_prints_what_its_pages_show_to_be_wrong(script, capsys):
    cli.main(["play", script(SOUND + WRONG)])
    shown = capsys.readouterr().out
    assert "\nerror: global-race at script.py:" in shown
    assert f":{RACE_LINE} in collide_kernel" in shown
    assert "What to do: " in shown


def test_play_of_sound_launches_ends_with_how_to_open_the_pages(script, capsys):
    cli.main(["play", script(SOUND)])
    assert capsys.readouterr().out.endswith("the arrow keys step forward and back.\n")


def test_play_says_when_it_replaces_a_page(script, capsys):
    pages = ["play", "--folder", "pages", script(SOUND)]
    assert (cli.main(pages), cli.main(pages)) == (0, 0)
    assert f"replaced {Path('pages') / '01_fill_kernel.html'}" in capsys.readouterr().out


def test_play_writes_the_first_launches_only_and_runs_the_others(script, capsys):
    text = f"for _ in range(4):\n    out[:] = 0\n    {SOUND}print(out[69])"
    assert cli.main(["play", "--launches", "2", script(text)]) == 0
    assert len(list(Path("gpukit-play").iterdir())) == 2
    assert capsys.readouterr().out.startswith("69.0\n")


def test_play_json_lists_the_pages(script, capsys):
    assert cli.main(["play", "--json", "--folder", "pages", script(SOUND)]) == 0
    (page,) = json.loads(capsys.readouterr().out)
    assert Path(page).read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("count", ["-1", "0", "many"])
def test_play_refuses_a_number_of_launches_that_is_none(count, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["play", "--launches", count, "script.py"])
    assert stop.value.code == 2


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
def test_a_refusal_of_mutual_recursion_says_where_it_is(command, fresh_python, tmp_path):
    script = tmp_path / "mutual.py"
    script.write_text(MUTUAL)
    said = fresh_python("-m", "gpukit.cli", command, str(script)).stderr
    assert "File" not in said
    line = MUTUAL.splitlines().index("def even(n):")
    assert f"mutual.py:{line} in even" in said
