"""`%%ranks N` in a notebook: the cell runs as a program on N ranks."""

import pytest

from gpukit.errors import RankError
from gpukit.parallel import launcher

CELL = "from gpukit import parallel\nworld = parallel.World()\n"


def test_cell_runs_as_a_program(shell, capsys):
    shell.run_cell_magic("ranks", "1", f"{CELL}print('rank', world.rank, 'of', world.size)")
    assert capsys.readouterr().out == "rank 0 of 1\n"


@pytest.mark.slow
def test_cell_runs_on_several_ranks(shell, capsys):
    shell.run_cell_magic("ranks", "3", f"{CELL}print(world.totals(world.rank)[0])")
    assert capsys.readouterr().out == "3.0\n" * 3


def test_failing_rank_is_reported_with_its_line(shell, capsys):
    shell.run_cell_magic("ranks", "1", "from gpukit import parallel\n1 / 0\n")
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_rank_that_a_signal_ended_is_an_error(shell):
    with pytest.raises(RankError, match=r"rank 0 of 1 was ended by signal 9 \(SIGKILL\)"):
        shell.run_cell_magic("ranks", "1", f"{CELL}import os\nos.kill(os.getpid(), 9)\n")


@pytest.mark.parametrize("line", ["", "two", "0", "2 -1", "2 3 4"])
def test_line_must_name_a_number_of_ranks(shell, line, monkeypatch):
    monkeypatch.setattr(launcher, "run", lambda *_, **__: pytest.fail("started"))
    with pytest.raises(RankError, match="expected a number of ranks"):
        shell.run_cell_magic("ranks", line, CELL)
