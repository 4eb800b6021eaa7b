"""`gpukit run` and `gpukit bench`."""

import json
import re

import pytest

from gpukit import cli
from gpukit.bench.timing import MOST_VARIED


def test_run_passes_arguments_to_the_script_and_returns_its_exit_code(fresh_python, tmp_path):
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


def test_bench_json_contains_seconds_and_the_ratio(capsys):
    assert cli.main(["bench", "saxpy", "--quick", "--seconds", "0.01", "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    timing = result["timing"]
    steady = timing["varied"] <= MOST_VARIED  # otherwise there is no ratio
    assert timing["low"] <= timing["paired"] <= timing["high"]
    assert result["speedup"] == (timing["paired"] if steady else None)


@pytest.mark.cpu
def test_bench_adds_a_column_of_the_gpu_that_is_named(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "150")
    assert cli.main(["bench", "saxpy", "--quick", "--seconds", "0.01", "--gpu", "v100"]) == 0
    shown = capsys.readouterr().out
    assert "estimated, V100" in shown
    assert re.search(r" us \([\d.]+ to [\d.]+\)", shown)


@pytest.mark.cpu
def test_bench_json_contains_the_estimate(capsys, monkeypatch):
    monkeypatch.setenv("GPUKIT_GPU", "V100")
    assert cli.main(["bench", "saxpy", "--quick", "--seconds", "0.01", "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    estimate = result["gpu_time"]["estimate"]
    assert estimate["gpu"] == "V100"
    assert estimate["floor"] < estimate["likely"] < estimate["worst"]


@pytest.mark.cpu
def test_bench_refuses_an_unknown_gpu_before_timing(capsys):
    assert cli.main(["bench", "saxpy", "--gpu", "V10"]) == 2
    shown = capsys.readouterr()
    assert "bench: expected a GPU, got 'V10'. Did you mean 'V100'?" in " ".join(shown.err.split())
    assert shown.out == ""
