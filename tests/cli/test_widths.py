"""Output of commands fits the terminal: no long lines, broken words or omissions."""

import contextlib
import re

import pytest

from gpukit import cli, doctor, errors
from gpukit.bench import ceilings, timing
from gpukit.cli import parser
from gpukit.course import catalogue, progress
from tests.situations.obstacles import SCRIPT

RACE = SCRIPT.replace("out[i] = i", "out[i * 0] = 0.1 * cuda.threadIdx.x * 3 + cuda.blockIdx.x")
FAULTY = doctor.Machine(
    cores=1, cache_folder="/c", cache_error="Permission denied", reason="no NVIDIA driver was found"
)
FOLDERS = [doctor.folders.Folder("compiled kernels", "/home/reader/.cache/gpukit", 9, 12345, True)]
# Words with which a profile explains that it shows fewer columns.
LEFT_OUT = set("Not shown for lack of space Use a wider terminal to see them".split())
# Read-only commands, whose words must be the same at 100 columns and at fewer.
COMMANDS = (
    "list",
    "hint brighten 1",
    "doctor",
    "check script.py",
    "profile script.py",
    "ptx saxpy",
    "sass saxpy",
    "codegen saxpy relu_grad",
    "bench saxpy matmul_register_tile_2d",
)
WRONG = ("tset", "bench --quik", "test blok_sum", "hint brighten 9", "run nope.py", "ptx nope")
HELP = ["--help", *(f"{name} --help" for name in parser.build().commands)]


def measured(comparison, _budget):
    """Return a result of `bench` for a case without timing it."""
    spread = timing.Timing(0.000123, 0.0456, 9)
    return timing.Result(
        comparison.name,
        comparison.group,
        comparison.size,
        True,
        "",
        0.1,
        spread,
        comparison.cost,
        1000,
    )


@pytest.fixture
def printed(tmp_path, monkeypatch, capsys, compiled):
    """Return a function that runs a command at a given terminal width and returns its output."""
    (tmp_path / "script.py").write_text(RACE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "look", lambda: FAULTY)
    monkeypatch.setattr(doctor.folders, "look", lambda _: FOLDERS)
    monkeypatch.setattr(ceilings, "measure", lambda: ceilings.Ceilings(1e10, 1e11, "a copy"))
    monkeypatch.setattr(timing, "run", measured)
    monkeypatch.setattr(progress, "hint_shown", lambda *_: None)  # it would record progress

    def run(command, columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        with contextlib.suppress(SystemExit):
            cli.main(command.split())
        shown = capsys.readouterr()
        return shown.out + shown.err

    return run


def words(text):
    """Return the words of a text without numbers, some of which a profile prints only once."""
    return set(re.findall(r"[^\W\d]\w*", text))


@pytest.mark.parametrize("width", [80, 60])
@pytest.mark.parametrize("command", [*COMMANDS, *WRONG, *HELP])
def test_output_fits_the_terminal_without_losing_or_breaking_words(command, width, printed):
    wide, narrow = printed(command, 100), printed(command, width)
    assert wide.strip()
    assert [line for line in narrow.splitlines() if len(line) > width] == []
    assert words(wide) - words(narrow) == set()
    assert words(narrow) - words(wide) - LEFT_OUT == set()


def test_list_uses_one_or_two_lines_per_exercise(printed):
    assert len(printed("list", 80).splitlines()) < 2 * len(catalogue.every())


@pytest.mark.parametrize("width", [100, 80, 60, 40])
def test_bench_keeps_its_numbers_with_their_units(width, printed):
    shown = printed("bench saxpy", width)
    assert "123 us" in shown
    assert "45.6 ms" in shown


def test_bench_uses_one_line_for_a_matrix_product(printed):
    lines = printed("bench matmul", 80).splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("matmul_uncoalesced"))
    assert "512x512x512" in lines[first]
    assert lines[first + 1].startswith("matmul_")


@pytest.mark.parametrize("columns", ["60", "80"])
def test_an_error_that_names_its_line_fits_the_terminal_that_it_is_printed_in(columns, monkeypatch):
    long = "word " * 60
    error = errors.KernelError(long, kernel="k", file="s.py", line=3, source="x = 1", fix=long)
    assert len(str(error).splitlines()) == 4
    monkeypatch.setenv("COLUMNS", columns)
    assert max(map(len, str(error).splitlines())) <= int(columns)
    assert str(error).split() == f"s.py:3 in k > x = 1 {long} What to do: {long}".split()


def test_output_to_a_file_is_one_line_per_row(printed, monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS", raising=False)
    cli.main(["list"])
    titles = [exercise.title for exercise in catalogue.every()]
    lines = capsys.readouterr().out.splitlines()
    assert [title for title in titles if not any(title in line for line in lines)] == []
