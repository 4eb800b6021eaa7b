"""`gpukit run` and `gpukit bench`."""

import json

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
