"""The command line: what it prints, in which form, and with which exit code."""

import json
import os
import subprocess
import sys

import pytest

from gpukit import cli, doctor, errors
from gpukit.bench.timing import MOST_VARIED
from gpukit.cli import parser, show
from gpukit.course import catalogue, workbook

SOUND = doctor.Machine(reason="no GPU", cache_folder="/c")


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A copy of the real exercises, so that answers land in a folder of the test's own."""
    import shutil

    shelf = tmp_path / "exercises"
    shutil.copytree(catalogue.root(), shelf, ignore=shutil.ignore_patterns("answer*", ".prog*"))
    monkeypatch.setenv("GPUKIT_EXERCISES", str(shelf))
    return shelf


def answer(shelf, which="solution.py"):
    """Put the model answer where the learner's file belongs."""
    folder = shelf / "01_threads_blocks_grid" / "guarded_map"
    (folder / "answer.py").write_text((folder / which).read_text() + "# mine\n")
    return folder / "answer.py"


COMMANDS = (
    "doctor",
    "bench",
    "run",
    "ptx",
    "sass",
    "codegen",
    "start",
    "list",
    "test",
    "hint",
    "reset",
)


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
    assert all(command in words for command in COMMANDS)
    assert "Exit codes: 0" in " ".join(words.split())


def test_help_imports_nothing_heavy(fresh_python):
    done = fresh_python("-X", "importtime", "-m", "gpukit.cli", "--help")
    assert done.returncode == 0
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    heavy = {"numpy", "numba", "matplotlib", "json", "asyncio", "gpukit.cuda", "importlib.metadata"}
    assert not loaded & heavy


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out.startswith("gpukit ")


MISUSE = (
    [],
    ["fly"],
    ["test"],
    ["hint", "block_sum", "x"],
    ["bench", "--seconds", "-1"],
    ["doctor", "extra"],
)


@pytest.mark.parametrize("words", MISUSE, ids=" ".join)
def test_misuse_exits_with_2_and_shows_the_usage(words, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(words)
    assert stop.value.code == 2
    assert "usage: gpukit" in capsys.readouterr().err


def test_no_words_at_all_show_the_help(capsys):
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
        (["ptx", "--arch", "x", "matmul_tiled"], "expected one such as sm_90, got x"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_wrong_number_is_named_with_what_is_expected(words, says, capsys):
    with pytest.raises(SystemExit):
        cli.main(words)
    shown = capsys.readouterr().err
    assert says in shown
    assert "_" not in shown.partition("error:")[2].replace("sm_90", "")


def test_python_m_gpukit_is_the_command(fresh_python):
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
    ["run", "not_there.py"],
)


@pytest.mark.parametrize("words", WRONG_NAMES, ids=" ".join)
def test_a_wrong_name_exits_with_2_and_one_sentence(words, capsys):
    assert cli.main(words) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("gpukit: error: ")
    assert "Traceback" not in shown.err
    assert shown.out == ""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.TargetError("no GPU"), 3),
        (errors.KernelError("out of bounds"), 1),
        (errors.LaunchError("2048 threads"), 1),
    ],
)
def test_an_error_of_ours_is_one_paragraph_and_a_code(monkeypatch, capsys, error, code):
    def fail(_arguments):
        raise error

    monkeypatch.setattr(parser, "command", lambda name: fail)
    assert cli.main(["list"]) == code
    assert capsys.readouterr().err == f"gpukit: error: {error}\n"


def test_a_target_that_cannot_be_used_is_the_machines_fault_and_not_the_learners(shelf):
    script = "import sys; from gpukit import cli; sys.exit(cli.main(['test', 'guarded_map']))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "GPUKIT_TARGET": "tpu"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 3
    assert "GPUKIT_TARGET" in done.stderr


