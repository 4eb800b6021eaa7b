"""The sentence of a mistake holds for every answer with the same values, however it is written.

It may name what the task and the starter name, and say what must be so; names and lines that only
the solution has are others in an answer.
"""

import ast
import builtins
import math
import re

import numpy as np
import pytest

from gpukit import cuda
from gpukit.course import catalogue, mistakes

EXERCISES = catalogue.every()
# Names of variables that are also words of a sentence, where they stand outside code.
WORDS = set("a above across b first found last left mean other part scale share size top".split())
WORDS |= set(
    "total value values visit weight order square step place row down up keep squares stack".split()
)
VOCABULARY = {name for m in (np, np.ndarray, cuda, math, builtins) for name in dir(m)}
VOCABULARY |= {"cuda", "np", "math", "x", "y", "z", *"0123456789"}


def words(text):
    return set(re.findall(r"[A-Za-z_]\w*", text))


def known(exercise):
    """Return what a learner has read before writing anything."""
    task = (exercise.folder / "task.md").read_text(encoding="utf-8")
    return words(task) | words(exercise.starter.read_text(encoding="utf-8"))


def named(text):
    """Return the names that a program gives: of variables, parameters and functions."""
    nodes = list(ast.walk(ast.parse(text)))
    found = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    found |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    return found | {n.name for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef))}


def in_code(sentence):
    """Return the words that stand in code: between backticks, or in the index of an array."""
    parts = re.findall(r"`[^`]*`|\b\w+\[[^\]]*\]", sentence)
    return set().union(*map(words, parts))


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_a_sentence_names_nothing_that_only_the_solution_or_the_mistake_has(exercise):
    given, solution = known(exercise), named(exercise.solution.read_text(encoding="utf-8"))
    bad = {}
    for sentence, text in mistakes.of(exercise).items():
        own = (solution | named(text)) - given
        strange = words(sentence) & own - WORDS | in_code(sentence) - given - VOCABULARY
        if strange:
            bad[sentence] = strange
    assert bad == {}
