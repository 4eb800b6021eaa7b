"""The calibration on a GPU, as far as it needs none; `tests/gpu/test_walk.py` walks the rest."""

import dataclasses
import doctest
import hashlib
import json
import subprocess
import sys
import types
import typing

import numpy as np
import pytest

from benchmarks import calibrate, calibrate_parts, calibrate_tables, microbenchmarks
from benchmarks.microbenchmarks import GROUPS, Scale
from gpukit.bench import cases
from gpukit.estimates import gpus, model, published

H100 = gpus.find("H100")
TRUE = model.Constants(overlap=1.5, clock=0.9, dependency=1.0)  # of the grid that is searched


def work(size):
    """Return what a launch asks for, limited by latency, arithmetic and memory alike."""
    requests = 40_000.0 * size
    return {
        "blocks": 500 * size,
        "threads": 256,
        "global_loads": requests,
        "global_requests": requests,
        "lines": requests,
        "instructions": 25 * requests,
        "float32": 8 * requests,
        "trips": requests / 4,
        "footprint": 128 * requests,
        "block_footprint": 128 * requests,
    }


def made_up(constants=TRUE, kernels=tuple(calibrate_parts.KERNELS)):
    """Return a record whose times are those that the model gives with some constants."""
    record = calibrate_tables.new("H100", rehearsal=False)
    for k, kernel in enumerate(kernels):
        for size in (1 + k, 40 + 3 * k):
            label, works = calibrate_parts.label(kernel, (size,)), [work(size)]
            expected = calibrate_tables.case("H100", kernel, 1.0, works)
            old, true = expected.estimate(), expected.estimate(constants)
            basis = calibrate_tables.Basis(
                floor=old.floor,
                likely=old.likely,
                worst=old.worst,
                bound=old.bound,
                refused="",
                modelled=True,
                wide=[],
                works=works,
            )
            launches = [[[work(size)["blocks"]], [256]]]
            seconds = {"median": true.likely, "low": true.likely, "high": true.likely, "samples": 9}
            bases = {"source": basis}
            record["predictions"][label] = {"kernel": kernel, "launches": launches, "bases": bases}
            time = {"kernel": kernel, "launches": launches, "seconds": seconds, "state": {}}
            record["times"][label] = time
    record["sha256"] = calibrate_tables.digest(record)
    return record


# ---- microbenchmarks ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_microbenchmarks_give_the_right_results(group):
    scale = dataclasses.replace(Scale.of(H100, small=True), rounds=34)  # addresses change at 32
    assert {one.name: one.mistake() for one in GROUPS[group](scale) if one.mistake()} == {}


def test_a_microbenchmark_with_another_result_is_wrong():
    (one,) = GROUPS["launches"](Scale.of(H100, small=True))
    wrong = dataclasses.replace(one, expected=np.zeros(32, np.float32))
    assert wrong.mistake() == "32 of 32 results are wrong"


def test_names_of_microbenchmarks_differ():
    small = Scale.of(H100, small=True)
    names = [one.name for make in GROUPS.values() for one in make(small)]
    assert len(set(names)) == len(names)


def test_a_microbenchmark_as_fast_as_the_model_gives_the_figure_of_the_model():
    one = GROUPS["shared loads"](Scale.of(H100, small=True))[0]
    seconds = one.amount / (one.model * H100.clock)
    assert microbenchmarks.figure(one.unit, one.amount / seconds, H100.clock) == pytest.approx(1)
    assert microbenchmarks.figure("cycles", 1e6, 1.5e9) == 1500
    assert microbenchmarks.figure("s", 4.0, 1.5e9) == 0.25
    assert microbenchmarks.figure("bytes/s", 4.0, 1.5e9) == 4


# ---- predictions and their hash -------------------------------------------------------------


def test_25_kernels_of_the_book_have_two_sizes_each():
    kernels = calibrate_parts.KERNELS
    assert len(kernels) == 25
    assert kernels.keys() <= cases.CASES.keys()
    assert {len(set(sizes)) for sizes in kernels.values()} == {2}


def test_the_hash_is_that_of_canonical_json():
    record = calibrate_tables.new("T4", rehearsal=False)
    record["constants"] = {"overlap": 2.0, "clock": 0.1}
    text = '{"constants":{"clock":0.1,"overlap":2.0},"gpu":"T4","predictions":{}}'
    assert calibrate_tables.digest(record) == hashlib.sha256(text.encode()).hexdigest()


