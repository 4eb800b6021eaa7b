"""How far a learner is: which answers passed, kept in one small file that git ignores."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from gpukit.course.catalogue import Exercise

FILE = ".progress.json"


def _file(exercise: Exercise) -> Path:
    return exercise.folder.parent.parent / FILE


def _load(file: Path) -> dict[str, str]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def state(exercise: Exercise) -> str:
    """Return `passed`, `started` or `new`. An answer edited since it passed is `started`."""
    if not exercise.answer.exists():
        return "new"
    digest = _digest(exercise.answer)
    if _load(_file(exercise)).get(exercise.name) == digest:
        return "passed"
    return "new" if digest == _digest(exercise.starter) else "started"


def record(exercise: Exercise, passed: bool) -> None:
    """Remember whether the answer, as it is now, passed. A folder we may not write is no error."""
    file = _file(exercise)
    known = _load(file)
    known.pop(exercise.name, None)
    if passed:
        known[exercise.name] = _digest(exercise.answer)
    try:
        file.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    except OSError:
        return


def set_aside(exercise: Exercise) -> Path | None:
    """Rename the answer to the first free `answer.oldN.py`; None when there is nothing to keep."""
    answer = exercise.answer
    if not answer.exists() or _digest(answer) == _digest(exercise.starter):
        return None
    number = 1
    while (kept := answer.with_name(f"answer.old{number}.py")).exists():
        number += 1
    answer.rename(kept)
    return kept
