"""What the targets share: files, the students' copy of an exercise, its two tests, notebooks."""

from __future__ import annotations

import difflib
import io
import json
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import gpukit
from gpukit.classroom import release
from gpukit.course import progress
from gpukit.course.catalogue import Exercise

# Every machine that grades has this version: another one may have other explanations and bounds.
REQUIREMENT = f"gpukit=={gpukit.__version__}"
# Where a machine gets it from.
SOURCE = """\
Where no package index has it, make its wheel in your copy of gpukit
(`python -m pip wheel --no-deps .`) and put it {place}."""
# Compiles the checker and what a warm process compiles, so that a submission need not wait.
WARM_UP = 'python -c "from gpukit.course import warming; warming.warm_up()"'
# How the two tests of a notebook count.
POINTS = """\
two tests, with the points of `gpukit test`: a right answer gets all of them, one
that breaks the budget of the task half, any other none."""
_MODE = {False: 0o100644, True: 0o100755}
_MARKS = """\
{warning}

The mark of record comes from `gpukit grade` over the folder of what was handed in: each answer runs
in a sandbox there, with inputs that are new for each batch, and another process compares its
outputs.
"""
# Where an answer runs, and what that means for its mark.
IN_NOTEBOOK = """\
**Students can forge these marks.** The tests run in the student's own notebook, as all tests of
this tool do: an answer can replace what they call. Use these marks as feedback. Hidden cases are in
no export: they count in `gpukit grade` only."""
ON_MACHINE = """\
Each answer runs in the sandbox of `gpukit grade`, the strongest that the machine allows, which can
neither read the exercises nor write the marks. Where the machine allows none, nothing is graded,
and the service reports an error. Hidden cases are in no export: they count in `gpukit grade`
only."""
AT_HOME = """\
**Marks that students see on their own machines prove nothing.**"""


@dataclass(frozen=True)
class File:
    """A file to be written, or to be packed into an archive."""

    content: bytes
    executable: bool = False


Files = dict[str, File]


def text(content: str, *, executable: bool = False) -> File:
    """Return a file with this text."""
    return File(content.encode(), executable)


def data(value: Any) -> File:
    """Return a file with this value as JSON."""
    return text(f"{json.dumps(value, indent=1)}\n")


def archive(files: Files) -> File:
    """Return a zip archive of files; the same files give the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for name, file in sorted(files.items()):
            about = zipfile.ZipInfo(name)  # its time is 1980, the first that the format knows
            about.create_system = 3  # Unix, whose permissions the attributes are
            about.external_attr = _MODE[file.executable] << 16
            made.writestr(about, file.content, zipfile.ZIP_DEFLATED)
    return File(packed.getvalue())


def readme(title: str, body: str, warning: str) -> File:
    """Return the page for the teacher; the warning says which marks can be forged."""
    return text(f"# {title}\n\n{body}\n## Marks\n\n{_MARKS.format(warning=warning)}")


# ---- an exercise --------------------------------------------------------------------------------


def folder_of(exercise: Exercise) -> str:
    """Return where an exercise is in the folder `exercises`."""
    return f"{exercise.topic}/{exercise.name}"


def public(exercises: Iterable[Exercise], folder: str = "exercises") -> Files:
    """Return the students' copies of exercises, as `gpukit release` makes them.

    They are all that grading needs; only hidden cases and the sentences for known mistakes are
    missing.
    """
    return {
        f"{folder}/{folder_of(exercise)}/{name}": text(content)
        for exercise in exercises
        for name, content in release.texts(exercise, release.telling_hints(exercise)).items()
    }


def task(exercise: Exercise, how: str) -> str:
    """Return the task with `how` to answer here in place of how to do so in a workbook."""
    paragraphs = exercise.task.read_text(encoding="utf-8").strip().split("\n\n")
    return "\n\n".join([*(p for p in paragraphs if "`%%exercise " not in p), how])


def expected(exercises: Iterable[Exercise]) -> str:
    """Return the list of the files that students hand in."""
    return "\n".join(f"- `{e.name}.py` ({e.points} points): {e.title}" for e in exercises)


def beside_task(program: str) -> str:
    """Return a starter or solution that stands below its task, without where the task is."""
    return program.replace(" The task is in task.md.", "", 1)


class Test(NamedTuple):
    """One of the two tests of an exercise.

    Right answers pass both, those that are right but for a contract the first.
    """

    name: str
    says: str
    points: int
    passing: tuple[str, ...]  # statuses of a report


def tests(exercise: Exercise) -> tuple[Test, Test]:
    """Return the tests, whose points add up to what `gpukit test` gives for the same answer."""
    half = progress.points(exercise, "but")
    right = "All results are right, without races or accesses outside an array."
    budget = "The budget of the task is kept as well."
    return (
        Test("results", right, half, ("right", "but")),
        Test("budget", budget, exercise.points - half, ("right",)),
    )


def with_regions(exercise: Exercise, begin: str, end: str, whole: str = "") -> str:
    """Return the solution with what it adds to the starter between the lines `begin` and `end`.

    Where it changes lines, it stands below the starter, which students get to change, between
    `whole` (by default `begin`) and `end`.
    """
    files = (exercise.starter, exercise.solution)
    texts = (beside_task(file.read_text(encoding="utf-8")) for file in files)
    starter, solution = (text.splitlines() for text in texts)
    matcher = difflib.SequenceMatcher(None, starter, solution, autojunk=False)
    lines: list[str] = []
    for kind, i, j, k, m in matcher.get_opcodes():
        kept, added = starter[i:j], solution[k:m]
        if kind == "equal":
            lines += kept
        elif added and all(_says_nothing(line) for line in kept):
            indent = " " * min(_indent(line) for line in added if line.strip())
            lines += [*kept, f"{indent}{begin}", *added, f"{indent}{end}"]
        else:
            return "\n".join([*starter, "", "", whole or begin, *solution, end])
    return "\n".join(lines)


def _says_nothing(line: str) -> bool:
    return line.strip() == "" or line.lstrip().startswith("#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


# ---- notebooks ----------------------------------------------------------------------------------


def cell(kind: str, name: str, source: str, **metadata: Any) -> dict[str, Any]:
    """Return a cell of a notebook: `kind` is markdown, code or raw, `name` its id."""
    made = {
        "cell_type": kind,
        "id": name[:64],
        "metadata": metadata,
        "source": source.splitlines(keepends=True),
    }
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def notebook(cells: Sequence[dict[str, Any]]) -> File:
    """Return a notebook of format 4.5."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return data({"cells": [*cells], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