def test_the_hash_survives_a_file_and_another_order():
    record = made_up()
    again = json.loads(json.dumps(record, indent=1))
    again["predictions"] = dict(reversed(again["predictions"].items()))
    assert calibrate_tables.digest(again) == record["sha256"]


def test_the_hash_is_another_when_a_prediction_changes_in_its_last_digit():
    record = made_up()
    basis = next(iter(record["predictions"].values()))["bases"]["source"]
    basis["likely"] = float(np.nextafter(basis["likely"], 1))
    assert calibrate_tables.digest(record) != record["sha256"]
    assert "NOT THESE PREDICTIONS" in calibrate_tables.markdown(record)


def test_a_prediction_of_nan_has_no_hash():
    record = made_up()
    next(iter(record["predictions"].values()))["bases"]["source"]["likely"] = float("nan")
    with pytest.raises(ValueError, match="not JSON compliant"):
        calibrate_tables.digest(record)


def test_grids_are_those_of_the_gpu_that_is_estimated(monkeypatch):
    """A grid-stride loop over many elements fills 132 SMs with 8 blocks of 256 threads."""
    monkeypatch.setitem(calibrate_parts.KERNELS, "sum_shuffle", [(600_000,)])
    monkeypatch.setattr(calibrate_parts, "_predicted", lambda *_, **__: {"basis": "source"})
    monkeypatch.setattr(calibrate_parts.machine_code, "available", lambda: False)
    found = list(calibrate_parts.predictions("sum_shuffle", H100, rehearse=False))
    labels = {
        name: one["launches"] for event in found for name, one in event["predictions"].items()
    }
    assert labels["sum_shuffle 600000"][-1] == [[132 * 8], [256]]


# ---- refit ----------------------------------------------------------------------------------


def test_about_half_of_the_kernels_are_held_out():
    kernels = calibrate_parts.KERNELS
    assert 10 <= sum(map(calibrate_tables.held_out, kernels)) <= 15


@pytest.mark.parametrize("true", [TRUE, model.Constants(2.5, 1.0, 3.0)])
def test_a_refit_finds_the_constants_that_the_times_were_made_with(true):
    found = calibrate_tables.refit(made_up(true))
    assert found["refitted"] == vars(true)
    after = {row["half"]: row for row in found["rows"] if row["constants"] == "refitted"}
    assert after["held out"]["largest"] == after["fitted"]["largest"] == 1
    assert "1.00" in calibrate_tables.refit_table(found)


def test_a_refit_does_not_see_the_kernels_that_are_held_out():
    record = made_up()
    for time in record["times"].values():
        if calibrate_tables.held_out(time["kernel"]):
            time["seconds"]["median"] *= 3
    found = calibrate_tables.refit(record)
    assert found["refitted"] == vars(TRUE)
    row = next(r for r in found["rows"] if (r["half"], r["constants"]) == ("held out", "refitted"))
    assert row["median"] == 3


def test_a_refit_leaves_out_kernels_that_the_model_is_not_made_for_and_other_launches():
    record = made_up()
    first, second, *_ = record["predictions"]
    record["predictions"][first]["bases"]["source"]["modelled"] = False
    record["times"][second]["launches"] = [[[1], [32]]]
    assert len(list(calibrate_tables.cases(record, "source"))) == len(record["times"]) - 2


def test_a_refit_of_one_half_is_refused():
    fitted = [name for name in calibrate_parts.KERNELS if not calibrate_tables.held_out(name)]
    with pytest.raises(ValueError, match="timed kernels in both halves"):
        calibrate_tables.refit(made_up(kernels=fitted))


def test_a_refit_prints_a_proposal_and_changes_nothing(tmp_path, capsys):
    file, before = tmp_path / "record.json", published.RECORD.read_bytes()
    file.write_text(json.dumps(made_up()))
    written = file.read_bytes()
    assert calibrate.main(["--refit", str(file)]) == 0
    assert "refitted: overlap 1.5, clock 0.9, dependency 1" in capsys.readouterr().out
    assert (file.read_bytes(), published.RECORD.read_bytes()) == (written, before)


# ---- the run --------------------------------------------------------------------------------


