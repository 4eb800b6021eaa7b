"""One finding per mistake: merges those of one cause, drops those that a worse one covers."""

from __future__ import annotations

import dataclasses
from typing import Any

from gpukit.checked.finding import ERROR, INFO, KINDS, WARNING, Finding
from gpukit.checked.messages.phrases import listed_lines

# Reads of memory that was never written: global, shared, local.
UNSET = ("uninitialised-global", "uninitialised-shared", "uninitialised-local")
_RANKS = {ERROR: 0, WARNING: 1, INFO: 2}


def merged(found: list[Finding]) -> list[Finding]:
    """Return the findings of a launch without repeats and without those that others cover."""
    return _without_lesser(_one_a_cause(found))


def _one_a_cause(found: list[Finding]) -> list[Finding]:
    """Merge the reads of one array that was never written into one finding, across lines."""
    firsts: dict[Any, list[Finding]] = {}
    for f in found:
        unset = f.kind in UNSET
        firsts.setdefault((f.kind, f.kernel, f.file, f.array) if unset else id(f), []).append(f)
    return [_joined(group) for group in firsts.values()]


def _joined(group: list[Finding]) -> Finding:
    group = sorted(group, key=lambda f: _RANKS[f.severity])
    first, count = group[0], sum(f.count for f in group)
    lines = sorted({f.line for f in group} - {first.line})
    if not lines:
        return dataclasses.replace(first, count=count)
    message = f"{first.message} It is also read in {listed_lines(lines)}."
    details = first.details | {"lines": lines}
    return dataclasses.replace(first, count=count, message=message, details=details)


def _without_lesser(found: list[Finding]) -> list[Finding]:
    """Keep one finding per race: where two lines conflict in both orders, that in source order."""
    races: dict[Any, Finding] = {}
    kept: list[Finding] = []
    for f in found:
        if KINDS[f.kind].tool != "racecheck":
            kept.append(f)
            continue
        key = (f.kernel, f.file, f.array, frozenset([f.line, f.other_line]))
        before = races.get(key)
        if before is None or _weight(f) < _weight(before):
            races[key] = f
    wrong = [f for f in races.values() if f.severity != INFO]
    return kept + [f for f in races.values() if not _is_outdone(f, wrong)]


def _weight(found: Finding) -> tuple[int, bool]:
    """Sort key: of two missing barriers of a loop, the one between the lines comes first."""
    return _RANKS[found.severity], found.other_line > found.line


def _is_outdone(found: Finding, wrong: list[Finding]) -> bool:
    """Tell whether a worse finding covers what a same-value race calls harmless."""
    if found.kind != "same-value-race" or found.severity != INFO:
        return False
    same = [f for f in wrong if (f.file, f.array) == (found.file, found.array)]
    return any(found.line in (f.line, f.other_line) for f in same)
