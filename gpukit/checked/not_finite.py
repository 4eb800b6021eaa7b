"""The first line at which a NaN, or an infinity out of finite numbers, arises in a recording."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

_STRANGE = ("nan", "inf", "-inf")  # as a recording writes them


@dataclass(frozen=True)
class Origin:
    """Where it arises: the line and its text, the value, the thread, and the operands.

    `operands` holds names as they appear in the line, or elements such as `x[3]`, and their values:
    none where the line is one of a device function, whose variables are not recorded.
    """

    line: int
    text: str
    value: str
    block: int
    thread: int
    operands: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        given = ", ".join(f"{name} = {value}" for name, value in self.operands)
        infinite = any(value in _STRANGE for _, value in self.operands if isinstance(value, str))
        numbers = "an infinite operand" if infinite else "finite operands"
        what = (
            f"computes {self.value} from {numbers}: {given}"
            if given
            else f"is the first to compute {self.value}, possibly from an infinity"
        )
        return (
            f"Line {self.line} {what} (thread {self.thread} of block {self.block})."
            f"\n  > {self.line:3d} | {self.text}"
        )


def first(recording: dict[str, Any]) -> Origin | None:
    """Return where the first one arises in a launch recorded by `recording.record`, if anywhere.

    A line that only hands on what it was given is none: one of its operands is not finite already.
    But a NaN may come of infinities, as 0 times infinity does. Nor is one without operands, such as
    `high = -math.inf`: there it is meant.
    """
    texts = {line["line"]: line["text"] for line in recording["source"]}
    names = {line: _names(text) for line, text in texts.items()}
    variables: dict[tuple[int, int, int], dict[str, Any]] = {}
    for step in recording["steps"]:
        made = _made(step)
        for lane, value in made.items():
            if value not in _STRANGE:
                continue
            known = variables.get((step["block"], step["warp"], lane), {})
            read = _reads(recording, step, lane)
            if step["line"] not in texts:  # a line of a device function
                text = recording["elsewhere"].get(step["line"], "").strip()
                if value in ("inf", "-inf") or not _names(text):
                    continue
                thread = 32 * step["warp"] + lane
                return Origin(step["line"], text, value, step["block"], thread, ())
            used = {n: known[n] for n in names.get(step["line"], ()) if n in known} | read
            given = {v for v in used.values() if isinstance(v, str)} & set(_STRANGE)
            if used and not (given if value != "nan" else given & {"nan"}):
                text = texts.get(step["line"], "").strip()
                thread = 32 * step["warp"] + lane
                operands = tuple(used.items())
                return Origin(step["line"], text, value, step["block"], thread, operands)
        for name, values in step["set"].items():
            for lane, value in values.items():
                place = (step["block"], step["warp"], int(lane))
                variables.setdefault(place, {})[name] = value
    return None


def _made(step: dict[str, Any]) -> dict[int, Any]:
    """Return the value that each lane computed in a step: one that is not finite, if any."""
    made: dict[int, Any] = {}
    values = [(lane, value) for _, _, lane, value, *_ in step["writes"]]
    values += [(int(k), v) for given in step["set"].values() for k, v in given.items()]
    for lane, value in values:
        if lane not in made or value in _STRANGE:
            made[lane] = value
    return made


def _reads(recording: dict[str, Any], step: dict[str, Any], lane: int) -> dict[str, Any]:
    read = {}
    for which, flat, reader, value in step["reads"]:
        if reader == lane:
            array = recording["arrays"][which]
            index = np.unravel_index(flat, array["shape"]) if array["shape"] else ()
            read[f"{array['name']}[{', '.join(map(str, map(int, index)))}]"] = value
    return read


def _names(text: str) -> list[str]:
    """Return the variables that a line uses, in order.

    >>> _names("    y = np.exp(x) / (1 + e)"), _names("    acc += e * e")
    (['x', 'e'], ['acc', 'e'])
    """
    try:
        tree = ast.parse(text.strip())
    except SyntaxError:  # part of a statement, or the head of a loop
        return []
    calls = [n.func for n in ast.walk(tree) if isinstance(n, ast.Call)]
    called = {id(f.value) for f in calls if isinstance(f, ast.Attribute)}
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called]
    assigned = {id(n.targets[0]) for n in ast.walk(tree) if isinstance(n, ast.Assign)}
    used = [n for n in found if id(n) not in assigned]
    return list(dict.fromkeys(n.id for n in sorted(used, key=lambda n: n.col_offset)))