def told(record, kind=calibrate_tables.Record, path="record"):
    """Return where a record differs from its schema."""
    if typing.is_typeddict(kind):
        hints = typing.get_type_hints(kind)
        if record.keys() != hints.keys():
            return [f"{path}: {sorted(record.keys() ^ hints.keys())}"]
        return [line for key in hints for line in told(record[key], hints[key], f"{path}.{key}")]
    origin, inner = typing.get_origin(kind) or kind, typing.get_args(kind)
    if origin is float:
        origin = (int, float)
    if origin is not typing.Any and not isinstance(record, origin):
        return [f"{path}: {record!r} is no {kind}"]
    items = record.items() if origin is dict else enumerate(record) if origin is list else ()
    return [line for k, v in items for line in told(v, inner[-1], f"{path}[{k!r}]")]


def test_made_up_records_have_the_documented_schema():
    assert told(made_up()) == []


@pytest.mark.slow
def test_a_rehearsal_predicts_measures_and_prints(tmp_path, capsys):
    out = tmp_path / "record.json"
    assert calibrate.main(["fill", "sum_atomic", "--rehearse", "--out", str(out)]) == 0
    record = json.loads(out.read_text(encoding="utf-8"))
    assert told(record) == []
    assert record["sha256"] == calibrate_tables.digest(record)
    assert record["hashed_at"] <= record["timed_at"]
    assert list(record["times"]) == list(record["predictions"])
    assert {one["kernel"] for one in record["times"].values()} == {"fill", "sum_atomic"}
    assert len(record["microbenchmarks"]) == 29
    assert (record["wrong"], record["failed"], record["left_out"]) == ({}, {}, [])
    printed = capsys.readouterr().out
    assert "| measured, us | floor | likely | worst |" in printed
    assert calibrate.main(["--show", str(out)]) == 0
    assert capsys.readouterr().out.strip() in printed


def run(tmp_path, monkeypatch, parts, minutes=1.0):
    """Run a calibration of `fill` and `copy` whose parts are the given programs."""
    found = calibrate.Run(tmp_path / "record.json", rehearse=True, minutes=minutes)

    def command(what, name):
        return [sys.executable, "-c", parts.get((what, name)) or parts.get(what, "")]

    monkeypatch.setattr(found, "command", command)
    found.everything("H100", ["fill", "copy"], 2)
    return json.loads(found.out.read_text(encoding="utf-8"))


def says(**event):
    return f"print({json.dumps(json.dumps(event))}, flush=True)\n"


def labels(name):
    return [calibrate_parts.label(name, n) for n in calibrate_parts.sizes(name, rehearse=True)]


def predicts(name, count=2):
    prediction = next(iter(made_up(kernels=[name])["predictions"].values()))
    return says(predictions=dict.fromkeys(labels(name)[:count], prediction))


def times(name):
    time = next(iter(made_up(kernels=[name])["times"].values()))
    return says(times=dict.fromkeys(labels(name), time))


@pytest.mark.parametrize(
    ("end", "failed"),
    [
        ("raise SystemExit('boom')", "code 1: boom"),
        ("import time; time.sleep(60)", "stopped after 2 s"),
    ],
)
def test_a_part_that_dies_or_hangs_loses_only_what_it_had_not_said(
    tmp_path, monkeypatch, end, failed
):
    monkeypatch.setitem(calibrate.PATIENCE, "times", 2.0)
    parts = {("predictions", name): predicts(name) for name in ("fill", "copy")}
    parts |= {("times", "fill"): times("fill") + end, ("times", "copy"): times("copy")}
    record = run(tmp_path, monkeypatch, parts)
    assert list(record["times"]) == [*labels("fill"), *labels("copy")]
    assert record["failed"] == {"times fill": failed}


def test_a_kernel_that_was_not_predicted_at_both_sizes_is_not_timed(tmp_path, monkeypatch):
    parts = {
        ("predictions", "copy"): predicts("copy"),
        ("predictions", "fill"): predicts("fill", 1),
    }
    parts |= {("times", name): times(name) for name in ("fill", "copy")}
    record = run(tmp_path, monkeypatch, parts)
    assert list(record["times"]) == labels("copy")
    assert record["left_out"] == ["fill"]


