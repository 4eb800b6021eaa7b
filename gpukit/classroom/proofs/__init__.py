"""Prove that an exercise grades right answers as right, and explains the wrong ones.

Each proof is a function that yields what is wrong with an exercise, in sentences for its teacher.
`gpukit verify` runs all of them on one exercise; the project's tests run each on the book's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gpukit.classroom.proofs import folder, grades, plain_python
from gpukit.course.catalogue import Exercise, ExerciseError

Problems = Iterator[str]
Proof = Callable[[Exercise], Problems]
Stage = dict[str, Proof]  # by what holds, in words
_FILES: Stage = {"all files are there": folder.folder_is_complete}
_PROGRAMS: Stage = {
    "starter and solution define the same": folder.starter_fits_solution,
    "all cases can be made": folder.cases_can_be_made,
}
_WORDS_AND_NUMBERS: Stage = {
    "the task says what to write": folder.task_names_entry,
    "points, limits and tolerance are valid": folder.numbers_are_valid,
    "outputs start unwritten": folder.outputs_start_unwritten,
    "cases follow from the seed": folder.cases_repeat,
    "hints are valid": folder.hints_are_valid,
    "contracts are valid": folder.contracts_are_valid,
    "known mistakes have sentences": folder.sentences_are_sentences,
    "no sentence shows the solution": folder.sentences_keep_the_solution_secret,
}
_MISTAKES: Stage = {
    "known mistakes can be tried": plain_python.solution_is_right_in_plain_python,
    "known mistakes differ": plain_python.mistakes_differ,
}
_GRADES: Stage = {
    "the starter is not attempted": grades.starter_is_not_attempted,
    "the starter fails when it runs": grades.starter_fails_when_it_runs,
    "the solution is right": grades.solution_is_right,
    "the solution is right with other inputs": grades.solution_is_right_with_other_inputs,
    "the solution is right in small shapes": grades.solution_is_right_in_small_shapes,
    "known mistakes are explained": grades.mistakes_are_explained,
}
BEFORE_RUNNING = (_FILES, _PROGRAMS, _WORDS_AND_NUMBERS)
STAGES = (*BEFORE_RUNNING, _MISTAKES, _GRADES)


class Proved(NamedTuple):
    """A proof in words, and the problems that it found: it holds where there are none."""

    says: str
    problems: list[str]


def run(
    exercise: Exercise,
    watch: Callable[[Proved], None] = lambda _: None,
    notice: Callable[[str], None] = lambda _: None,
    *,
    stages: Iterable[Stage] = STAGES,
) -> list[Proved]:
    """Run the proofs of all stages; the hidden cases count as well.

    A stage runs only if the one before found no problem. `notice` is called with what a proof says
    when it begins, `watch` with how it went.
    """
    done: list[Proved] = []
    for stage in stages:
        for says, proof in stage.items():
            notice(says)
            done.append(Proved(says, _problems(proof, exercise.with_hidden_cases)))
            watch(done[-1])
        if any(proved.problems for proved in done):
            break
    return done


def _problems(proof: Proof, exercise: Exercise) -> list[str]:
    try:
        return list(proof(exercise))
    except ExerciseError as error:  # of a file that cannot be used
        return [error.fault]
