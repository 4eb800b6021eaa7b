"""Proofs of the known mistakes of a kernel, which grading tries in plain Python."""

from __future__ import annotations

from collections.abc import Iterator

from gpukit.course import compare, interpreter, mistakes
from gpukit.course.case import Array, Case
from gpukit.course.catalogue import Exercise

Problems = Iterator[str]


def solution_is_right_in_plain_python(exercise: Exercise) -> Problems:
    """The interpreter, in which the known mistakes of a kernel are tried, can run the solution."""
    if exercise.driver or not mistakes.of(exercise):
        return
    cases = _cheap(exercise)
    if not cases:
        yield f"No case is small enough to try a known mistake: {mistakes.MOST_WORK:,} steps."
    for one, got in zip(cases, _left(exercise, exercise.model or "", cases), strict=True):
        if got is None or _is_wrong(exercise, one, got):
            yield (
                f"Case {one.name!r}: in plain Python, where known mistakes are tried, the solution "
                f"{'fails' if got is None else 'has other results'}."
            )


def mistakes_differ(exercise: Exercise) -> Problems:
    """Each mistake of a kernel has other results than those before it, so that it is recognized."""
    cases = [] if exercise.driver else _cheap(exercise)
    if not cases:
        return
    earlier: dict[str, list[dict[str, Array] | None]] = {}
    for sentence, text in mistakes.of(exercise).items():
        left = _left(exercise, text, cases)
        if not any(left):
            yield f"mistakes.toml: {sentence!r} has no results in plain Python."
        failing = [
            (number, one, got)
            for number, (one, got) in enumerate(zip(cases, left, strict=True))
            if got is not None and _is_wrong(exercise, one, got)
        ]
        for other, its in earlier.items():
            if failing and all(
                (theirs := its[k]) is not None and compare.agree(one, got, theirs, exercise.ulps)
                for k, one, got in failing
            ):
                yield f"mistakes.toml: {sentence!r} has the results of {other!r}."
        earlier[sentence] = left


def _cheap(exercise: Exercise) -> list[Case]:
    return [one for one in exercise.cases() if mistakes.work(one) <= mistakes.MOST_WORK]


def _left(exercise: Exercise, text: str, cases: list[Case]) -> list[dict[str, Array] | None]:
    return [interpreter.launch(text, exercise.entry, one) for one in cases]


def _is_wrong(exercise: Exercise, one: Case, got: dict[str, Array]) -> bool:
    return any(compare.compare(one, name, got[name], exercise.ulps) for name in one.expected)
