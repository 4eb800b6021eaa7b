"""Grade one submission: a pure function of its bytes, the exercise and a seed, run in a sandbox.

A worker process calls `grade_one` for one submission after another. It keeps a sandbox, and a warm
process for what is trusted: the edited solutions that explain a mistake. `end` ends both.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
from dataclasses import dataclass, replace
from pathlib import Path

import gpukit
from gpukit.classroom import chosen, reports, rules, schema, similarity
from gpukit.classroom.intake import Submission
from gpukit.classroom.sandbox import Sandbox, modes
from gpukit.course import as_text, attempt, catalogue, grade, progress, runner
from gpukit.course.catalogue import Exercise, ExerciseError
from gpukit.course.report import Report
from gpukit.course.warm import Warm
from gpukit.errors import SandboxError

_LONGEST = 1 << 16  # characters of an explanation; what an answer says may be part of it


@dataclass(frozen=True)
class Task:
    """A submission to be graded, with inputs drawn from a seed, in a mode of isolation."""

    submission: Submission
    seed: int
    isolation: str


def grade_one(task: Task) -> reports.Report:
    """Return the report of a submission. It is the same for the same task, byte for byte."""
    name = task.submission.full_name
    exercise = replace(_exercise(name).with_hidden_cases, seed=task.seed)
    report = _report(exercise, task)
    source = task.submission.source.decode("utf-8-sig", "replace")
    points = progress.points(exercise, report.status)
    return {
        "schema": schema.NAME,
        "version": schema.VERSION,
        "student": task.submission.student,
        "exercise": exercise.name,
        "file": task.submission.file,
        "sha256": task.submission.sha256,
        "exercise_sha256": exercise_sha256(name),
        "status": report.status,
        "points": None if report.status == "infra" else points,
        "of": exercise.points,
        "why": "\n\n".join(as_text.explanation(replace(report, printed="")))[:_LONGEST],
        "cause": " ".join((report.mistake or report.about).split()),
        "rows": [{"name": r.name, "status": r.status, "sizes": r.sizes} for r in report.rows],
        "printed": report.printed,
        "seed": task.seed,
        "isolation": task.isolation,
        "gpukit": gpukit.__version__,
        "fingerprint": similarity.fingerprint(source, exercise.entry),
        "shingles": similarity.shingles(source, exercise.entry),
        "counters": report.counters,
    }


def failed(task: Task, why: str) -> reports.Report:
    """Return the report of a submission that could not be graded, through no fault of its own."""
    lost = replace(task.submission, source=b"", problem="")
    report = grade_one(replace(task, submission=lost))
    sha256 = task.submission.sha256
    return {**report, "status": "infra", "points": None, "why": why, "sha256": sha256}


def _report(exercise: Exercise, task: Task) -> Report:
    """Grade a submission, or say why it has no grade."""
    try:
        return _graded(exercise, task)
    except ExerciseError as error:  # class.md shows only the start: say first what to do
        name = task.submission.full_name
        say = f"The exercise is at fault, not this answer. Run: gpukit verify {name}"
        return Report(exercise.name, Path(), "infra", f"{say}\n\n{error.fault}")


def _graded(exercise: Exercise, task: Task) -> Report:
    """Grade a submission, or say why it is not run; raise ExerciseError where it cannot be."""
    handed_in = task.submission
    file = Path(handed_in.file or "nothing")

    def refused(status: str, why: str) -> Report:
        return Report(exercise.name, file, status, why)

    if handed_in.problem:
        return refused("rejected", handed_in.problem)
    if not handed_in.source:
        if handed_in.file:
            return refused("untouched", f"{file.name} is empty.")
        return refused("absent", "Nothing was handed in.")
    name = file.name if file.suffix.casefold() == ".py" else attempt.CELL
    try:
        text = handed_in.source.decode("utf-8-sig")
        problem = attempt.problem(exercise, Path(name), text)
        if problem is not None:
            return refused(problem.status, problem.why)
        kept = rules.kept(text, exercise.entry, host=exercise.driver is not None)
    except UnicodeDecodeError:
        return refused("rejected", f"{name} is not UTF-8 text. Save the file as UTF-8.")
    except rules.RejectedError as error:
        return refused("rejected", str(error))
    sandbox = _sandbox(task.isolation)
    if exercise.driver:
        _prepare(handed_in.full_name)
    try:
        return grade.run(exercise, sandbox.put(name, kept), sandbox=sandbox.start)
    except ExerciseError:
        raise
    except SandboxError as error:
        return refused("infra", str(error))
    except Exception as error:  # a fault of ours, or an answer that has found one
        said = f"{type(error).__name__}: {error}"[:500]
        return refused("infra", f"gpukit could not grade this: {said}")


@functools.cache
def _exercise(name: str) -> Exercise:
    """Return an exercise of the course around this place, else of the book."""
    return catalogue.find(name, chosen.known())


@functools.cache
def exercise_sha256(name: str) -> str:
    """Return the checksum of an exercise."""
    return _exercise(name).sha256


_kept = contextlib.ExitStack()


def end() -> None:
    """End the processes that are kept between submissions, as the end of this process does."""
    _kept.close()


atexit.register(end)


@functools.cache
def _sandbox(isolation: str) -> Sandbox:
    """Return this process's sandbox of a mode."""
    return _kept.enter_context(Sandbox(modes.find(isolation)))


@functools.cache
def _prepare(name: str) -> None:
    """Grade the solution of an exercise whose answers are host code, before its first answer.

    It compiles the kernels of the book that answers launch, into a cache that these can only read.
    Its known mistakes run in processes, too: programs of the project's own, in no sandbox.
    """
    runner.start = _trusted().start
    exercise = _exercise(name)
    if not exercise.released:
        grade.run(exercise, exercise.solution)


@functools.cache
def _trusted() -> Warm:
    """Return this process's warm process for programs of the project's own."""
    warm = Warm()
    _kept.callback(warm.end)
    return warm
