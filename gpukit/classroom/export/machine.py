"""Grade a submission on the machine of a grading service, and write the result in its format:

    python -m gpukit.classroom.export.machine TARGET EXERCISES SUBMISSION RESULT

TARGET is gradescope, classroom50 or prairielearn; EXERCISES is the folder `exercises` of the
export, SUBMISSION the folder of what a student has handed in, RESULT the file to write. Where
grading itself fails, there is no RESULT, and the exit code is not 0: the service reports an error,
not a mark.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gpukit import files
from gpukit.classroom import intake, work
from gpukit.classroom.export import classroom50, gradescope, prairielearn
from gpukit.classroom.export.mark import Mark
from gpukit.classroom.sandbox import modes
from gpukit.classroom.work import Task
from gpukit.course import as_text, catalogue
from gpukit.course.catalogue import Exercise, ExerciseError
from gpukit.course.report import Report
from gpukit.course.verdicts import Row
from gpukit.errors import GpukitError

RESULTS: dict[str, Callable[[Sequence[Mark]], Any]] = {
    "gradescope": gradescope.result,
    "classroom50": classroom50.result,
    "prairielearn": prairielearn.result,
}


def marks(exercises: Path, submission: Path) -> list[Mark]:
    """Grade what a student has handed in to each of the exercises, as `gpukit grade` does.

    GPUKIT_EXERCISES has to be that folder. Raise SandboxError where this machine has nothing to
    isolate answers with.
    """
    mode, seed = modes.find().name, secrets.randbits(32)
    known = catalogue.of(exercises)
    if not known:
        raise ExerciseError(f"{exercises}: expected the exercises of an export, found none.")
    handed_in = zip(known, intake.answers(submission, known), strict=True)
    return [_mark(exercise, Task(one, seed, mode)) for exercise, one in handed_in]


def _mark(exercise: Exercise, task: Task) -> Mark:
    graded = work.grade_one(task)
    if graded["status"] == "infra":
        raise ExerciseError(graded["why"])
    rows = [Row(row["name"], row["status"], sizes=row["sizes"]) for row in graded["rows"]]
    status, why = graded["status"], graded["why"]
    if status == "absent":
        why = f"Nothing was handed in: expected {exercise.name}.py, or a notebook with its cell."
    report = Report(exercise.name, Path(), status, why, rows, printed=graded["printed"])
    return Mark(exercise, status, as_text.text(exercise, report))


def main(words: Sequence[str]) -> int:
    """Grade a submission and return the exit code."""
    target, *places = words
    exercises, submission, result = (Path(place).absolute() for place in places)
    os.environ["GPUKIT_EXERCISES"] = str(exercises)
    try:
        result.unlink(missing_ok=True)  # a student may have handed in a file of that name
        value = RESULTS[target](marks(exercises, submission))
        result.unlink(missing_ok=True)
        files.write(result, f"{json.dumps(value, indent=1)}\n", folders=True)
    except (GpukitError, OSError) as error:
        sys.stderr.write(f"gpukit: {error}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
