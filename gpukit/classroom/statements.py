"""The statements of a solution that students have to find, and where a text shows one of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpukit.course.catalogue import Exercise

# What a statement has that computes something; others, such as `i = cuda.grid(1)`, are vocabulary.
_COMPUTES = (
    ast.AugAssign,
    ast.BinOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Subscript,
    ast.UnaryOp,
)

_BLOCKS = (ast.stmt, ast.excepthandler, ast.match_case)


class Shown(NamedTuple):
    """A line of a text in which a statement is shown."""

    line: int
    statement: str


def secret(exercise: Exercise) -> list[str]:
    """Return the statements of the solution that neither the starter nor the task shows.

    They are normalised: without comments, their spaces, quotes and brackets as `ast.unparse` writes
    them. Of an `if` or a loop it is the first line. Those of a detective are the corrected lines.
    """
    given = [exercise.starter, exercise.task]
    texts = [file.read_text(encoding="utf-8") for file in given]
    found = [
        _header(statement)
        for statement in _statements(exercise.model or "")
        if exercise.detective or _computes(statement)
    ]
    return [one for one in dict.fromkeys(found) if not any(shown(text, [one]) for text in texts)]


def shown(text: str, statements: Iterable[str]) -> list[Shown]:
    """Return where a text shows one of these statements: as code, in a comment or in words.

    >>> shown("# Hint: y[i]=a[i] + 1", ["y[i] = a[i] + 1", "y[i] = a[i] + 2"])
    [Shown(line=1, statement='y[i] = a[i] + 1')]
    """
    places = {_header(node): node.lineno for node in _statements(text)}
    letters = [(k, c) for k, c in enumerate(text) if not c.isspace()]
    flat = "".join(c for _, c in letters)
    found = []
    for statement in statements:
        at = flat.find(re.sub(r"\s", "", statement))
        if at >= 0:
            found.append(Shown(text.count("\n", 0, letters[at][0]) + 1, statement))
        elif statement in places:
            found.append(Shown(places[statement], statement))
    return found


def _statements(text: str) -> Iterator[ast.stmt]:
    """Yield the statements of a program; none where a text is no program."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.stmt))


def _computes(statement: ast.stmt) -> bool:
    """Tell whether a statement computes something, or is only vocabulary."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return False
    own = _own_nodes(statement)
    return any(isinstance(node, _COMPUTES) and not _is_size(node) for node in own)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a statement without those of the statements in it."""
    yield node
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, _BLOCKS):
            yield from _own_nodes(inner)


def _is_size(node: ast.AST) -> bool:
    """Tell whether this is an extent, such as `x.shape[0]`."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "shape"
    )


def _header(statement: ast.stmt) -> str:
    return ast.unparse(statement).splitlines()[0]