def test_an_error_that_is_not_ours_keeps_its_traceback(monkeypatch):
    def fail(_arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(parser, "command", lambda name: fail)
    with pytest.raises(ZeroDivisionError):
        cli.main(["list"])


def test_ctrl_c_ends_with_130_and_no_traceback(monkeypatch, capsys):
    def stop(_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(parser, "command", lambda name: stop)
    assert cli.main(["list"]) == 130
    assert capsys.readouterr().err == "gpukit: stopped.\n"


# --- doctor ----------------------------------------------------------------------------------


def test_doctor_says_the_target_and_that_all_is_well(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "look", lambda: SOUND)
    assert cli.main(["doctor"]) == 0
    words = capsys.readouterr().out
    assert "target" in words
    assert "cpu: no GPU" in words
    assert "All well" in words


def test_doctor_exits_with_1_and_the_fix_when_there_is_a_problem(monkeypatch, capsys):
    faulty = doctor.Machine(environment={"NUMBA_DISABLE_JIT": "1"})
    monkeypatch.setattr(doctor, "look", lambda: faulty)
    assert cli.main(["doctor"]) == 1
    words = capsys.readouterr().out
    assert "problem jit-off" in words
    assert "Fix it: unset NUMBA_DISABLE_JIT" in words


def test_doctor_exits_with_0_when_there_are_only_notes(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "look", lambda: doctor.Machine(cores=1))
    assert cli.main(["doctor"]) == 0
    assert "note one-core" in capsys.readouterr().out


def test_doctor_json_holds_machine_and_findings(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "look", lambda: doctor.Machine(cores=1))
    assert cli.main(["doctor", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["machine"]["cores"] == 1
    assert data["findings"][0]["name"] == "one-core"


def test_doctor_clear_says_what_it_removed_and_then_that_there_is_nothing(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("GPUKIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(doctor.folders.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / ("0a" * 20)).write_bytes(b"12345")
    assert cli.main(["doctor", "--clear"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"removed compiled kernels (cache, 1 file, 5 bytes): {tmp_path / 'cache'}" in said
    assert cli.main(["doctor", "--clear"]) == 0
    assert capsys.readouterr().out == "The caches are empty.\n"


def test_doctor_json_names_each_folder_with_its_size(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "look", lambda: SOUND)
    assert cli.main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["folders"]
    assert {"compiled kernels", "your answers and grades"} <= {each["holds"] for each in found}
    assert all(isinstance(each["bytes"], int) for each in found)


def test_doctor_names_the_answers_of_the_workbook(shelf, monkeypatch, capsys):
    monkeypatch.setattr(doctor, "look", lambda: SOUND)
    answer = shelf.parent / "workbook" / "exercises" / "01" / "relu" / "answer.py"
    answer.parent.mkdir(parents=True)
    answer.write_text("mine")
    (shelf.parent / "workbook" / workbook.MANIFEST).write_text("{}")
    assert cli.main(["doctor", "--json"]) == 0
    folders = json.loads(capsys.readouterr().out)["folders"]
    found = next(each for each in folders if each["holds"] == "your answers and grades")
    assert (found["path"], found["files"]) == (str(answer.parents[2]), 1)


# --- exercises -------------------------------------------------------------------------------


def test_list_shows_every_exercise_and_the_next(shelf, capsys):
    assert cli.main(["list"]) == 0
    words = capsys.readouterr().out
    assert all(name in words for name in ("guarded_map", "block_sum", "tiled_matmul"))
    assert "Next: gpukit test brighten" in words


def listed(capsys):
    """Return how far the learner is with each exercise."""
    assert cli.main(["list", "--json"]) == 0
    return {found["name"]: found["state"] for found in json.loads(capsys.readouterr().out)}


def test_list_json_holds_every_exercise(shelf, capsys):
    assert listed(capsys)["guarded_map"] == "new"


def test_the_first_test_makes_the_learners_file(shelf, capsys):
    assert cli.main(["test", "guarded_map"]) == 1
    words = capsys.readouterr().out
    assert "Made your file" in words
    folder = shelf / "01_threads_blocks_grid" / "guarded_map"
    assert (folder / "answer.py").read_text() == (folder / "starter.py").read_text()


def test_an_untouched_file_is_not_attempted(shelf, capsys):
    cli.main(["test", "guarded_map"])
    assert cli.main(["test", "guarded_map"]) == 1
    assert "Not attempted yet" in capsys.readouterr().out


def test_a_right_answer_exits_with_0_and_is_remembered(shelf, capsys):
    answer(shelf)
    assert cli.main(["test", "guarded_map"]) == 0
    assert "Right: 10 of 10 points." in capsys.readouterr().out
    assert listed(capsys)["guarded_map"] == "right"


def test_a_wrong_answer_exits_with_1_and_points_to_a_hint(shelf, capsys):
    file = answer(shelf)
    file.write_text(file.read_text().replace("np.float32(32)", "np.float32(23)"))
    assert cli.main(["test", "guarded_map"]) == 1
    words = capsys.readouterr().out
    assert "The smallest that fails: celsius (1,) float32" in words
    assert "expected" in words
    assert "Stuck? gpukit hint guarded_map" in words


def test_another_file_may_be_tested_and_is_not_remembered(shelf, capsys):
    solution = shelf / "01_threads_blocks_grid" / "guarded_map" / "solution.py"
    assert cli.main(["test", "guarded_map", "--file", str(solution)]) == 0
    capsys.readouterr()
    assert listed(capsys)["guarded_map"] == "new"


def test_test_json_holds_every_case(shelf, capsys):
    answer(shelf)
    assert cli.main(["test", "guarded_map", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["passed"] is True
    assert {row["status"] for row in data["rows"]} == {"right"}
    assert data["points"] == 10


def test_hint_shows_one_hint_and_how_to_get_the_next(shelf, capsys):
    assert cli.main(["hint", "block_sum"]) == 0
    words = capsys.readouterr().out
    assert words.startswith("Hint 1 of 3")
    assert "The next one: gpukit hint block_sum\n" in words


def test_hint_goes_on_to_the_next_and_ends_with_the_last(shelf, capsys):
    shown = []
    for _ in range(4):
        cli.main(["hint", "block_sum"])
        shown.append(capsys.readouterr().out.split(" of")[0])
    assert shown == ["Hint 1", "Hint 2", "Hint 3", "Hint 3"]


def test_hint_begins_with_the_one_on_the_last_failure_and_goes_on_to_the_others(shelf, capsys):
    file = answer(shelf)
    file.write_text(file.read_text().replace("i < celsius", "i <= celsius"))
    cli.main(["test", "guarded_map"])
    capsys.readouterr()
    shown = []
    for _ in range(4):
        cli.main(["hint", "guarded_map"])
        shown.append(capsys.readouterr().out.split(" of")[0])
    assert shown == ["Hint 2", "Hint 1", "Hint 3", "Hint 3"]


def test_hints_begin_again_after_a_reset(shelf, capsys):
    cli.main(["hint", "block_sum", "2"])
    cli.main(["reset", "block_sum"])
    capsys.readouterr()
    cli.main(["hint", "block_sum"])
    assert capsys.readouterr().out.startswith("Hint 1")


def test_rows_of_many_words_fit_80_columns(shelf, capsys, monkeypatch):
    from gpukit.course import grade

    words = "threads of a warp that take part when it reads or writes x: 1.25, asked at least 16"

    def run(exercise, file, watch, notice):
        watch(grade.Row(words, "but"))
        return grade.Report(exercise.name, file, "wrong")

    monkeypatch.setattr(grade, "run", run)
    monkeypatch.chdir(answer(shelf).parent)
    monkeypatch.setenv("COLUMNS", "80")
    cli.main(["test", "guarded_map"])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert words in " ".join(" ".join(lines).split())


def test_the_last_hint_promises_no_more(shelf, capsys):
    cli.main(["hint", "block_sum", "3"])
    assert "The next one" not in capsys.readouterr().out


def test_reset_restores_the_starter_and_keeps_the_old_file(shelf, capsys):
    file = answer(shelf)
    mine = file.read_text()
    assert cli.main(["reset", "guarded_map"]) == 0
    assert file.read_text() == file.with_name("starter.py").read_text()
    assert file.with_name("answer.old1.py").read_text() == mine
    assert "answer.old1.py" in capsys.readouterr().out


# --- run and bench ---------------------------------------------------------------------------


def test_run_gives_the_script_its_arguments_and_takes_its_exit_code(fresh_python, tmp_path):
    script = tmp_path / "s.py"
    script.write_text("import sys\nprint(sys.argv[1:])\nsys.exit(5)\n")
    done = fresh_python("-m", "gpukit.cli", "run", str(script), "--n", "3", "x")
    assert done.stdout == "['--n', '3', 'x']\n"
    assert done.returncode == 5


def test_run_shows_a_scripts_own_traceback_without_our_frames(fresh_python, tmp_path):
    script = tmp_path / "s.py"
    script.write_text("def f():\n    return 1 / 0\n\nf()\n")
    done = fresh_python("-m", "gpukit.cli", "run", str(script))
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "s.py" in done.stderr
    assert "gpukit" not in done.stderr


def test_bench_prints_a_table(capsys):
    assert cli.main(["bench", "saxpy", "--quick", "--seconds", "0.01"]) == 0
    shown = capsys.readouterr()
    assert "against NumPy" in shown.out
    assert "saxpy" in shown.out
    assert shown.err == ""


def test_bench_json_holds_seconds_and_the_ratio(capsys):
    assert cli.main(["bench", "saxpy", "--quick", "--seconds", "0.01", "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    timing = result["timing"]
    steady = timing["varied"] <= MOST_VARIED  # else it is compared with nothing
    assert timing["low"] <= timing["paired"] <= timing["high"]
    assert result["speedup"] == (timing["paired"] if steady else None)


# --- how it looks ----------------------------------------------------------------------------


class Terminal:
    """Just enough of a terminal."""

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


def test_progress_says_nothing_where_there_is_no_terminal(capsys):
    with show.progress(2) as step:
        step("one")
        step("two")
    assert capsys.readouterr() == ("", "")


def test_a_reader_that_leaves_early_is_no_traceback():
    done = subprocess.run(
        f"{sys.executable} -m gpukit.cli list | head -c 1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")  # noqa: PTH110
@pytest.mark.usefixtures("shelf")  # a hint is written down
@pytest.mark.parametrize("command", ["list", "list --json", "hint block_sum"])
def test_output_to_a_full_disk_is_a_sentence_and_the_code_of_the_machine(command):
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
        "gpukit: error: cannot write the output: no space left on device. Make room on the disk "
        "that it goes to."
    )


def test_no_folder_for_temporary_files_is_a_sentence(monkeypatch, capsys):
    def nowhere():
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("tempfile.gettempdir", nowhere)
    monkeypatch.setattr(parser, "command", lambda name: lambda _arguments: nowhere())
    assert cli.main(["list"]) == 3
    assert "Set TMPDIR to one that you may write to" in capsys.readouterr().err
