"""`gpukit train`: a script on several ranks."""

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


@pytest.mark.slow
def test_traceback_is_printed_on_request(train):
    text = "from gpukit import parallel\nparallel.World()\nraise KeyError('mine')\n"
    done = train("--traceback", text=text)
    assert done.returncode != 0
    assert "raise KeyError('mine')" in done.stderr
    assert done.stderr.count("of 2 failed in step 0 (script.py:3): KeyError: 'mine'.") == 1


def test_script_that_is_not_there_is_named(fresh_python):
    done = fresh_python("-m", "gpukit.cli", "train", "nowhere.py")
    assert done.returncode == 2
    assert "train: expected a Python script, got 'nowhere.py'" in done.stderr


@pytest.mark.parametrize("number", ["0", "-1", "two"])
def test_number_of_ranks_must_be_positive(fresh_python, number):
    done = fresh_python("-m", "gpukit.cli", "train", "--ranks", number, "script.py")
    assert done.returncode == 2
    assert f"expected a whole number, 1 or more, got '{number}'" in done.stderr
