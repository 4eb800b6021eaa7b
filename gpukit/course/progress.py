"""How far a learner is: the best grade of each exercise, in one small file that git ignores."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from gpukit.course import catalogue
from gpukit.course.catalogue import Exercise

FILE = ".progress.json"
HINTS = ".hints"  # no exercise has such a name
# The grades that count, and which part of the points they earn.
EARNED = {"right": 1.0, "but": 0.5}


def _file(exercise: Exercise) -> Path:
    return exercise.folder.parent.parent / FILE


def _load(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


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
    """Return what a grade earns: half of the points where the answer is right, but ..."""
    return round(exercise.points * EARNED.get(grade, 0))


def record(exercise: Exercise, grade: str) -> None:
    """Keep a grade, if no better one was reached before. A read-only folder is no error."""
    known = _load(_file(exercise))
    if _earned(grade) > _earned(known.get(exercise.name)):
        _save(exercise, {**known, exercise.name: grade})


def hints_shown(exercise: Exercise) -> int:
    """Return the number of the last hint that was shown."""
    shown = _hints(_load(_file(exercise))).get(exercise.name)
    return shown if isinstance(shown, int) else 0


def hint_shown(exercise: Exercise, number: int) -> None:
    """Remember which hint was shown last."""
    known = _load(_file(exercise))
    _save(exercise, {**known, HINTS: {**_hints(known), exercise.name: number}})


def _hints(known: dict[str, Any]) -> dict[str, Any]:
    found = known.get(HINTS)
    return found if isinstance(found, dict) else {}


def forget(exercise: Exercise) -> None:
    """Forget what was reached in an exercise, and which of its hints were shown."""
    known = _load(_file(exercise))
    left = {name: grade for name, grade in known.items() if name != exercise.name}
    if HINTS in known:
        left[HINTS] = {n: k for n, k in _hints(known).items() if n != exercise.name}
    if left != known:
        _save(exercise, left)


def _save(exercise: Exercise, known: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        _file(exercise).write_text(_text(known), encoding="utf-8")


def _text(known: dict[str, Any]) -> str:
    return json.dumps(known, indent=2, sort_keys=True) + "\n"


def _earned(grade: Any) -> float:
    return EARNED.get(grade, 0.0) if isinstance(grade, str) else 0.0


def is_next(before: bytes, now: bytes, exercise: Exercise) -> bool:
    """Whether a file of grades is what `record` makes of another for exercises other than this."""
    try:
        old, new = (json.loads(text) if text else {} for text in (before, now))
    except (ValueError, RecursionError):
        return False
    if not isinstance(old, dict) or not isinstance(new, dict) or now != _text(new).encode():
        return False
    old[HINTS] = new[HINTS] = None  # whoever writes there wins nothing
    better = {n: g for n, g in new.items() if _earned(g) > _earned(old.get(n))}
    return exercise.name not in better and new == {**old, **better}


def following(exercise: Exercise | None = None) -> Exercise | None:
    """Return the first exercise after this one, then from the start, that is not right yet."""
    every = catalogue.every()
    names = [e.name for e in every]
    start = names.index(exercise.name) + 1 if exercise and exercise.name in names else 0
    others = (e for e in every[start:] + every[:start] if state(e) != "right")
    return next((e for e in others if not exercise or e.name != exercise.name), None)


def set_aside(exercise: Exercise) -> Path | None:
    """Rename the answer to the first free `answer.oldN.py`; None when there is nothing to keep."""
    answer = exercise.answer
    if not has_own_answer(exercise):
        return None
    number = 1
    while (kept := answer.with_name(f"answer.old{number}.py")).exists():
        number += 1
    answer.rename(kept)
    return kept