def test_the_hash_is_in_the_file_before_a_kernel_is_timed(tmp_path, monkeypatch):
    read = (
        f"import json; found = json.load(open({str(tmp_path / 'record.json')!r}))\n"
        "print(json.dumps({'environment': {'sha256': found['sha256']}}))"
    )
    parts = {("predictions", "fill"): predicts("fill"), ("times", "fill"): read}
    record = run(tmp_path, monkeypatch, parts)
    assert record["environment"]["sha256"] == record["sha256"] == calibrate_tables.digest(record)


def test_what_a_library_prints_is_no_news():
    lines = ["warning", "[1]", '{"progress": 1}', '{"failed": {"x": "y"}}']
    found = calibrate._events(types.SimpleNamespace(stdout=lines))
    assert list(found) == [("failed", {"x": "y"})]


def test_a_process_that_keeps_the_gpu_for_too_long_ends(tmp_path):
    code = (
        "import time; from pathlib import Path; from benchmarks import calibrate_parts as parts\n"
        "parts.TURN = 0.2\n"
        f"with parts._alone(Path({str(tmp_path / 'turn')!r})):\n    time.sleep(60)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=calibrate.ROOT, capture_output=True, timeout=50
    )
    assert done.returncode == 1
    assert b"Timeout" in done.stderr


def test_a_launch_other_than_the_predicted_one_is_wrong(tmp_path):
    found = calibrate.Run(tmp_path / "record.json", rehearse=True, minutes=1)
    found.record = made_up(kernels=["fill"])
    found.record["times"]["fill 1"]["launches"] = [[[7], [32]]]
    found.finish(["fill"])
    assert found.record["wrong"].keys() == {"fill 1"}


def test_a_calibration_without_time_leaves_out_all_kernels(tmp_path, capsys):
    out = tmp_path / "record.json"
    assert calibrate.main(["fill", "--rehearse", "--minutes", "0", "--out", str(out)]) == 0
    assert json.loads(out.read_text(encoding="utf-8"))["left_out"] == ["fill"]
    assert "No figures of: fill" in capsys.readouterr().out


def test_the_parts_have_less_time_than_the_calibration_and_predictions_less_than_that(tmp_path):
    before = calibrate.time.monotonic()
    found = calibrate.Run(tmp_path / "record.json", rehearse=False, minutes=6)
    after = calibrate.time.monotonic()
    assert before + 0.6 * 360 <= found.predicted <= after + 0.6 * 360
    assert found.predicted < found.end <= after + 360 - calibrate.GRACE


def test_a_calibration_without_a_gpu_says_so_and_writes_nothing(tmp_path, capsys):
    out = tmp_path / "record.json"
    assert calibrate.main(["--out", str(out)]) == calibrate.NO_GPU
    assert "expected a GPU, got none" in capsys.readouterr().out
    assert not out.exists()


def test_a_kernel_that_is_not_calibrated_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        calibrate.main(["gelu", "--rehearse", "--out", str(tmp_path / "record.json")])
    assert "got gelu" in capsys.readouterr().err


def test_the_table_counts_times_outside_of_the_band():
    record = made_up(model.FITTED, ["fill"])
    low, high = record["times"].values()
    low["seconds"]["median"], high["seconds"]["median"] = 1e-9, 1.0
    assert "1 below the floor, 1 above the worst" in calibrate_tables.markdown(record)


def test_the_table_takes_from_each_basis_the_kernels_that_have_it():
    record = made_up(model.FITTED, ["fill", "copy"])
    predicted, times = list(record["predictions"].values()), list(record["times"].values())
    predicted[0]["bases"]["SASS"] = predicted[0]["bases"]["source"]
    predicted[1]["bases"]["SASS and source"] = predicted[1]["bases"]["source"]
    times[2]["seconds"]["median"] = times[3]["seconds"]["median"] = 1e-9
    predicted[3]["bases"]["source"]["modelled"] = False
    text = calibrate_tables.markdown(record)
    sass, source = text[text.index("From SASS") :].split("\n")[:2]
    assert sass.startswith("From SASS, 1 times: ")
    assert sass.endswith("; 0 below the floor, 0 above the worst.")
    assert source.startswith("From source, 3 times: ")
    assert source.endswith("; 1 below the floor, 0 above the worst.")


def test_the_examples_in_the_docstrings_hold():
    assert not any(doctest.testmod(one).failed for one in (calibrate_parts, calibrate_tables))
