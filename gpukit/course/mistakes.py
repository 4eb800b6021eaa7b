"""The known mistakes of an exercise: edits of its solution, each with the sentence that names it.

What a mistake leaves in the outputs of a case comes from running the edited solution there: a
kernel in plain Python (`interpreter`), host code in a process of its own.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gpukit import files
from gpukit.course import compare, edits, interpreter, variations
from gpukit.course.case import Array, Case
from gpukit.course.catalogue import MISTAKES, Exercise, ExerciseError
from gpukit.course.runner import Child
from gpukit.course.variations import Variation

# The work above which a case is left to the others, three of which are always looked at.
MOST_WORK, LEAST_CASES = 300_000, 3
# Seconds that a mistake in host code may take (the answer with the same values took less), and
# that all variations of a solution may take.
SECONDS = 5.0
Outputs = list[tuple[Case, dict[str, Array]]]


def of(exercise: Exercise) -> dict[str, str]:
    """Return the edited solutions by their sentences, or raise saying which edit does not fit.

    There are none in a students' copy.
    """
    solution, found = exercise.model or "", {}
    for mistake in exercise.mistakes:
        try:
            for says, change in _rows(mistake):
                found[says] = changed(solution, exercise.entry, change)
        except KeyError as error:
            raise ExerciseError(
                f"{exercise.folder}/{MISTAKES}: expected the field {error}, got none."
            ) from error
        except ValueError as error:
            raise ExerciseError(
                f"{exercise.folder}/{MISTAKES}: {mistake['says']!r}: {error}."
            ) from error
    return found


def _rows(mistake: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Generate a sentence and its change for each row of the lists that a mistake may have.

    `start = ["-100", "-1000"]` makes two mistakes, in which `{start}` stands for -100 and -1000.
    """
    lists = {key: values for key, values in mistake.items() if isinstance(values, list)}
    for row in zip(*lists.values(), strict=True) if lists else [()]:
        filled = {key: text for key, text in mistake.items() if key not in lists}
        for key, value in zip(lists, row, strict=True):
            filled = {k: text.replace(f"{{{key}}}", value) for k, text in filled.items()}
        yield filled.pop("says"), filled


def changed(solution: str, entry: str, change: Mapping[str, str]) -> str:
    """Return a solution as changed by the keys of a TOML table.

    `edit` holds hunks, `body` the lines that replace all that stands under the docstring of
    `entry`, and `whole` a file of its own.
    """
    if "whole" in change:
        return change["whole"]
    if "body" in change:
        return edits.with_body(solution, entry, change["body"])
    return edits.edited(solution, change["edit"])


def work(case: Case) -> int:
    """Return about how many steps a case takes: its threads times the longest axis."""
    axes = [n for v in case.args.values() if isinstance(v, np.ndarray) for n in v.shape]
    return case.blocks * case.threads * max(axes, default=1)


def _tried_on(failed: Outputs, passed: list[Case]) -> Outputs:
    """Return the cases that tell: what an answer left in those it fails, and the right outputs."""
    return [*_small(failed), *_small([(case, case.expected) for case in passed])]


def _small(outputs: Outputs) -> Outputs:
    """Return the cases in the order of their work, without the large ones: Python is slow."""
    ordered = sorted(outputs, key=lambda one: work(one[0]))
    small = sum(work(case) <= MOST_WORK for case, _ in ordered)
    return ordered[: max(small, LEAST_CASES)]


class Tries:
    """The mistakes of an exercise, tried on the cases that an answer fails, no more than needed."""

    def __init__(
        self, exercise: Exercise, texts: dict[str, str], notice: Callable[[str], None]
    ) -> None:
        self._exercise, self._texts, self._notice = exercise, texts, notice
        self._tried: dict[tuple[str, str], bool] = {}
        self._stack = contextlib.ExitStack()
        self._outputs: Callable[[str, Case], dict[str, Array] | None] = (
            self._of_host_code if exercise.driver else self._of_kernel
        )
        self._child: Child | None = None

    def __enter__(self) -> Tries:
        return self

    def __exit__(self, *_error: Any) -> None:
        self._stack.close()

    def fitting(self, failed: Outputs, passed: list[Case]) -> str:
        """Return the first sentence whose mistake leaves just these outputs in all of the cases.

        In cases that `passed` it must leave the right ones.
        """
        if not failed:
            return ""
        cases = _tried_on(failed, passed)
        self._notice("looking for the mistake")
        fitting = (s for s in self._texts if all(self._fits(s, *one) for one in cases))
        found = next(fitting, "")
        self._notice("")
        return found

    def varied(self, failed: Outputs, passed: list[Case]) -> list[Variation]:
        """Return the small changes of the solution that leave just these outputs."""
        if not failed:
            return []
        cases = _tried_on(failed, passed)
        self._notice("looking for the mistake")
        clock = time.monotonic if self._exercise.driver else time.process_time
        found: list[Variation] = []
        end = clock() + SECONDS
        for variation in self._variations():
            if clock() > end or (found and not variation.is_like(found[0])):
                break
            if all(self._leaves(variation.text, *one) for one in cases):
                found.append(variation)
        self._notice("")
        return found

    def _variations(self) -> Iterator[Variation]:
        """Yield what is to be tried: of a detective, also with one mistake that is still there."""
        solution = self._exercise.model
        if solution is None:
            return
        starter = self._exercise.starter.read_text(encoding="utf-8")
        unfixed = [*variations.unfixed(starter, solution)] if self._exercise.detective else []
        yield from unfixed
        yield from variations.of(solution)
        for other in unfixed:
            for variation in variations.of(other.text):
                yield variation._replace(still=other.still)

    def _fits(self, sentence: str, case: Case, got: dict[str, Array]) -> bool:
        key = sentence, case.name
        if key not in self._tried:
            self._tried[key] = self._leaves(self._texts[sentence], case, got)
        return self._tried[key]

    def _leaves(self, text: str, case: Case, got: dict[str, Array]) -> bool:
        left = self._outputs(text, case)
        return left is not None and compare.agree(case, got, left, self._exercise.ulps)

    def _of_kernel(self, text: str, case: Case) -> dict[str, Array] | None:
        return interpreter.launch(text, self._exercise.entry, case)

    def _of_host_code(self, text: str, case: Case) -> dict[str, Array] | None:
        """Call a mistake in one process for all of them; it is another after one that hangs."""
        file = self._stack.enter_context(files.temporary("mistake.py", text))
        asked = self._exercise.entry, self._exercise.driver
        if self._child is None:
            self._child = self._stack.enter_context(Child(file, *asked))
            loaded = self._child.loaded()
        else:
            loaded = self._child.load(file, *asked)
        found = self._child.check(case, SECONDS) if loaded.kind == "ready" else loaded
        if not found.goes_on:
            self._child = None
        return found.arrays if found.kind == "arrays" else None
