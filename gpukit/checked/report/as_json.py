"""A report as plain data. The keys stay as they are while `version` is 1.

schema      always "gpukit-check"
version     1; it grows when a key changes its meaning or goes away
target      what ran the kernels, "checked"
ok          whether there are no errors
exit_code   1 with errors, or where a launch did not run to completion, else 0
counts      how many findings of each severity: error, warning, info
launches    per kernel and shape: kernel, grid, block, launches, blocks_run, seconds,
            idle_warps (warps that read and wrote nothing), stopped (what ended it before its
            last block, "" if nothing did: the counts are those up to there)
notes       what else there is to know, as sentences
findings    worst first; each with kind, tool, title, severity, kernel, file, line, source,
            other_line, other_source, array, index, threads, blocks, message, fix, count, and
            details, whose keys depend on the kind (gpukit.checked.messages lists them)
"""

from __future__ import annotations

import math
import operator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from gpukit.checked.finding import SEVERITIES, Finding
from gpukit.checked.report.merging import Launch

if TYPE_CHECKING:
    from gpukit.checked.report import Report

SCHEMA = "gpukit-check"
VERSION = 1

Parts = tuple[list[Finding], list[Launch], list[str], str]


def plain(report: Report) -> dict[str, Any]:
    """Return a report as JSON-compatible data."""
    data = {
        "schema": SCHEMA,
        "version": VERSION,
        "target": report.target,
        "ok": report.ok,
        "exit_code": report.exit_code,
        "counts": {severity: len(report.of(severity)) for severity in SEVERITIES},
        "launches": [launch._asdict() for launch in report.launched],
        "notes": report.notes,
        "findings": [finding.as_dict() for finding in report.findings],
    }
    return {key: simple(value) for key, value in data.items()}


def simple(value: Any) -> Any:
    """Return a JSON-compatible value: NumPy's numbers as Python's, unknown types as text.

    >>> simple({"size": (1, 2.5), "worst": float("inf")})
    {'size': [1, 2.5], 'worst': 'inf'}
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, dict):
        return {str(key): simple(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((simple(item) for item in value), key=repr)
    if isinstance(value, (tuple, list)):
        return [simple(item) for item in value]
    try:
        return operator.index(value)
    except TypeError:
        return _number_or_text(value)


def _number_or_text(value: Any) -> Any:
    if hasattr(value, "tolist") and not isinstance(value.tolist(), type(value)):
        return simple(value.tolist())
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    return str(value)


def parts(data: dict[str, Any]) -> Parts:
    """Return findings, launches, notes and target from what `plain` returned."""
    if (data.get("schema"), data.get("version")) != (SCHEMA, VERSION):
        raise ValueError(
            f"Report.from_json: expected schema {SCHEMA} version {VERSION}, got "
            f"{data.get('schema')} version {data.get('version')}. Write the file again with "
            "Report.to_json of this gpukit."
        )
    findings = [_finding(item) for item in data["findings"]]
    return findings, [_launch(item) for item in data["launches"]], data["notes"], data["target"]


def _launch(item: dict[str, Any]) -> Launch:
    return Launch(**{**item, "grid": tuple(item["grid"]), "block": tuple(item["block"])})


def _finding(item: dict[str, Any]) -> Finding:
    known = {each.name: item[each.name] for each in fields(Finding) if each.name in item}
    known["index"] = tuple(item["index"])
    known["threads"] = tuple(tuple(triple) for triple in item["threads"])
    known["blocks"] = tuple(tuple(triple) for triple in item["blocks"])
    return Finding(**known)
