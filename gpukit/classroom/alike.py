"""Find what is nearly the solution of an exercise, and which students can read: in the book.

Students have gpukit installed, with its kernels and layers; the solutions of the book's exercises
are in its repository.
"""

from __future__ import annotations

import ast
import difflib
import functools
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import gpukit
from gpukit.course import catalogue
from gpukit.course.catalogue import Exercise

# How much of two programs has to be the same, from 0 to 1. Small kernels share most of their code:
# at this value, one of two that are listed for them computes something else.
NEARLY = 0.85
_INSTALLED = ("kernels/**/*.py", "nn/**/*.py", "parallel/**/*.py", "collectives.py")
_DEFINITION = (ast.FunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Alike:
    """A function or class that is nearly a solution: where it is, and how much is the same."""

    name: str
    ratio: float


def in_book(exercise: Exercise) -> list[Alike]:
    """Return what is nearly the solution of an exercise, the most alike first.

    Of an exercise of the book that is its own solution, too.
    """
    mine = _solution(exercise)
    found = [Alike(name, _ratio(mine, code)) for name, code in _book().items()]
    return sorted((one for one in found if one.ratio >= NEARLY), key=lambda one: -one.ratio)


def _ratio(one: list[str], other: list[str]) -> float:
    """Return how much of two programs is the same; 0 where that is much less than `NEARLY`."""
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    if min(matcher.real_quick_ratio(), matcher.quick_ratio()) < NEARLY:
        return 0.0
    return round(matcher.ratio(), 2)


@functools.cache
def _book() -> dict[str, list[str]]:
    """Return the normalised code of what is installed, by full name, and of solutions, by file."""
    package, exercises = Path(gpukit.__file__).parent, catalogue.book()
    found = {
        f"exercises/{one.topic}/{one.name}/solution.py": _solution(one)
        for one in (catalogue.of(exercises) if exercises else [])
    }
    for file in sorted(file for pattern in _INSTALLED for file in package.glob(pattern)):
        module = ".".join(file.relative_to(package.parent).with_suffix("").parts)
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, _DEFINITION):
                found[f"{module.removesuffix('.__init__')}.{node.name}"] = _normalised(node)
    return found


def _solution(exercise: Exercise) -> list[str]:
    """Return the normalised code of what an exercise asks for."""
    for node in ast.parse(exercise.model or "").body:
        if isinstance(node, _DEFINITION) and node.name == exercise.entry:
            return _normalised(node)
    return []


def _normalised(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    """Return the tokens of a definition, without decorators, docstrings, annotations and comments.

    Names are numbered in the order in which they occur.

    >>> function = ast.parse("def g(y: int): 'A sum.'; return (y) + 1  # y").body[0]
    >>> "".join(_normalised(function)).split()
    ['deff(v0):', 'returnv0+1']
    """
    tree = _Anonymous().visit(ast.parse(ast.unparse(node)))
    tokens = tokenize.generate_tokens(io.StringIO(ast.unparse(tree)).readline)
    return [token.string for token in tokens if token.type != tokenize.NL]


class _Anonymous(ast.NodeTransformer):
    """Takes away what does not change what a program computes."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def _numbered(self, name: str) -> str:
        return self._names.setdefault(name, f"v{len(self._names)}")

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._numbered(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg, node.annotation = self._numbered(node.arg), None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.decorator_list, node.returns, node.name = [], None, "f"
        node.body = list(_without_docstring(node.body)) or [ast.Pass()]
        self.generic_visit(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.decorator_list, node.name = [], "C"
        node.body = list(_without_docstring(node.body)) or [ast.Pass()]
        self.generic_visit(node)
        return node


def _without_docstring(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for number, statement in enumerate(body):
        is_words = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if number or not is_words:
            yield statement
