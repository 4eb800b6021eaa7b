"""Files of known findings: what makes two findings the same, and what is kept."""

import dataclasses
import json

import pytest

from gpukit.testing.baseline import Baseline, BaselineError
from tests.checked.findings import finding


@pytest.fixture
def race(tmp_path):
    return dataclasses.replace(finding("shared-race"), file=str(tmp_path / "tests" / "sums.py"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "known.json"


@pytest.fixture
def written(tmp_path, path, race):
    """A baseline of one race, read from its file."""
    Baseline(tmp_path, path, writes=True).write([race, race])
    return Baseline(tmp_path, path)


def test_written_finding_is_known(written, race):
    assert written.knows(race)


@pytest.mark.parametrize("change", [{"line": 99, "other_line": 98}, {"count": 5}, {"index": (1,)}])
def test_finding_is_known_when_its_line_number_count_or_element_changes(change, written, race):
    assert written.knows(dataclasses.replace(race, **change))


@pytest.mark.parametrize(
    "change",
    [{"kind": "warp-race"}, {"kernel": "other_kernel"}, {"source": "x = 1"}, {"array": "b"}],
    ids=lambda change: next(iter(change)),
)
def test_finding_is_new_when_its_kind_kernel_source_or_array_changes(change, written, race):
    assert not written.knows(dataclasses.replace(race, **change))


def test_paths_in_the_file_are_relative_to_the_root(written, path):
    (entry,) = json.loads(path.read_text())["findings"]
    assert entry["file"] == "tests/sums.py"


def test_path_of_an_installed_package_is_relative_to_its_folder(tmp_path, race, monkeypatch):
    installed = tmp_path / "lib"
    monkeypatch.syspath_prepend(str(installed))
    found = dataclasses.replace(race, file=str(installed / "package" / "sums.py"))
    assert Baseline(tmp_path / "project").entry(found).file == "package/sums.py"


def test_entry_is_stale_when_its_finding_is_gone(written, race):
    assert written.stale([race]) == []
    assert [str(entry).partition(":")[0] for entry in written.stale([])] == [
        "shared-race in sum_kernel, tests/sums.py"
    ]


def test_reason_is_kept_when_the_file_is_written_again(written, race, tmp_path, path):
    data = json.loads(path.read_text())
    data["findings"][0]["reason"] = "benign"
    path.write_text(json.dumps(data))
    Baseline(tmp_path, path, writes=True).write([race, finding("float64")])
    reasons = {each["kind"]: each["reason"] for each in json.loads(path.read_text())["findings"]}
    assert reasons == {"shared-race": "benign", "float64": ""}


def test_entries_that_part_of_a_suite_did_not_find_are_kept(written, race, path):
    kept = written.write([finding("float64")], whole=False)
    assert kept == (1, 1)
    kinds = [each["kind"] for each in json.loads(path.read_text())["findings"]]
    assert sorted(kinds) == ["float64", "shared-race"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "which does not exist"),
        ("{", "which is not JSON"),
        ("[]", "not in the format gpukit-baseline version 1"),
        ('{"schema": "gpukit-baseline", "version": 2}', "not in the format"),
        ('{"schema": "gpukit-baseline", "version": 1, "findings": [{}]}', "not in the format"),
        ('{"schema": "gpukit-baseline", "version": 1, "findings": {}}', "not in the format"),
    ],
)
def test_file_that_is_no_baseline_is_named(text, words, tmp_path, path):
    if text is not None:
        path.write_text(text)
    with pytest.raises(BaselineError, match=f"known.json, .*{words}.*--gpukit-baseline-write"):
        Baseline(tmp_path, path)
