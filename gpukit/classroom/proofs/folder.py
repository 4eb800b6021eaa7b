"""Proofs of what an exercise's files say: nothing is run but its cases."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from gpukit.checked.finding import KINDS
from gpukit.classroom import statements
from gpukit.course import attempt, case, catalogue, contracts, mistakes
from gpukit.course.case import Case
from gpukit.course.catalogue import Exercise

Problems = Iterator[str]
LEAST_WORDS = 5  # of a sentence


def folder_is_complete(exercise: Exercise) -> Problems:
    """Each file is there."""
    if exercise.released:
        yield "This is a students' copy. Verify the exercise that it was released from."
        return
    for name in catalogue.FILES:
        if not (exercise.folder / name).is_file():
            yield f"There is no file {name}."


def cases_can_be_made(exercise: Exercise) -> Problems:
    """What is expected are outputs of the right shape and type, in every case."""
    for one in exercise.cases():
        for name, value in one.expected.items():
            given = one.args.get(name)
            if not isinstance(given, np.ndarray):
                yield f"Case {one.name!r}: {name} is expected, and is no array among the arguments."
            elif (given.shape, given.dtype) != (value.shape, value.dtype):
                yield (
                    f"Case {one.name!r}: {name} is {given.shape} {given.dtype}, and expected are "
                    f"{value.shape} {value.dtype}."
                )


def starter_fits_solution(exercise: Exercise) -> Problems:
    """Starter and solution define the entry, with the same parameters."""
    signatures = []
    for file in (exercise.starter, exercise.solution):
        try:
            signatures.append(_signature(attempt.read(file), exercise.entry))
        except (SyntaxError, ValueError) as error:
            yield f"{file.name} is not valid Python: {error}."
            return
        if not signatures[-1]:
            yield f"{file.name} does not define {exercise.entry}, the `entry` of exercise.toml."
    if all(signatures) and len({*signatures}) > 1:
        yield f"The starter defines {signatures[0]}, and the solution {signatures[1]}."


def _signature(text: str, entry: str) -> str:
    """Return how a program defines a function or class: `f(x, out)`; "" where it does not."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == entry:
            return f"{entry}({ast.unparse(node.args)})"
        if isinstance(node, ast.ClassDef) and node.name == entry:
            return entry
    return ""


def task_names_entry(exercise: Exercise) -> Problems:
    """The task says what to write, and how to have it graded."""
    task = exercise.task.read_text(encoding="utf-8")
    for words in (f"`{exercise.entry}(", f"`gpukit test {exercise.name}`"):
        if words not in task:
            yield f"task.md does not contain {words}: students read there what to write and run."


def numbers_are_valid(exercise: Exercise) -> Problems:
    """Points, limits and tolerance are numbers that grading can use."""
    least = {"points": 1, "seconds": 1, "ulps": 0}
    for name, bound in least.items():
        value = getattr(exercise, name)
        if not value >= bound:
            yield f"exercise.toml: {name} is {value:g}, expected at least {bound}."


def hints_are_valid(exercise: Exercise) -> Problems:
    """All hints are different, and what they are said to be about can happen."""
    hints, held = exercise.hints, contracts.of(exercise.contracts, _first(exercise))
    if len({*hints}) < len(hints):
        yield "exercise.toml: two hints are the same."
    known = KINDS.keys() | {contract.measure for contract in held}
    for about, number in exercise.hint_for.items():
        if about not in known:
            yield (
                f"exercise.toml, [hint_for]: {about} is neither a kind of finding nor the measure "
                "of a contract of this exercise."
            )
        if not 1 <= number <= len(hints):
            yield f"exercise.toml, [hint_for]: {about} refers to hint {number} of {len(hints)}."


def contracts_are_valid(exercise: Exercise) -> Problems:
    """Each contract counts what grading counts of such an answer, and says why."""
    arguments = _first(exercise).args
    for contract in exercise.contracts:
        place = f"exercise.toml, the contract on {contract}:"
        if not contract.why:
            yield f"{place} it has no `why`, which a student reads who breaks it."
        if contract.array and contract.array not in arguments:
            yield f"{place} {contract.array} is none of the arguments {', '.join(arguments)}."
        if contract.per == "element" and not contract.array:
            yield f"{place} counting per element needs an `array`."
        if (contract.measure in contracts.OF_HOST_CODE) != bool(exercise.driver):
            what = "host code, a driver.py," if exercise.driver else "a kernel"
            yield f"{place} {contract.measure} is not counted in an exercise on {what}."


# ---- cases --------------------------------------------------------------------------------------


def _first(exercise: Exercise) -> Case:
    return exercise.case(next(iter(exercise.shapes.values())))


def outputs_start_unwritten(exercise: Exercise) -> Problems:
    """Outputs hold the pattern that shows which elements were never written; inputs do not."""
    for one in exercise.cases():
        for name, value in one.args.items():
            if not isinstance(value, np.ndarray) or not value.size:
                continue
            poisoned = bool(case.unwritten(value).all())
            added_to = not poisoned and not value.any() and name in one.expected  # starts at 0
            if name in one.expected and not (poisoned or added_to):
                yield f"Case {one.name!r}: the output {name} is not made by `poison`."
            if name not in one.expected and poisoned:
                yield f"Case {one.name!r}: {name} is made by `poison`, but not in `expected`."


def cases_repeat(exercise: Exercise) -> Problems:
    """The inputs follow from the seed alone."""
    for left, right in zip(exercise.cases(), exercise.cases(), strict=True):
        for name in left.args:
            if not np.array_equal(left.args[name], right.args[name], equal_nan=True):
                yield (
                    f"Case {left.name!r}: {name} differs when the case is made again from the same "
                    "seed. Draw inputs from `rng` only."
                )


# ---- the sentences of known mistakes ------------------------------------------------------------


def sentences_are_sentences(exercise: Exercise) -> Problems:
    """Each mistake is an edit that fits the solution, and has a sentence of several words."""
    for sentence in mistakes.of(exercise):
        if len(sentence.split()) < LEAST_WORDS:
            yield f"mistakes.toml: {sentence!r} has fewer than {LEAST_WORDS} words."


def sentences_keep_the_solution_secret(exercise: Exercise) -> Problems:
    """No sentence shows a statement of the solution."""
    secret = statements.secret(exercise)
    for sentence in mistakes.of(exercise):
        for found in statements.shown(sentence, secret):
            yield f"mistakes.toml: {sentence!r} shows `{found.statement}` of the solution."
