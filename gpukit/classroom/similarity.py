"""Answers whose code is the same or nearly so, more than independent answers are.

Short kernels are alike by nature: of 288 pairs of wrong answers from two sets that were written
independently of each other, 19 had equal normal forms, and in 15 even the files were equal byte by
byte. What the starter, the model answer, the known mistakes and the lesson contain is therefore no
evidence, and answers are listed only if they share more other code than any of these pairs did:
of those that were that much alike, none shared more than 18 shingles. Of answers that are long
enough, three quarters are found after one statement was inserted, deleted, doubled or changed.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from gpukit.classroom import chosen, normal_form
from gpukit.classroom.reports import Graded, Report
from gpukit.course import mistakes
from gpukit.course.catalogue import Exercise
from gpukit.errors import GpukitError

WINDOW = 6  # tokens per shingle
MOST = 1000  # shingles kept per answer; no answer in tests/data has more than half as many
SHARED = 25  # shingles in common, apart from those that are no evidence
SIMILARITY = 0.7  # Jaccard index of two answers: the fraction of their shingles that are in both

# What the first cell of a lesson imports for all others.
_IMPORTED = "import math\nimport numpy as np\nfrom gpukit import cuda\n"
_LOCAL = re.compile(r"v\d+")
Known = Callable[[str], set[str] | None]


@dataclass(frozen=True)
class Group:
    """Students whose answers to an exercise are the same or nearly so.

    `similarity` is the lowest of the pairs that join the group; 1 is the same code. A group of no
    students stands for an exercise whose answers could not be compared.
    """

    exercise: str
    students: tuple[str, ...]
    similarity: float


def fingerprint(source: str, entry: str) -> str:
    """Return 64 bits of the normal form of an answer, in hexadecimal; "" where there is none."""
    found = normal_form.tokens(source, entry)
    return _digest(found, 16) if found else ""


def shingles(source: str, entry: str) -> list[str]:
    """Return hashes of all sequences of `WINDOW` tokens of the normal form, sorted.

    Of a long answer, the lowest are kept: a sample that is the same for equal code.
    """
    found = normal_form.tokens(source, entry)
    windows = (found[k : k + WINDOW] for k in range(max(len(found) - WINDOW + 1, 0)))
    return sorted({_digest(_renumbered(window), 8) for window in windows})[:MOST]


def _renumbered(window: list[str]) -> list[str]:
    """Return tokens with local names numbered within them, so that one more name changes only few.

    >>> _renumbered(["Add", "v7", "v2", "v7"])
    ['Add', 'v0', 'v1', 'v0']
    """
    names: dict[str, str] = {}
    return [
        names.setdefault(one, f"v{len(names)}") if _LOCAL.fullmatch(one) else one for one in window
    ]


def _digest(tokens: Iterable[str], digits: int) -> str:
    return hashlib.sha256("\0".join(tokens).encode("utf-8", "replace")).hexdigest()[:digits]


def known(exercise: str) -> set[str] | None:
    """Return the shingles of what an exercise itself contains; None if it cannot be read.

    A report does not say whether the exercise is the course's or the book's: where both have one of
    this name, what either contains is no evidence.
    """
    try:
        own = [_of_exercise(one) for one in chosen.known() if one.name == exercise]
    except (GpukitError, OSError, UnicodeError):
        return None
    return set().union(*own) if own else None


def _of_exercise(exercise: Exercise) -> set[str]:
    files = (exercise.starter, exercise.solution)
    texts = [*(file.read_text("utf-8") for file in files), *mistakes.of(exercise).values()]
    lesson = exercise.folder.parents[2] / "notebooks" / f"{exercise.topic}.ipynb"
    return {one for text in texts for one in shingles(text, exercise.entry)} | _of_lesson(lesson)


def _of_lesson(file: Path) -> set[str]:
    """Return the shingles of all functions in a notebook; none if there is no such file."""
    try:
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        code = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        sources = [f"{_IMPORTED}{source}" for source in code]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    found: set[str] = set()
    for source in sources:
        with contextlib.suppress(SyntaxError, ValueError):  # a cell that is for IPython
            functions = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
            found.update(one for n in functions for one in shingles(source, n.name))
    return found


def jaccard(one: set[str], other: set[str]) -> float:
    """Return the Jaccard index: the fraction of the shingles of two answers that are in both.

    >>> jaccard({"a", "b", "c"}, {"b", "c", "d"})
    0.5
    """
    return len(one & other) / len(one | other) if one or other else 0.0


def groups(graded: Graded, known: Known) -> list[Group]:
    """Return the groups of similar answers, by exercise; the most similar first.

    `known` returns the shingles of an exercise that are no evidence. If it returns None, nothing
    can be said about that exercise, and there is a group of no students.
    """
    found = [
        group
        for exercise in graded.exercises
        for group in _groups(exercise, graded.to(exercise), known)
    ]
    return sorted(found, key=lambda group: -group.similarity)


def _groups(exercise: str, reports: dict[str, Report], known: Known) -> list[Group]:
    """Return the groups of an exercise: what is joined by similar pairs."""
    same: dict[str, list[str]] = {}  # students by fingerprint
    for student, report in reports.items():
        if report["fingerprint"] and report.get("shingles"):
            same.setdefault(report["fingerprint"], []).append(student)
    if sum(map(len, same.values())) < 2:
        return []
    common = known(exercise)
    if common is None:
        return [Group(exercise, (), 0.0)]
    own = {f: set(reports[students[0]]["shingles"]) - common for f, students in same.items()}
    own = {f: shingles for f, shingles in own.items() if len(shingles) >= SHARED}
    joined: list[tuple[set[str], float]] = [({f}, 1.0) for f in own]
    names = list(own)
    for k, one in enumerate(names):
        for other in names[:k]:
            if is_evidence(own[one], own[other]):
                joined = _joined(joined, {one, other}, jaccard(own[one], own[other]))
    made = (
        Group(exercise, tuple(s for s in reports if reports[s]["fingerprint"] in prints), least)
        for prints, least in joined
    )
    return [group for group in made if len(group.students) > 1]


def is_evidence(one: set[str], other: set[str]) -> bool:
    """Tell whether two answers share more than independent ones do, of what is not known."""
    return len(one & other) >= SHARED and jaccard(one, other) >= SIMILARITY


def _joined(
    sets: list[tuple[set[str], float]], pair: set[str], alike: float
) -> list[tuple[set[str], float]]:
    """Return sets in which those that contain one of a pair are one."""
    touched = [one for one in sets if one[0] & pair]
    others = [one for one in sets if not one[0] & pair]
    whole = set().union(*(prints for prints, _ in touched))
    return [*others, (whole, min([alike, *(least for _, least in touched)]))]
