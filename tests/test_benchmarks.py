"""The benchmark scripts at small sizes: they run, verify results and report; no speed is tested."""

import dataclasses
import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import (
    characters,
    cluster,
    compile_time,
    float32_mathematics,
    gpu_run,
    gpu_times,
    harness,
    latency,
    mechanisms,
    speed,
    strided,
)
from gpukit.bench import cases, timing
from tests import often

pytestmark = pytest.mark.usefixtures("one_thread")


def small(name: str = "vector_add") -> timing.Comparison:
    return cases.make(name, quick=True)


# ---- harness --------------------------------------------------------------------------------


def test_sides_are_interleaved_and_warm_up_rounds_are_not_counted() -> None:
    ran: list[str] = []
    sides = {"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}
    found = harness.interleave(sides, 2, prepare=lambda: ran.append("-"))
    assert "".join(ran) == "-a-b-b-a" * 2
    assert [len(times) for times in found.values()] == [2, 2]


def test_the_time_limit_allows_a_minimum_of_rounds() -> None:
    found = harness.interleave({"a": lambda: None}, 99, seconds=0)
    assert len(found["a"]) == harness.LEAST_ROUNDS


def test_numeric_columns_are_right_aligned() -> None:
    table = harness.markdown(["name", "size", "ms", "%"], [["a", "3 x 4", "1,200.5", "12%"]])
    assert table.splitlines()[1] == "|---|---|---:|---:|"


def test_examples_in_the_docstrings_of_the_harness_are_right() -> None:
    assert doctest.testmod(harness).failed == 0


def test_writing_replaces_one_section_and_keeps_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = tmp_path / "speed.md"
    document.write_text("a\n<!-- speed begin -->\nold\n<!-- speed end -->\nb\n")
    monkeypatch.setattr(harness, "SPEED", document)
    harness.put("speed", "new")
    assert document.read_text() == "a\n<!-- speed begin -->\n\nnew\n\n<!-- speed end -->\nb\n"


def test_the_committed_table_has_a_section_for_every_script() -> None:
    text = harness.SPEED.read_text(encoding="utf-8")
    for section in ("speed", "plain loops", "strided", "precision", "compile time", "latency"):
        assert f"<!-- {section} begin -->" in text
        assert f"<!-- {section} end -->" in text


def test_the_description_of_the_machine_has_no_path() -> None:
    assert "/" not in harness.machine()


# ---- speed, latency and compile time --------------------------------------------------------


@pytest.mark.parametrize("name", [*speed.KERNELS, *speed.SCALED])
@pytest.mark.costly
def test_both_builds_of_a_kernel_compute_the_right_results(name: str) -> None:
    row = speed.measure(small(name), rounds=1)
    assert set(row.median) == {"off", "on", "NumPy"}


def test_a_kernel_with_wrong_results_is_not_timed() -> None:
    right = small()
    wrong = dataclasses.replace(right, expected=lambda: right.expected() + 1)
    with pytest.raises(SystemExit, match="100000 of 100000 values are wrong"):
        speed.measure(wrong, rounds=1)


def test_an_unwritten_element_is_a_wrong_result() -> None:
    with pytest.raises(SystemExit, match="got nan"):
        speed.check(small(), lambda: None)


def test_each_build_is_compared_with_the_target_ratio() -> None:
    times = {"off": 1.2, "on": 1.6, "NumPy": 1.0}
    assert "| yes | NO |" in speed.table([speed.Row("kernel", "1", times, times)])


def test_the_table_has_columns_for_pytorch_if_it_was_measured() -> None:
    times = {"off": 1.0, "on": 1.0, "NumPy": 1.0}
    rows = [speed.Row("a", "1", t, t) for t in (times, times | {"PyTorch": 0.5})]
    lines = speed.table(rows).splitlines()
    assert lines[-2].endswith("| - | - |")
    assert lines[-1].endswith("| 500.000 | 2.00 |")


def test_speed_prints_a_table_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "speed.json"
    arguments = ["vector_add", "--quick", "--rounds", "1", "--json", str(out)]
    assert speed.main(arguments) == 0
    assert "| vector_add | 100,000 |" in capsys.readouterr().out
    assert json.loads(out.read_text())["rows"][0]["median"].keys() == {"off", "on", "NumPy"}


def test_scaling_restores_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUKIT_THREADS", "3")
    found = speed.scaling(small(), 2, rounds=1)
    assert list(found.median) == ["1", "2"]
    assert os.environ["GPUKIT_THREADS"] == "3"
    assert "| vector_add | 100,000 | 2 |" in speed.scaling_table([found])


def test_host_functions_are_compared_with_numpy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(strided, "SIZES", {100_000: 1})
    assert strided.main(["--only", "max", "--only", "dot"]) == 0
    table = capsys.readouterr().out
    assert "| max | 100,000 |" in table
    assert "| dot | 100,000 |" in table


@pytest.mark.slow
def test_a_first_launch_is_timed_without_and_with_the_disk_cache() -> None:
    for cached in (False, True):
        passed, used = latency.first_launch(33, cached=cached, numba_first=False)
        assert passed > 0
        assert used >= 0


def test_a_failing_child_process_stops_the_benchmark_with_its_error() -> None:
    with pytest.raises(SystemExit, match="ZeroDivisionError"):
        latency.child("1 / 0")


@pytest.mark.slow
@pytest.mark.parametrize("name", often.each(compile_time.PROGRAMS, 3))
def test_the_cpu_time_of_a_programs_first_launch_is_measured(name: str) -> None:
    assert compile_time.child(harness.ROOT, name) > 0


# ---- float32 mathematics --------------------------------------------------------------------


def test_the_largest_error_of_a_function_is_reported_with_its_argument(monkeypatch) -> None:
    monkeypatch.setattr(float32_mathematics, "CHUNK", 1 << 10)
    monkeypatch.setitem(float32_mathematics.FUNCTIONS, "log", (np.log2, np.log, 1))
    x = np.full(1 << 10, 1, np.float32)
    x[77] = 3
    errors = float32_mathematics.measure("log", iter([(x,)]))
    assert errors["ulps_at"] == errors["steps_at"] == [3.0]
    assert errors["steps"] > 1e6


@pytest.mark.parametrize(("found", "right"), [(np.nan, 1.0), (1.0, np.nan), (-0.0, 0.0)])
def test_a_wrong_nan_or_sign_is_an_infinite_error(found, right) -> None:
    errors = float32_mathematics.worst(np.array([found], np.float32), np.array([right]))
    assert errors == (np.inf, 0, 1 << 32, 0)


def test_recorded_errors_of_a_formula_are_not_measured_again(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(float32_mathematics, "CHUNK", 1 << 12)
    out = tmp_path / "errors.json"
    arguments = ["pow", "hypot", "--pairs", "5000", "--json", str(out)]
    assert float32_mathematics.main(arguments) == 0
    table, rows = capsys.readouterr().out, json.loads(out.read_text("utf-8"))["functions"]
    assert [row["arguments"] for row in rows.values()] == [8192, 8192]
    assert all(row["steps"] <= row["bound"] for row in rows.values())
    monkeypatch.delattr(float32_mathematics, "measure")
    assert float32_mathematics.main(arguments) == 0
    assert capsys.readouterr().out == table


def test_the_document_of_mathematics_has_the_table_of_errors() -> None:
    text = float32_mathematics.DOCUMENT.read_text(encoding="utf-8")
    assert "<!-- errors begin -->" in text
    assert "<!-- errors end -->" in text


# ---- the GPU run ----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_rehearsed_gpu_run_records_times_ratios_and_ceilings(tmp_path, capsys) -> None:
    out = tmp_path / "gpu.json"
    assert gpu_run.main(["saxpy", "sum_shuffle", "--out", str(out), "--rehearse"]) == 0
    record = json.loads(out.read_text(encoding="utf-8"))
    assert [r["kernel"] for r in record["results"]] == ["saxpy", "sum_shuffle"]
    assert record["environment"]["numpy"] == np.__version__
    assert all(r["seconds"]["gpukit"]["median"] > 0 for r in record["results"])
    assert len(record["ceilings"]) == len(record["state"]) == 2  # one per process
    assert record["numpy"]["saxpy"]["seconds"] > 0
    assert "sum_shuffle" in capsys.readouterr().out


def test_a_gpu_run_without_a_gpu_says_so_and_writes_nothing(tmp_path, capsys) -> None:
    out = tmp_path / "gpu.json"
    assert gpu_run.main(["--out", str(out)]) == gpu_run.NO_GPU
    assert "expected a GPU, got none" in capsys.readouterr().out
    assert not out.exists()


def test_a_gpu_run_that_is_out_of_time_names_the_kernels_left_out(tmp_path, capsys) -> None:
    out = tmp_path / "gpu.json"
    assert gpu_run.main(["relu", "--out", str(out), "--rehearse", "--minutes", "0"]) == 0
    assert json.loads(out.read_text(encoding="utf-8"))["left_out"] == ["relu"]
    assert "No figures of: relu" in capsys.readouterr().out


def test_a_gpu_run_reports_wrong_results_and_does_not_time_the_kernel(monkeypatch) -> None:
    monkeypatch.setattr(gpu_times.timing, "mistake", lambda comparison: "3 of 9 values are wrong")
    wrong = {"wrong": {"relu": "3 of 9 values are wrong"}}
    assert list(gpu_times.checks(["relu"])) == [{"begun": "relu"}, wrong]
    events = list(gpu_times.times(["relu"], rehearse=True, seconds=60))
    assert wrong in events
    assert not any("results" in event for event in events)


def test_a_gpu_run_with_check_verifies_results_and_times_nothing(tmp_path) -> None:
    out = tmp_path / "gpu.json"
    assert gpu_run.main(["relu", "tanh", "--out", str(out), "--check", "--jobs", "2"]) == 0
    record = json.loads(out.read_text(encoding="utf-8"))
    assert sorted(record["right"]) == ["relu", "tanh"]
    assert record["results"] == record["left_out"] == []


@pytest.mark.slow
def test_a_crash_in_a_gpu_run_loses_only_the_kernel_that_crashed(
    tmp_path, monkeypatch, capsys
) -> None:
    """One kernel exits during verification, one during timing, and one hangs."""
    result = {
        "of": {},
        "varies": {},
        "failed": {"CuPy": "no"},
        "units": "",
        "seconds": {"gpukit": {"median": 1}},
        "bytes": 1,
        "bytes_per_second": 1,
        "flops": 0,
        "flops_per_second": 0,
    }
    part = f"""
import json, sys, time
def say(**event): print(json.dumps(event), flush=True)
for name in sys.argv[1:]:
    say(begun=name)
    if name == "fill": exit("an illegal address")
    if name == "invert": time.sleep(60)
print("chatter")
say(ready=True)
input()
say(ceilings={{"bytes": 1, "flops": 1, "how": ""}})
for name in sys.argv[1:]:
    say(begun=name)
    if name == "saxpy": exit(3)
    say(results=dict({result!r}, kernel=name))
"""

    def command(part_, options) -> list[str]:
        return [sys.executable, "-c", part, *part_.names]

    monkeypatch.setattr(gpu_run.Part, "command", command)
    monkeypatch.setattr(gpu_run, "PATIENCE", 3)
    out = tmp_path / "gpu.json"
    names = ["fill", "vector_add", "saxpy", "saxpy_vectorized", "invert", "relu"]
    assert gpu_run.main([*names, "--out", str(out), "--rehearse"]) == 1
    record = json.loads(out.read_text(encoding="utf-8"))
    assert record["died"] == {
        "fill": "ended with code 1: an illegal address",
        "saxpy": "ended with code 3",
        "invert": "stopped after 3 s of silence",
    }
    assert [r["kernel"] for r in record["results"]] == ["vector_add", "saxpy_vectorized", "relu"]
    assert "DIED at invert: stopped after 3 s" in capsys.readouterr().out
    assert "an illegal address" in (tmp_path / "gpu.log").read_text(encoding="utf-8")


def test_a_gpu_run_imports_its_own_gpukit_from_any_folder(tmp_path) -> None:
    lines = f"""
import runpy, sys
sys.path[:] = [p for p in sys.path if p and not p.startswith({str(gpu_run.ROOT)!r})
               or "site-packages" in p]
sys.meta_path[:] = [f for f in sys.meta_path if "editable" not in repr(f)]
runpy.run_path({gpu_run.__file__!r})
import gpukit
print(gpukit.__file__)
"""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", lines],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == str(gpu_run.ROOT / "gpukit" / "__init__.py"), done.stderr


def test_a_gpu_run_reports_no_ratio_to_unsteady_times() -> None:
    steady, wild = gpu_times.timing.Spread(1, 1, 1, 7), gpu_times.timing.Spread(1, 0.8, 1.1, 7)
    sides = {"gpukit": steady, "CuPy": wild, "PyTorch": steady}
    found = gpu_times.result(gpu_times.cases.make("relu", quick=True), sides)
    assert (list(found["of"]), list(found["varies"])) == (["PyTorch"], ["CuPy"])


def test_numpy_is_timed_once_for_all_variants_and_slow_work_only_once(monkeypatch) -> None:
    monkeypatch.setattr(gpu_times, "NUMPY_SLOW", 0)
    rows = [
        e["numpy"]
        for e in gpu_times.numpy_times(["relu", "relu_vectorized"], rehearse=True, seconds=9)
        if "numpy" in e
    ]
    assert rows[0]["relu"] == rows[1]["relu_vectorized"]
    assert rows[0]["relu"]["calls"] == 1
    late = list(gpu_times.numpy_times(["relu"], rehearse=True, seconds=-1))
    assert late[1]["numpy"]["relu"] == {"left_out": "no time was left"}


@pytest.mark.parametrize("mechanism", mechanisms.MECHANISMS)
def test_a_mechanism_of_the_compiler_is_disabled_only_inside_without(mechanism: str) -> None:
    owner, name, instead = mechanisms.MECHANISMS[mechanism]
    before = getattr(owner, name)
    with mechanisms.without(mechanism):
        assert getattr(owner, name) is instead
    assert getattr(owner, name) is before


@pytest.mark.slow
def test_only_mechanisms_that_change_the_loops_of_a_kernel_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GPUKIT_CACHE", "0")
    monkeypatch.setattr(mechanisms, "SECONDS", 0.01)
    found = mechanisms.measure("copy", ["rematerialise", "block coarsening"])
    assert list(found) == ["numpy", "rematerialise"]
    assert "| rematerialise | 1 |" in mechanisms.table({"copy": found}, ["rematerialise"])


@pytest.mark.slow
def test_the_character_model_trains_and_generates_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = tmp_path / "found.json"
    arguments = ["--steps", "3", "--unseen", "0.1", "--write", "5", "--json", str(found)]
    monkeypatch.setattr(sys, "argv", ["characters", *arguments])
    characters.main()
    printed = capsys.readouterr().out
    assert printed.startswith("116,060 weights")
    assert f"step     3  loss {json.loads(found.read_text())['loss']:.3f}" in printed
    assert re.search(r"seen 6\.\d\d bits, unseen 6\.\d\d\n", printed)


def test_simulators_are_checked_against_formulas_and_reported(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(cluster, "SIZES", ((3, 5),))
    monkeypatch.setattr(cluster, "RANKS", (4,))
    found = tmp_path / "cluster.json"
    assert cluster.main(["--json", str(found)]) == 0
    assert "| 1F1B | 3 x 5 | 0 | 0.2857 | 0.2857 |" in capsys.readouterr().out
    rows = json.loads(found.read_text())["published"]
    assert rows[0]["paper"] == "Goyal et al. 2017"
