"""`gpukit train`: a script on several ranks."""

import re

import pytest

SCRIPT = """import sys
from gpukit import parallel
world = parallel.World()
print(f"rank {world.rank} of {world.size}, deadline {world.deadline:g}", sys.argv[1:])
sys.exit(4)
"""


@pytest.fixture
def train(fresh_python, tmp_path):
    """Return a function that runs the command on a script with this text."""

    def run(*options, text=SCRIPT, arguments=()):
        script = tmp_path / "script.py"
        script.write_text(text)
        return fresh_python("-m", "gpukit.cli", "train", *options, str(script), *arguments)

    return run


def test_script_gets_its_arguments_and_gives_its_exit_code(train):
    done = train("--ranks", "1", "--deadline", "7", arguments=["--n", "3"])
    assert done.stdout == "rank 0 of 1, deadline 7 ['--n', '3']\n"
    assert (done.returncode, done.stderr) == (4, "")


@pytest.mark.slow
def test_there_are_two_ranks_unless_told(train):
    done = train()
    assert sorted(done.stdout.splitlines()) == [
        f"rank {rank} of 2, deadline 60 []" for rank in range(2)
    ]
    assert (done.returncode, done.stderr) == (4, "")


NUMBA = """from numba import cuda
import numpy as np
@cuda.jit
def fill_kernel(out):
    out[cuda.grid(1)] = 1
out = np.zeros(3)
fill_kernel[1, 3](out)
print(out.sum())
"""


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_script_for_numba_cuda_runs_unchanged_on_each_rank(train, ranks):
    done = train("--ranks", str(ranks), text=NUMBA)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3.0\n" * ranks, "")


@pytest.mark.slow
def test_a_module_runs_on_each_rank(fresh_python, tmp_path):
    (tmp_path / "program.py").write_text(NUMBA)
    done = fresh_python("-m", "gpukit.cli", "train", "-m", "program", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3.0\n" * 2, "")


FAILING = {
    "Python": ("1 / 0\n", r" \(script\.py:1\): ZeroDivisionError: division by zero"),
    "syntax": ("def f(:\n", r": SyntaxError: .* \(script\.py, line 1\)"),
    "kernel": (
        NUMBA.replace("[1, 3]", "[1, 4]"),
        r": \S*script\.py:5 in fill_kernel\n    > (.*\n)+What to do: .*",
    ),
    "in the world": (
        "from gpukit import parallel\nparallel.World()\n[][0]\n",
        r" \(script\.py:3\): IndexError: list index out of range",
    ),
}


@pytest.mark.parametrize("kind", FAILING)
@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_error_is_one_report_that_names_the_rank(train, kind, ranks):
    text, report = FAILING[kind]
    done = train("--ranks", str(ranks), text=text)
    ended = r"(\.|\n)? ?All ranks were ended\." if ranks > 1 else ""
    expected = rf"gpukit: error: rank \d of {ranks} failed{report}{ended}\n"
    assert done.returncode == 1
    assert re.fullmatch(expected, done.stderr), done.stderr


@pytest.mark.parametrize("kind", FAILING)
@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_traceback_of_the_script_is_printed_once_on_request(train, kind, ranks):
    done = train("--ranks", str(ranks), "--traceback", text=FAILING[kind][0])
    assert done.stderr.count("Traceback") == (kind != "syntax")
    assert re.match(r'(Traceback.*\n)?  File "\S*script.py", line ', done.stderr), done.stderr
    assert done.stderr.count("gpukit: error: rank ") == 1


@pytest.mark.slow
def test_rank_that_exits_with_a_code_without_a_world_is_named(train):
    done = train(text="import os, sys\nif os.environ['PMI_RANK'] == '1':\n    sys.exit(4)\n")
    assert done.returncode == 4
    assert done.stderr.startswith("gpukit: error: rank 1 of 2 exited with code 4;")


def test_script_that_is_not_there_is_named(fresh_python):
    done = fresh_python("-m", "gpukit.cli", "train", "nowhere.py")
    assert done.returncode == 2
    assert "train: expected a Python script, got 'nowhere.py'" in done.stderr


@pytest.mark.parametrize("number", ["0", "-1", "two"])
def test_number_of_ranks_must_be_positive(fresh_python, number):
    done = fresh_python("-m", "gpukit.cli", "train", "--ranks", number, "script.py")
    assert done.returncode == 2
    assert f"expected a whole number, 1 or more, got '{number}'" in done.stderr
