"""The report of one submission to one exercise: its JSON schema, and what violates it.

`docs/grade.schema.json` is the same schema for other programs. `valid` needs no library: it
understands the keywords that the schema uses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

NAME, VERSION = "gpukit-grade", 1
STATUSES = {
    "right": "all cases are right, there are no findings, and every contract is kept",
    "but": "right, but a contract is broken: half of the points",
    "wrong": "wrong values, or a finding such as a race",
    "error": "an exception",
    "timeout": "the time limit of the exercise was exceeded",
    "died": "the process ended early",
    "missing": "no kernel of the name that the exercise asks for",
    "protocol": "the process sent something other than arrays",
    "syntax": "no Python",
    "untouched": "the starter, unchanged",
    "rejected": "the code that is needed contains something forbidden",
    "absent": "nothing was handed in",
    "infra": "the grader failed: there is no grade, and never a zero",
}
COUNTERS = {
    "global_bytes": "bytes that move between the chip and global memory",
    "shared_wavefronts": "wavefronts of shared memory",
    "barriers": "barriers that warps reach",
}

_TEXT: dict[str, Any] = {"type": "string"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}
_HEX = "^([0-9a-f]{8,})?$"


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {**_TEXT, "description": description, **more}


SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": NAME,
    "description": "The report of one submission to one exercise, as `gpukit grade` writes it.",
    "type": "object",
    "required": [
        *("schema", "version", "student", "exercise", "file", "sha256", "status", "points", "of"),
        *("why", "cause", "rows", "printed", "seed", "isolation", "gpukit", "fingerprint"),
        "counters",
    ],
    "properties": {
        "schema": {"const": NAME},
        "version": {"const": VERSION, "description": "Grows when a field changes its meaning."},
        "student": _text("The name of the folder that was handed in.", minLength=1),
        "exercise": _text("The name of the exercise.", minLength=1),
        "file": _text("What was graded, relative to the folder of all submissions."),
        "sha256": _text(
            "Of the file as handed in; empty if nothing was.", pattern="^([0-9a-f]{64})?$"
        ),
        "exercise_sha256": _text("Of the files of the exercise.", pattern="^[0-9a-f]{64}$"),
        "status": {
            "enum": list(STATUSES),
            "description": "; ".join(f"{name}: {what}" for name, what in STATUSES.items()) + ".",
        },
        "points": {"minimum": 0, "description": "At most `of`; null where the status is infra."},
        "of": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1_000_000,
            "description": "The points of a right answer.",
        },
        "why": _text("The explanation that the student reads, in paragraphs."),
        "cause": _text("The explanation in one line that is equal for equal mistakes, or nothing."),
        "rows": {
            "type": "array",
            "description": "What was tried, in order.",
            "items": {
                "type": "object",
                "required": ["name", "status", "sizes"],
                "properties": {
                    "name": _text("The case, check or contract."),
                    "status": _text("As that of the report, for this row alone.", minLength=1),
                    "sizes": _text("The shapes of the arrays, or nothing."),
                },
            },
        },
        "printed": _text("What the submission printed, cut off where it is long."),
        "seed": {"type": "integer", "description": "The inputs are drawn from it."},
        "isolation": _text("The mode of isolation of the run."),
        "gpukit": _text("The version that graded."),
        "fingerprint": _text("Of the normalised code; empty if there is none.", pattern=_HEX),
        "shingles": {
            "type": "array",
            "description": "Hashes of short sequences of the normalised code, to compare answers.",
            "items": {**_TEXT, "pattern": "^[0-9a-f]{8}$"},
        },
        "counters": {
            "type": "object",
            "description": "Of the measured case; empty if it was not counted.",
            "properties": {
                name: {**_COUNT, "description": f"The {what}."} for name, what in COUNTERS.items()
            },
        },
    },
    "if": {"required": ["status"], "properties": {"status": {"const": "infra"}}},
    "then": {"properties": {"points": {"type": "null"}}},
    "else": {"properties": {"points": {"type": "integer"}}},
}


def valid(report: object) -> list[str]:
    """Return what is wrong with a report that was read from JSON; nothing if it is valid.

    That is where it violates the schema and, which no schema can say, points above `of`.
    """
    wrong = list(_against(SCHEMA, report, ""))
    if not wrong and isinstance(report, dict) and (report["points"] or 0) > report["of"]:
        wrong.append(f"points: expected at most {report['of']}, got {_shown(report['points'])}")
    return wrong


def _against(schema: dict[str, Any], value: object, at: str) -> Iterator[str]:
    """Yield what violates a schema; a value of the wrong type violates only that."""
    kind = schema.get("type")
    if kind and not _TYPES[kind](value):
        yield f"{at or 'the report'}: expected {kind}, got {_shown(value)}"
        return
    for keyword, rule in schema.items():
        if keyword in _RULES:
            yield from _RULES[keyword](rule, value, at)
    if "if" in schema:
        holds = not any(_against(schema["if"], value, at))
        yield from _against(schema["then" if holds else "else"], value, at)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: object) -> bool:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


_TYPES: dict[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "null": lambda value: value is None,
}


def _constant(rule: Any, value: object, at: str) -> Iterator[str]:
    if isinstance(value, bool) or value != rule:
        yield f"{at}: expected {_shown(rule)}, got {_shown(value)}"


def _enum(rule: list[Any], value: object, at: str) -> Iterator[str]:
    if value not in rule:
        yield f"{at}: expected one of {', '.join(rule)}, got {_shown(value)}"


def _required(rule: list[str], value: object, at: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{_below(at, name)}: missing" for name in rule if name not in value)


def _properties(rule: dict[str, Any], value: object, at: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name in filter(value.__contains__, rule):
            yield from _against(rule[name], value[name], _below(at, name))


def _items(rule: dict[str, Any], value: object, at: str) -> Iterator[str]:
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from _against(rule, one, f"{at}[{number}]")


def _minimum(rule: int, value: object, at: str) -> Iterator[str]:
    if _is_number(value) and value < rule:
        yield f"{at}: expected at least {rule}, got {_shown(value)}"


def _maximum(rule: int, value: object, at: str) -> Iterator[str]:
    if _is_number(value) and value > rule:
        yield f"{at}: expected at most {rule}, got {_shown(value)}"


def _min_length(rule: int, value: object, at: str) -> Iterator[str]:
    if isinstance(value, str) and len(value) < rule:
        yield f"{at}: expected at least {rule} character, got none"


def _pattern(rule: str, value: object, at: str) -> Iterator[str]:
    if isinstance(value, str) and not re.search(rule, value):
        yield f"{at}: expected hexadecimal digits, got {_shown(value)}"


_RULES: dict[str, Callable[[Any, object, str], Iterator[str]]] = {
    "const": _constant,
    "enum": _enum,
    "required": _required,
    "properties": _properties,
    "items": _items,
    "minimum": _minimum,
    "maximum": _maximum,
    "minLength": _min_length,
    "pattern": _pattern,
}


def _below(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _shown(value: object) -> str:
    """Return a value in few characters."""
    try:
        text = ascii(value)
    except ValueError:  # an integer of more digits than Python writes
        return "a number"
    return text if len(text) <= 40 else f"{text[:39]}..."
