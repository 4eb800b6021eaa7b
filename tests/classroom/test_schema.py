"""The schema of a report, and that `valid` agrees with an independent validator."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit.classroom import schema
from tests.classroom import classes
from tests.conftest import ROOT

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.sampled_from(["right", "infra", "0" * 64, "abcdef12", "gpukit-grade"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


def independent():
    jsonschema = pytest.importorskip("jsonschema")
    return jsonschema.Draft202012Validator(schema.SCHEMA)


def agrees(report):
    """Tell whether both validators say the same, apart from points above `of`."""
    wrong = [what for what in schema.valid(report) if "expected at most" not in what]
    above = len(wrong) != len(schema.valid(report)) and independent().is_valid(report)
    return (schema.valid(report) == []) == (independent().is_valid(report) and not above)


def test_the_published_schema_is_the_one_that_is_used():
    published = ROOT / "docs" / "grade.schema.json"
    assert json.loads(published.read_text(encoding="utf-8")) == schema.SCHEMA
    assert published.read_text(encoding="utf-8") == json.dumps(schema.SCHEMA, indent=2) + "\n"


def test_the_schema_itself_is_valid():
    independent().check_schema(schema.SCHEMA)


@pytest.mark.parametrize("status", schema.STATUSES)
def test_reports_of_every_status_are_valid(status):
    assert schema.valid(classes.report(status=status)) == []
    assert independent().is_valid(classes.report(status=status))


@pytest.mark.parametrize("name", schema.SCHEMA["required"])
def test_a_missing_field_is_named(name):
    report = classes.report()
    del report[name]
    assert f"{name}: missing" in schema.valid(report)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"status": "fine"}, "status: expected one of right, but, wrong,"),
        ({"version": 2}, "version: expected 1, got 2"),
        ({"version": True}, "version: expected 1, got True"),
        ({"points": 11}, "points: expected at most 10, got 11"),
        ({"points": -1}, "points: expected at least 0, got -1"),
        ({"points": 2.5}, "points: expected integer, got 2.5"),
        ({"points": True}, "points: expected integer, got True"),
        ({"points": None}, "points: expected integer, got None"),
        ({"status": "infra"}, "points: expected null, got 10"),
        ({"student": ""}, "student: expected at least 1 character, got none"),
        ({"rows": [{"name": "x", "status": "right"}]}, "rows[0].sizes: missing"),
        ({"rows": {}}, "rows: expected array, got {}"),
        ({"sha256": "x" * 64}, "sha256: expected hexadecimal digits, got 'xxx"),
        ({"shingles": ["1234567"]}, "shingles[0]: expected hexadecimal digits, got '1234567'"),
        ({"counters": {"barriers": -1}}, "counters.barriers: expected at least 0, got -1"),
    ],
)
def test_what_is_wrong_is_said(change, said):
    (only,) = schema.valid(classes.report() | change)
    assert only.startswith(said)


@pytest.mark.parametrize("value", [None, [], "x", 1, True])
def test_a_report_that_is_no_object_is_refused(value):
    (only,) = schema.valid(value)
    assert only.startswith("the report: expected object, got ")


def test_unknown_fields_are_allowed():
    assert schema.valid(classes.report(more=1)) == []


@given(
    st.dictionaries(st.sampled_from([*schema.SCHEMA["properties"]]), JSON, max_size=3), st.data()
)
def test_both_validators_agree_on_changed_reports(change, data):
    report = classes.report(status=data.draw(st.sampled_from([*schema.STATUSES]))) | change
    for name in data.draw(st.lists(st.sampled_from([*report]), max_size=2)):
        report.pop(name, None)
    assert agrees(report)


@given(JSON)
def test_both_validators_agree_on_any_value(value):
    assert agrees(value)


@given(
    st.lists(st.dictionaries(st.sampled_from(["name", "status", "sizes", "x"]), JSON), max_size=3)
)
def test_both_validators_agree_on_rows(rows):
    assert agrees(classes.report(rows=rows))


@given(st.dictionaries(st.sampled_from(["global_bytes", "barriers", "x"]), JSON))
def test_both_validators_agree_on_counters(counters):
    assert agrees(classes.report(counters=counters))
