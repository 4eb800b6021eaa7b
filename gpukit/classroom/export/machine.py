"""Grade a submission on the machine of a grading service, and write the result in its format:

    python -m gpukit.classroom.export.machine TARGET EXERCISES SUBMISSION RESULT

TARGET is gradescope, classroom50 or prairielearn; EXERCISES is the folder `exercises` of the
export, SUBMISSION the folder of what a student has handed in, RESULT the file to write. Where
grading itself fails, there is no RESULT, and the exit code is not 0: the service reports an error,
not a mark.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from gpukit import files
from gpukit.classroom import rules
from gpukit.classroom.export import classroom50, gradescope, prairielearn
from gpukit.classroom.export.mark import Mark
from gpukit.course import as_text, attempt, catalogue, cells, grade
from gpukit.course.catalogue import Exercise, ExerciseError
from gpukit.errors import GpukitError

RESULTS: dict[str, Callable[[Sequence[Mark]], Any]] = {
    "gradescope": gradescope.result,
    "classroom50": classroom50.result,
    "prairielearn": prairielearn.result,
}


def marks(exercises: Path, submission: Path) -> list[Mark]:
    """Grade what a student has handed in to each of the exercises.

    The only function here that runs answers: what the rules of `gpukit grade` leave of each runs
    in a process of its own, which has ended, with all that it has started, before this returns.
    Nothing that it writes is read. The service's container is the sandbox.
    """
    found = sorted(path.parent for path in exercises.glob("*/*/exercise.toml"))
    if not found:
        raise ExerciseError(f"{exercises}: expected the exercises of an export, found none.")
    return [_mark(catalogue.read(folder.resolve()), submission.resolve()) for folder in found]


def _mark(exercise: Exercise, submission: Path) -> Mark:
    file = next(_handed_in(exercise, submission), None)
    if file is None:
        asked = f"Nothing was handed in: expected {exercise.name}.py, or a notebook with its cell."
        return Mark(exercise, "absent", asked)
    try:
        attempt.read(file)
        with cells.file_of(exercise, file) as answer:
            source = attempt.read(answer)
    except ExerciseError as error:
        return Mark(exercise, "rejected", str(error).replace(str(file), file.name))
    name = attempt.CELL if file.suffix == cells.NOTEBOOK else file.name
    problem = attempt.problem(exercise, Path(name), source)
    if problem is not None:
        return Mark(exercise, problem.status, problem.why)
    try:
        kept = rules.kept(source, exercise.entry, host=exercise.driver is not None)
    except rules.RejectedError as error:
        return Mark(exercise, "rejected", str(error))
    with files.temporary(name, kept) as copy:
        report = grade.run(exercise, copy)
    return Mark(exercise, report.status, as_text.text(exercise, report))


def _handed_in(exercise: Exercise, submission: Path) -> Iterator[Path]:
    """Yield the files that may be the answer, the likeliest first; links are not followed."""
    name = exercise.name
    for pattern in (f"**/{name}.py", f"**/{name}/{catalogue.ANSWER}", f"**/*{cells.NOTEBOOK}"):
        for path in sorted(submission.glob(pattern)):
            if path.is_file() and path.resolve() == path and _is_about(exercise, path):
                yield path


def _is_about(exercise: Exercise, file: Path) -> bool:
    """Whether a notebook has a cell for an exercise; any other file is named after it."""
    if file.suffix != cells.NOTEBOOK:
        return True
    magic = rf"%%exercise[ \t]+({exercise.topic}/)?{exercise.name}\b"
    return re.search(magic, file.read_text(encoding="utf-8", errors="replace")) is not None


def main(words: Sequence[str]) -> int:
    """Grade a submission and return the exit code."""
    target, *places = words
    exercises, submission, result = (Path(place).absolute() for place in places)
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
