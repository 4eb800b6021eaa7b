"""The comparison with a GPU, on tables in the format of Nsight Compute; needs no GPU."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from benchmarks import counters_on_gpu as comparison
from gpukit import target
from tests.checked.access.patterns import PATTERNS

HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
)
BEFORE = "==PROF== Connected to process 71\ndevice: NVIDIA Test GPU\n"
COUNTED = {
    name: {c: p.figures.get(c, 0) for pair in comparison.RATIOS.values() for c in pair}
    for name, p in PATTERNS.items()
}


def row(number: int, metric: str, value: str) -> str:
    return (
        f'"{number}","71","python3","host","k(Array<float, 1>)","1","7","(32, 1, 1)","(1, 1, 1)",'
        f'"0","9.0","Command line profiler metrics","{metric}","sector","{value}"'
    )


def table(counted: dict[str, dict[str, int]]) -> str:
    """Return output of Nsight Compute with the counts of gpukit."""
    parts = comparison.metrics()
    rows = [
        row(number, metric, f"{value if metric == parts[counter][-1] else 0:,}")
        for number, counters in enumerate(counted.values())
        for counter, value in counters.items()
        for metric in parts[counter]
    ]
    return "\n".join([BEFORE + HEAD, *rows, "==PROF== Disconnected from process 71"])


def test_a_table_is_read_launch_by_launch() -> None:
    lines = [HEAD, row(0, "a.sum", "1,024"), row(0, "b.sum", "3.5"), row(1, "a.sum", "n/a")]
    first, second = comparison.parse(BEFORE + "\n".join(lines) + "\n==PROF== Disconnected\n")
    assert first.kernel == "k(Array<float, 1>)"
    assert first.metrics == {"a.sum": 1024, "b.sum": 3.5}
    assert second.metrics == {}


def test_output_without_a_table_is_rejected() -> None:
    with pytest.raises(comparison.Unable, match="no table"):
        comparison.parse("==ERROR== No kernels were profiled.")


def test_equal_counters_agree_in_every_pattern() -> None:
    found = comparison.compare(COUNTED, comparison.parse(table(COUNTED)))
    summary = comparison.judged(found)
    assert summary["agree"] == summary["patterns"] == len(PATTERNS)
    assert summary["met"]


def test_twice_the_sectors_are_a_difference_without_a_reason() -> None:
    name = "load at stride 2"
    counters = {**COUNTED[name], "global_load_sectors": 16}
    launches = comparison.parse(table({**COUNTED, name: counters}))
    (off,) = [r for r in comparison.compare(COUNTED, launches) if not r.agrees]
    assert (off.pattern, off.ratio, off.ours, off.gpu) == (name, "global load", 8, 16)
    assert comparison.judged([off])["unexplained"] == [name]


def test_a_counter_that_the_gpu_does_not_have_is_a_difference() -> None:
    name = "banks at stride 2"
    launches = comparison.parse(table({**COUNTED, name: dict.fromkeys(COUNTED[name], 0)}))
    off = [r for r in comparison.compare(COUNTED, launches) if not r.agrees]
    assert {(r.pattern, r.gpu) for r in off} == {(name, None)}


def test_known_difference_is_reported_with_its_reason() -> None:
    name = "4 phases at stride 1"
    counters = {**COUNTED[name], "shared_load_wavefronts": 9}
    launches = comparison.parse(table({**COUNTED, name: counters}))
    (off,) = [r for r in comparison.compare(COUNTED, launches) if not r.agrees]
    assert "complex" in off.differs
    assert comparison.judged([off])["unexplained"] == []


def test_missing_launch_is_rejected() -> None:
    launches = comparison.parse(table(COUNTED))
    with pytest.raises(comparison.Unable, match=f"saw {len(PATTERNS) - 1} launches"):
        comparison.compare(COUNTED, launches[1:])


def test_figures_from_another_machine_are_compared_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there, kept = tmp_path / "ncu.csv", tmp_path / "kept.json"
    there.write_text(table(COUNTED))
    monkeypatch.setattr(comparison, "child", lambda *_, **__: json.dumps(COUNTED))
    assert comparison.main(["--csv", str(there), "--json", str(kept)]) == 0
    record = json.loads(kept.read_text())
    assert (record["device"], record["part"]) == ("NVIDIA Test GPU", 1)
    assert f"{len(PATTERNS)} of {len(PATTERNS)} patterns agree" in capsys.readouterr().out


def test_part_without_figures_is_named_with_the_results_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first part runs out of time."""

    def child(mode: str, *_: str, part: str, seconds: float) -> str:
        assert 0 < seconds <= 60
        if part.startswith("0/"):
            raise comparison.Unable("out of time")
        counted = {name: COUNTED[name] for name in comparison.patterns(part)}
        return json.dumps(counted) if mode == "--count" else table(counted)

    kept = tmp_path / "kept.json"
    monkeypatch.setattr(comparison, "missing", lambda: "")
    monkeypatch.setattr(comparison, "known_metrics", list)
    monkeypatch.setattr(comparison, "child", child)
    assert comparison.main(["--minutes", "1", "--jobs", "2", "--json", str(kept)]) == 1
    record = json.loads(kept.read_text())
    assert record["left_out"] == ["out of time"]
    assert record["agree"] == len(PATTERNS) - len(comparison.patterns(f"0/{comparison.PARTS}"))
    assert "out of time" in capsys.readouterr().out


def test_missing_gpu_is_reported_with_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(target, "usable_gpu", lambda: target.Gpu(False, "no driver was found"))
    assert comparison.main([]) == 3
    message = capsys.readouterr().err
    assert "There is no GPU that Numba can use: no driver was found" in message
    assert "Nothing was compared." in message


def test_missing_nsight_compute_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(target, "usable_gpu", lambda: target.Gpu(True, "", ("numba.cuda",)))
    monkeypatch.setattr(comparison.shutil, "which", lambda _: None)
    assert comparison.main([]) == 3
    assert "Nsight Compute is missing" in capsys.readouterr().err


def test_nsight_compute_runs_without_clock_control(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[str] = []
    nothing = subprocess.CompletedProcess([], 1, "", "")
    monkeypatch.setattr(comparison.subprocess, "run", lambda *_, **__: nothing)
    monkeypatch.setattr(comparison, "child", lambda *command, **_: requests.extend(command) or "")
    comparison.under_ncu(comparison.known_metrics())
    assert requests[requests.index("--clock-control") + 1] == "none"


def test_child_process_receives_the_options_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "carried")
    environment: dict[str, str] = {}
    done = subprocess.CompletedProcess([], 0, "", "")
    monkeypatch.setattr(
        comparison.subprocess, "run", lambda *_, env, **__: environment.update(env) or done
    )
    comparison.child("--count", "cpu")
    assert environment["PYTHONPATH"].split(os.pathsep) == [str(comparison.ROOT), "carried"]


def test_every_ratio_names_metrics_of_the_tool() -> None:
    parts = comparison.metrics()
    assert "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum" in parts["global_atomic_sectors"]
    for counter, names in parts.items():
        assert all(n.endswith(".sum") and " " not in n for n in names), counter
