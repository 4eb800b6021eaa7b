"""Wrong answers that must be explained, and unusual right ones that must pass, by exercise.

Each file is named as its exercise and holds a list ANSWERS. An answer is told by what it changes in
the solution: `edit` replaces text, `without` drops lines, `body` replaces what stands under the
docstring of the kernel, `whole` replaces all.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import NamedTuple

from gpukit.course import mistakes
from gpukit.course.catalogue import Exercise

Change = Callable[[Exercise], str]


class Wrong(NamedTuple):
    """A wrong answer: its mistake in words, and a piece of the explanation that fits it.

    `grade` is "wrong", or "but" where only a contract is broken.
    """

    name: str
    change: Change
    says: str
    grade: str = "wrong"


class Right(NamedTuple):
    """A right answer that is unlike the solution."""

    name: str
    change: Change


def edit(*pairs: tuple[str, str]) -> Change:
    """Return the solution with pieces of text replaced, each of which must be there once."""
    return lambda exercise: mistakes.edited(exercise.solution.read_text(encoding="utf-8"), pairs)


def without(*pieces: str) -> Change:
    """Return the solution without the lines that hold these pieces of text."""

    def change(exercise: Exercise) -> str:
        lines = exercise.solution.read_text(encoding="utf-8").splitlines(keepends=True)
        for piece in pieces:
            (found,) = [line for line in lines if piece in line]
            lines.remove(found)
        return "".join(lines)

    return change


def body(lines: str) -> Change:
    """Return the solution with other lines under the docstring of its kernel."""

    def change(exercise: Exercise) -> str:
        solution = exercise.solution.read_text(encoding="utf-8")
        return mistakes.with_body(solution, exercise.entry, lines)

    return change


def whole(text: str) -> Change:
    """Return a file of its own."""
    return lambda exercise: textwrap.dedent(text).lstrip("\n")


def serial(lines: str, name: str = "one thread does all") -> Wrong:
    """Return the answer in which a thread does the work of others: right, but slow."""
    says = "one thread of a warp does the work"
    return Wrong(name, body(lines), says, grade="but")


SERIAL_PRODUCT = serial("""
    if cuda.grid(2) == (0, 0):
        for row in range(out.shape[0]):
            for col in range(out.shape[1]):
                acc = np.float32(0)
                for k in range(a.shape[1]):
                    acc += a[row, k] * b[k, col]
                out[row, col] = acc
""")
