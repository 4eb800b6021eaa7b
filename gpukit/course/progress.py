"""How far a learner is: the best grade of each exercise, in one small file that git ignores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from gpukit import files
from gpukit.course import catalogue
from gpukit.course.catalogue import Exercise, ExerciseError
from gpukit.errors import OutputError

FILE = ".progress.json"
HINTS = ".hints"  # no exercise has such a name
# The grades that count, and which part of the points they earn.
EARNED = {"right": 1.0, "but": 0.5}
# What to do where exercises lie in a folder that cannot be written to.
ELSEWHERE = "work in your own workbook: gpukit start FOLDER, with a folder that you can write to"


def _file(exercise: Exercise) -> Path:
    return exercise.shelf / FILE


def _load(file: Path) -> dict[str, Any]:
    return _read(file) or {}


def _read(file: Path) -> dict[str, Any] | None:
    """Return what is kept, None where that cannot be read."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def state(exercise: Exercise) -> str:
    """Return the best grade so far, `right` or `but`, else `started` or `new`."""
    best = _load(_file(exercise)).get(exercise.name)
    if _earned(best):
        return str(best)
    return "started" if has_own_answer(exercise) else "new"


def has_own_answer(exercise: Exercise) -> bool:
    """Whether the learner's file holds something that is not in the starter."""
    answer = exercise.answer
    return answer.exists() and answer.read_bytes() != exercise.starter.read_bytes()


def points(exercise: Exercise, grade: str) -> int:
    """Return what a grade earns: half of the points, rounded down, where it is `but`."""
    return int(exercise.points * EARNED.get(grade, 0))


def record(exercise: Exercise, grade: str, about: str = "") -> str:
    """Keep a grade, if no better one was reached before; return why it cannot be kept, or "".

    What the last failure is `about`, a finding's kind or a contract's measure, chooses the next
    hint. In a read-only folder an answer is graded all the same.
    """
    known = _load(_file(exercise))
    new = {**known}
    is_better = _earned(grade) > _earned(known.get(exercise.name))
    if is_better:
        new[exercise.name] = grade
    due = exercise.hint_for.get(about)
    if due != _of(exercise, known).get("due"):
        new |= _with_hints(known, exercise, due=due)
    refused = _save(exercise, new) if new != known else ""
    return refused if is_better else ""


class Hint(NamedTuple):
    """Which hint to show, and in words why it is not the one after the last."""

    number: int
    why: str = ""


def next_hint(exercise: Exercise) -> Hint:
    """Return the hint to show next, or raise where an exercise has none."""
    if not exercise.hints:
        raise ExerciseError(f"gpukit hint: {exercise.name} has no hints.")
    hints = _of(exercise, _load(_file(exercise)))
    return hint_after(exercise, _shown(hints), hints.get("due"))


def hint_after(exercise: Exercise, shown: list[Any], due: Any) -> Hint:
    """Return the hint to show after others: first the one that is due, then the first of the rest.

    Once all were shown, the last.
    """
    numbers = range(1, len(exercise.hints) + 1)
    left = [n for n in numbers if n not in shown]
    if due in left:
        return Hint(due, "which fits your last result")
    if not left:
        return Hint(numbers[-1])
    is_back = any(n in shown for n in numbers if n > left[0])
    return Hint(left[0], "which was skipped" if is_back else "")


def hint_shown(exercise: Exercise, number: int) -> None:
    """Remember that a hint was shown."""
    known = _load(_file(exercise))
    shown = [*_shown(_of(exercise, known)), number]
    _save(exercise, {**known, **_with_hints(known, exercise, shown=shown)})


def _of(exercise: Exercise, known: dict[str, Any]) -> dict[str, Any]:
    found = _hints(known).get(exercise.name)
    return found if isinstance(found, dict) else {}


def _shown(hints: dict[str, Any]) -> list[Any]:
    shown = hints.get("shown")
    return shown if isinstance(shown, list) else []


def _with_hints(known: dict[str, Any], exercise: Exercise, **new: Any) -> dict[str, Any]:
    """Return what is known of all hints, with something new about those of an exercise."""
    return {HINTS: {**_hints(known), exercise.name: {**_of(exercise, known), **new}}}


def _hints(known: dict[str, Any]) -> dict[str, Any]:
    found = known.get(HINTS)
    return found if isinstance(found, dict) else {}


def forget_hints(exercise: Exercise) -> str:
    """Forget which hints of an exercise were shown; return why that cannot be written, or "".

    The best grade stays: an exercise that is solved once more has not become unsolved meanwhile.
    """
    known = _load(_file(exercise))
    if exercise.name not in _hints(known):
        return ""
    left = {name: shown for name, shown in _hints(known).items() if name != exercise.name}
    return _save(exercise, {**known, HINTS: left})


def _save(exercise: Exercise, known: dict[str, Any]) -> str:
    file = _file(exercise)
    try:
        with files.refusing(file, ELSEWHERE):
            if file.is_file() and _read(file) is None:  # damaged: somebody may fix it by hand
                file.replace(file.with_suffix(".damaged"))
        files.write(file, _text(known), ELSEWHERE)
    except OutputError as refused:
        return str(refused)
    return ""


def _text(known: dict[str, Any]) -> str:
    return json.dumps(known, indent=2, sort_keys=True) + "\n"


def _earned(grade: Any) -> float:
    return EARNED.get(grade, 0.0) if isinstance(grade, str) else 0.0


def following(exercise: Exercise | None = None) -> Exercise | None:
    """Return the first exercise after this one, then from the start, that is not right yet."""
    every = catalogue.every()
    names = [e.name for e in every]
    start = names.index(exercise.name) + 1 if exercise and exercise.name in names else 0
    others = (e for e in every[start:] + every[:start] if state(e) != "right")
    return next((e for e in others if not exercise or e.name != exercise.name), None)


def begin(exercise: Exercise) -> None:
    """Give the learner a file to work in: a copy of the starter, also where there is an answer."""
    write_answer(exercise, exercise.starter.read_bytes())


def write_answer(exercise: Exercise, content: bytes) -> None:
    """Write the learner's file, and make the folder that it is in."""
    files.write(exercise.answer, content, ELSEWHERE, folders=True)


def set_aside(exercise: Exercise) -> Path | None:
    """Copy the answer to the first free `answer.oldN.py`; None when there is nothing to keep.

    A copy that is there already, since what came after it failed, is enough.
    """
    answer = exercise.answer
    if not has_own_answer(exercise):
        return None
    number, mine = 1, answer.read_bytes()
    while (kept := answer.with_name(f"answer.old{number}.py")).exists():
        if kept.read_bytes() == mine:
            return kept
        number += 1
    files.write(kept, mine, ELSEWHERE)
    return kept
