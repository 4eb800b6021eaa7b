"""Reports: sorting, merging and the JSON round trip."""

import json
import random

import numpy as np
import pytest

from gpukit.checked.finding import KINDS, SEVERITIES
from gpukit.checked.report import Report, merge
from tests.checked.findings import FILE, every_kind, finding, full, report


def test_findings_come_worst_first_then_by_line():
    early = finding("out-of-bounds", line=3)
    late = finding("shared-race", line=9)
    warned = finding("float64", line=1)
    noted = finding("idle-threads")
    assert report(noted, late, warned, early).findings == [early, late, warned, noted]


def test_sorting_does_not_depend_on_the_order_of_discovery():
    findings = every_kind()
    random.Random(7).shuffle(findings)
    assert str(report(*findings)) == str(report(*every_kind()))


def test_findings_are_grouped_by_severity():
    report = full()
    assert [len(report.errors), len(report.warnings), len(report.infos)] == [
        sum(kind.severity == severity for kind in KINDS.values()) for severity in SEVERITIES
    ]


def test_an_error_makes_the_exit_code_1():
    result = report(finding("shared-race"))
    assert (result.ok, result.exit_code) == (False, 1)


def test_warnings_and_information_leave_the_exit_code_0():
    result = report(finding("float64"), finding("idle-threads"))
    assert (result.ok, result.exit_code) == (True, 0)


def test_merge_combines_findings_of_the_same_lines_and_adds_their_counts():
    first = finding("shared-race", count=28)
    again = finding("shared-race", count=3, index=(9,), message="Another element.")
    (folded,) = merge([report(first), report(again)]).findings
    assert (folded.count, folded.index, folded.message) == (31, (4,), first.message)


@pytest.mark.parametrize(
    "changes",
    [
        {"line": 16},
        {"other_line": 11},
        {"array": "other"},
        {"file": "/other.py"},
        {"kernel": "scan_kernel"},
        {"severity": "warning"},
        {"details": {"what": "x[0]"}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_merge_separates_findings_that_differ_in(changes):
    merged = merge([report(finding("shared-race")), report(finding("shared-race", **changes))])
    assert len(merged.findings) == 2


def test_merge_separates_findings_without_a_line_unless_their_messages_are_equal():
    refused = finding("launch-refused")
    other = finding("launch-refused", message="A GPU refuses this launch: too many blocks.")
    merged = merge([report(refused), report(other), report(refused)])
    assert [each.count for each in merged.findings] == [2, 1]


def test_merge_sums_launches_and_blocks():
    merged = merge([report(seconds=0.25), report(seconds=0.5), report(kernel="scan_kernel")])
    assert (merged.launches, merged.blocks_run, merged.seconds) == (3, 21, 0.75)
    assert [(each.kernel, each.launches) for each in merged.launched] == [
        ("sum_kernel", 2),
        ("scan_kernel", 1),
    ]


def test_merge_of_different_kernels_names_their_number():
    merged = merge([report(), report(kernel="scan_kernel", block=(32,)), report()])
    assert str(merged).startswith("No findings: 21 blocks in 3 launches of 2 kernels checked")


def test_merge_of_one_kernel_keeps_its_shape():
    merged = merge([report(finding("shared-race")), report()])
    assert (merged.kernel, merged.grid, merged.block) == ("sum_kernel", (7, 1, 1), (96, 1, 1))
    assert "in 2 launches of sum_kernel[7, 96]: 14 blocks" in merged.text(width=100)


def test_merge_of_merged_reports_is_the_merge_of_all():
    parts = [report(finding("shared-race")), report(*every_kind()), report(grid=(3,))]
    assert merge([merge(parts[:2]), parts[2]]) == merge(parts)


def test_merge_of_nothing_is_a_report_of_nothing():
    assert merge([]) == Report([], launches=0)


def test_merge_keeps_each_note_once():
    merged = merge([report(notes=["a", "b"]), report(notes=["b", "c"])])
    assert merged.notes == ["a", "b", "c"]


def test_merge_does_not_modify_its_inputs():
    part = report(finding("shared-race"))
    before = part.to_json()
    merge([part, part])
    assert part.to_json() == before


def test_json_has_the_documented_keys():
    data = json.loads(full().to_json())
    assert list(data) == [
        "schema",
        "version",
        "target",
        "ok",
        "exit_code",
        "counts",
        "launches",
        "notes",
        "findings",
    ]
    assert (data["schema"], data["version"]) == ("gpukit-check", 1)
    assert data["launches"] == [
        {
            "kernel": "sum_kernel",
            "grid": [7, 1, 1],
            "block": [96, 1, 1],
            "launches": 1,
            "blocks_run": 7,
            "seconds": 0.0,
            "idle_warps": 0,
            "stopped": "",
        }
    ]


def test_json_of_a_finding_has_its_tool_and_all_its_fields():
    (data,) = json.loads(report(finding("shared-race", count=28)).to_json())["findings"]
    assert data["tool"] == "racecheck"
    assert (data["kind"], data["file"], data["line"]) == ("shared-race", FILE, 15)
    assert (data["index"], data["threads"], data["count"]) == ([4], [[3, 0, 0], [4, 0, 0]], 28)


def test_json_round_trip_preserves_the_report():
    report = full()
    again = Report.from_json(report.to_json())
    assert again == report
    assert again.to_json() == report.to_json()


def test_json_round_trip_of_an_empty_report():
    assert str(Report.from_json(Report([]).to_json())) == str(Report([]))


def test_json_accepts_numpy_numbers_and_non_finite_values():
    details = {
        "given": np.int64(2**40),
        "ratio": np.float32(0.5),
        "shape": np.arange(3),
        "on": np.True_,
        "worst": float("nan"),
        "lanes": {3, 1},
        4: object,
    }
    one = finding("float64", details=details, index=(np.int32(3),))
    (data,) = json.loads(report(one).to_json())["findings"]
    assert data["details"] == {
        "given": 2**40,
        "ratio": 0.5,
        "shape": [0, 1, 2],
        "on": True,
        "worst": "nan",
        "lanes": [1, 3],
        "4": "<class 'object'>",
    }
    assert data["index"] == [3]


def test_json_of_another_version_is_rejected():
    text = full().to_json().replace('"version": 1', '"version": 2')
    with pytest.raises(ValueError, match=r"expected schema gpukit-check version 1, got .* 2\."):
        Report.from_json(text)
