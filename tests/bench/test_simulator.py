"""Comparison with Numba's simulator: times, or the reason why there are none."""

import json
import types

import numpy as np
import pytest

from gpukit import cli, target
from gpukit.bench import ceilings, register, simulator
from gpukit.bench.simulator import Simulated
from gpukit.cli import machine, show


@pytest.fixture
def small(monkeypatch):
    """Reduce the launch of every case to four threads."""
    genuine = simulator.first_launch

    def first_launch(name):
        first = genuine(name)
        a, b, out = (x[:7].copy() for x in first.arguments)
        shape = types.SimpleNamespace(grid=(2, 1, 1), block=(4, 1, 1), shared=0)
        return first._replace(shape=shape, arguments=(a, b, out))

    monkeypatch.setattr(simulator, "first_launch", first_launch)


def test_kernel_and_simulator_are_timed(small):
    found = simulator.run("vector_add")
    assert (found.kernel, found.threads, found.reason) == ("vector_add", 8, "")
    assert found.theirs > found.ours > 0


def test_a_different_result_is_not_timed(small, monkeypatch):
    monkeypatch.setattr(simulator, "_agree", lambda a, b: False)
    found = simulator.run("vector_add")
    assert (found.theirs, found.reason) == (None, "another answer than ours")


def test_results_must_agree_up_to_rounding():
    x = np.array([1, 1000], np.float32)
    assert simulator._agree(x, x + np.float32(0.5))
    assert not simulator._agree(x, x + 2)
    assert not simulator._agree(x, np.array([1, np.nan], np.float32))


def test_a_launch_that_takes_too_long_is_abandoned():
    found = simulator.run("vector_add", seconds=0.01)
    assert (found.theirs, found.reason) == (None, "more than 0 s")


def test_ptx_intrinsics_cannot_run_in_the_simulator():
    found = simulator.run("sum_vectorized")
    assert (found.theirs, found.reason) == (None, "instructions of a GPU")


def test_errors_of_the_simulator_are_shown_verbatim(small, monkeypatch):
    monkeypatch.setattr(simulator, "_has_other_forms", lambda described: False)
    monkeypatch.setattr(simulator, "CHILD", simulator.CHILD.with_name("no_such_file.py"))
    assert simulator.run("vector_add").reason.startswith("cannot: ")


def test_simulator_comparison_on_a_gpu_is_an_error_that_says_what_to_set(monkeypatch):
    monkeypatch.setattr(target, "active", lambda: target.Target("cuda", ""))
    with pytest.raises(register.BenchError, match="Set GPUKIT_TARGET=cpu"):
        simulator.run("vector_add")


def test_simulator_comparison_on_a_gpu_is_rejected_before_timing(monkeypatch):
    monkeypatch.setattr(target, "active", lambda: target.Target("cuda", ""))
    monkeypatch.setattr(ceilings, "measure", lambda: pytest.fail("something was timed"))
    assert cli.main(["bench", "fill", "--simulator"]) != 0


def test_the_table_shows_times_or_reasons():
    found = [Simulated("a", 1000, 1e-3, 2.0), Simulated("b", 8, 1e-3, None, "more than 60 s")]
    headers, rows = simulator.table(found)
    assert len(headers) == 5
    assert rows == [
        ["a", "1,000", "1 ms", "2 s", "2,000"],
        ["b", "8", "1 ms", "more than 60 s", "-"],
    ]


def test_bench_shows_the_simulator_on_request(monkeypatch, capsys):
    answer = Simulated("fill", 8, 1e-3, 2.0)
    monkeypatch.setattr(simulator, "run", lambda name: answer)
    assert cli.main(["bench", "fill", "--quick", "--simulator", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["simulator"] == [answer._asdict()]


def test_the_progress_of_the_simulator_says_what_runs_and_how_long_it_may_take(monkeypatch, capsys):
    monkeypatch.setattr(simulator, "run", lambda name: Simulated(name, 8, 1e-3, 2.0))
    monkeypatch.setattr(show, "fancy", lambda stream: True)
    machine._simulated(["fill"])
    assert "0/1 Numba's simulator, up to 60 s: fill" in capsys.readouterr().err
