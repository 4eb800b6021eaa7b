"""How far a learner is: the best grade of each exercise, in one small file that git ignores."""

from __future__ import annotations

import json
from pathlib import Path

from gpukit import files
from gpukit.course import catalogue
from gpukit.course.catalogue import Exercise
from gpukit.errors import OutputError

FILE = ".progress.json"
# The grades that count, and which part of the points they earn.
EARNED = {"right": 1.0, "but": 0.5}
# What to do where exercises lie in a folder that cannot be written to.
ELSEWHERE = "work in a workbook of your own: gpukit start FOLDER, where you may write"


def _file(exercise: Exercise) -> Path:
    return exercise.shelf / FILE


def _load(file: Path) -> dict[str, str]:
    return _read(file) or {}


def _read(file: Path) -> dict[str, str] | None:
    """Return what is kept, None where that cannot be read."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def state(exercise: Exercise) -> str:
    """Return the best grade so far, `right` or `but`, else `started` or `new`."""
    best = _load(_file(exercise)).get(exercise.name)
    if best in EARNED:
        return best
    return "started" if has_own_answer(exercise) else "new"


def has_own_answer(exercise: Exercise) -> bool:
    """Whether the learner's file holds something that is not in the starter."""
    answer = exercise.answer
    return answer.exists() and answer.read_bytes() != exercise.starter.read_bytes()


def points(exercise: Exercise, grade: str) -> int:
    """Return what a grade earns: half of the points where the answer is right, but ..."""
    return round(exercise.points * EARNED.get(grade, 0))


def record(exercise: Exercise, grade: str) -> str:
    """Keep a grade, if no better one was reached before; return why it cannot be kept, or "".

    In a read-only folder an answer is graded all the same.
    """
    known = _load(_file(exercise))
    if EARNED.get(grade, 0) > EARNED.get(known.get(exercise.name, ""), 0):
        return _save(exercise, {**known, exercise.name: grade})
    return ""


def forget(exercise: Exercise) -> str:
    """Forget what was reached in an exercise; return why that cannot be written, or ""."""
    known = _load(_file(exercise))
    return "" if known.pop(exercise.name, None) is None else _save(exercise, known)


def _save(exercise: Exercise, known: dict[str, str]) -> str:
    file, text = _file(exercise), json.dumps(known, indent=2, sort_keys=True) + "\n"
    try:
        with files.refusing(file, ELSEWHERE):
            if file.is_file() and _read(file) is None:  # damaged: somebody may mend it by hand
                file.replace(file.with_suffix(".damaged"))
        files.write(file, text, ELSEWHERE)
    except OutputError as refused:
        return str(refused)
    return ""


def following(exercise: Exercise | None = None) -> Exercise | None:
    """Return the first exercise after this one, then from the start, that is not right yet."""
    every = catalogue.every()
    names = [e.name for e in every]
    start = names.index(exercise.name) + 1 if exercise and exercise.name in names else 0
    others = (e for e in every[start:] + every[:start] if state(e) != "right")
    return next((e for e in others if not exercise or e.name != exercise.name), None)


def begin(exercise: Exercise) -> None:
    """Give the learner a file to work in: a copy of the starter, also where there is an answer."""
    with files.refusing(exercise.answer, ELSEWHERE):
        exercise.place.mkdir(parents=True, exist_ok=True)
    files.write(exercise.answer, exercise.starter.read_bytes(), ELSEWHERE)


def set_aside(exercise: Exercise) -> Path | None:
    """Copy the answer to the first free `answer.oldN.py`; None when there is nothing to keep."""
    answer = exercise.answer
    if not has_own_answer(exercise):
        return None
    number = 1
    while (kept := answer.with_name(f"answer.old{number}.py")).exists():
        number += 1
    files.write(kept, answer.read_bytes(), ELSEWHERE)
    return kept
