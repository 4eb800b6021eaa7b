"""`gpukit doctor`: output, JSON and exit codes."""

import json

from gpukit import cli, doctor
from gpukit.course import workbook

SOUND = doctor.Machine(reason="no GPU", cache_folder="/c")


def test_doctor_prints_the_target_and_that_no_problem_was_found(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "look", lambda: SOUND)
    assert cli.main(["doctor"]) == 0
    words = capsys.readouterr().out
    assert "target" in words
    assert "cpu: no GPU" in words
    assert "All good" in words


def test_doctor_exits_with_1_and_the_fix_when_there_is_a_problem(monkeypatch, capsys):
    faulty = doctor.Machine(environment={"NUMBA_DISABLE_JIT": "1"})
    monkeypatch.setattr(doctor, "look", lambda: faulty)
    assert cli.main(["doctor"]) == 1
    words = capsys.readouterr().out
    assert "problem jit-off" in words
    assert "Fix it: unset NUMBA_DISABLE_JIT" in words


def test_doctor_exits_with_0_when_there_are_only_notes(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "look", lambda: doctor.Machine(cores=1))
    assert cli.main(["doctor"]) == 0
    assert "note one-core" in capsys.readouterr().out


def test_doctor_json_contains_machine_and_findings(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "look", lambda: doctor.Machine(cores=1))
    assert cli.main(["doctor", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["machine"]["cores"] == 1
    assert data["findings"][0]["name"] == "one-core"


def test_doctor_clear_lists_what_it_removed_and_then_that_nothing_is_left(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("GPUKIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(doctor.folders.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / ("0a" * 20)).write_bytes(b"12345")
    assert cli.main(["doctor", "--clear"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert f"removed compiled kernels (cache, 1 file, 5 bytes): {tmp_path / 'cache'}" in output
    assert cli.main(["doctor", "--clear"]) == 0
    assert capsys.readouterr().out == "The caches are empty.\n"


def test_doctor_json_names_each_folder_with_its_size(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "look", lambda: SOUND)
    assert cli.main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["folders"]
    assert {"compiled kernels", "your answers and grades"} <= {each["holds"] for each in found}
    assert all(isinstance(each["bytes"], int) for each in found)


def test_doctor_names_the_answers_of_the_workbook(shelf, monkeypatch, capsys):
    monkeypatch.setattr(doctor, "look", lambda: SOUND)
    answer = shelf.parent / "workbook" / "exercises" / "01" / "relu" / "answer.py"
    answer.parent.mkdir(parents=True)
    answer.write_text("mine")
    (shelf.parent / "workbook" / workbook.MANIFEST).write_text("{}")
    assert cli.main(["doctor", "--json"]) == 0
    folders = json.loads(capsys.readouterr().out)["folders"]
    found = next(each for each in folders if each["holds"] == "your answers and grades")
    assert (found["path"], found["files"]) == (str(answer.parents[2]), 1)
