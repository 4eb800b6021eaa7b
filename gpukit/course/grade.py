"""Grade one file: run it, compare with NumPy, look for races, count what it asks of memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gpukit.course import attempt, explain, mistakes
from gpukit.course.catalogue import Exercise
from gpukit.course.guard import Guard
from gpukit.course.mistakes import Tries
from gpukit.course.report import Observer, Report
from gpukit.course.runner import Child, Start
from gpukit.course.stages import Grading
from gpukit.course.verdicts import Row

__all__ = ["Report", "run"]


def nobody(row: Row) -> None:
    """Watch nothing."""


def run(
    exercise: Exercise,
    file: Path,
    watch: Observer = nobody,
    notice: Callable[[str], None] = lambda _: None,
    sandbox: Start | None = None,
) -> Report:
    """Grade `file` as an answer to `exercise`, calling `watch` after each thing tried.

    `notice` is called with what takes long when it begins, and with "" when it is over. `sandbox`
    starts the answer's process where it cannot write to anything; without one, what it writes over
    is put back.
    """
    asked, known = _asked(exercise), mistakes.of(exercise)  # before any of the student's code runs
    source, problem = attempt.look(exercise, file)
    if problem is not None:
        return Report(exercise.name, file, problem.status, problem.why)

    def graded(audit_log: Path | None) -> Report:
        starting = audit_log, sandbox
        return _graded(exercise, file, source, asked, known, watch, notice, starting)

    if sandbox is not None:
        return graded(None)
    guard = Guard(exercise)
    try:
        report = graded(guard.audit_log)
    finally:
        changed = guard.put_back()
    if not changed:
        return report
    status = "error" if report.status in ("right", "but") else report.status
    why = f"{changed}\n\n{report.why}".strip()
    return replace(report, status=status, why=why, undone=True)


def _graded(
    exercise: Exercise,
    file: Path,
    source: str,
    asked: list[str],
    known: dict[str, str],
    watch: Observer,
    notice: Callable[[str], None],
    starting: tuple[Path | None, Start | None],
) -> Report:
    """Run the file in a process of its own and judge what it does."""
    notice("starting Python and Numba")
    with Child(file, exercise.entry, exercise.driver, notice, *starting) as child:
        is_warm = starting[1] is not None
        loaded = child.loaded(exercise.seconds if is_warm else None)
        notice("")
        mine = loaded.facts.get("parameters", asked)
        if loaded.kind != "ready":
            report = Report(exercise.name, file, loaded.kind, explain.outcome(loaded, source))
        elif _are_others(mine, asked):
            why = explain.parameters(exercise.entry, asked, mine)
            report = Report(exercise.name, file, "error", why)
        else:
            with Tries(exercise, known, notice) as tries:
                report = Grading(exercise, file, source, child, tries, watch).report()
    return replace(report, printed=child.printed())


def _asked(exercise: Exercise) -> list[str]:
    """Return the parameters that the task asks for."""
    arguments = list(exercise.case(next(iter(exercise.shapes.values()))).args)
    return attempt.parameters(exercise) if exercise.driver else arguments


def _are_others(mine: list[str], asked: list[str]) -> bool:
    """Tell whether parameters are in another order or number; names are the learner's own."""
    return len(mine) != len(asked) or (mine != asked and set(mine) == set(asked))
