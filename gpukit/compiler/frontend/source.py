"""Find the Python source of a function and parse it, with the line numbers of its file.

Works for functions in files and notebook cells, made by factories, written as lambdas, and for
functions without a file if their text was found (`unsaved`). The source found is verified
(`original`), because a file may have been edited since it was imported.
"""

from __future__ import annotations

import ast
import functools
import io
import linecache
import tokenize
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from gpukit import errors
from gpukit.compiler import facts, tree
from gpukit.compiler.frontend import original, unsaved


@dataclass(frozen=True)
class Source:
    """A function's syntax tree; `lines` are all lines of the file, for error messages."""

    tree: ast.FunctionDef
    file: str
    lines: tuple[str, ...]

    def line(self, number: int) -> str:
        """Return the text of one line of the file, or an empty string."""
        return self.lines[number - 1].rstrip("\n") if 0 < number <= len(self.lines) else ""

    @property
    def listing(self) -> list[tuple[int, str]]:
        """The numbered lines of the function and of its decorators."""
        first = min([self.tree.lineno, *(node.lineno for node in self.tree.decorator_list)])
        last = self.tree.end_lineno or first
        return [(number, self.line(number)) for number in range(first, last + 1)]


# As found when the function was compiled: its file may be edited while it lives.
_found: weakref.WeakKeyDictionary[Callable[..., Any], Source] = weakref.WeakKeyDictionary()


def find(function: Callable[..., Any]) -> Source:
    """Return the parsed source of `function`; raise `errors.SourceError` if there is none."""
    code = getattr(function, "__code__", None)
    if code is None:
        raise errors.SourceError(
            f"{function!r} is not a Python function. @cuda.jit needs one, written with def."
        )
    if function not in _found:
        _found[function] = _search(function, code)
    return _found[function]


def _search(function: Callable[..., Any], code: CodeType) -> Source:
    lines: list[str] = []
    for lines in _texts(function):
        node = original.definition("".join(lines), code, function.__globals__)
        if node is not None:
            made = tree.of_lambda("lambda_", node) if isinstance(node, ast.Lambda) else node
            _keep_spelling(made, lines)
            return Source(made, code.co_filename, tuple(lines))
    edited = bool(lines) and Path(code.co_filename).exists()
    raise errors.SourceError(_missing(function, edited=edited))


def shown(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the user's function: for the kernel of an array function, the function it calls."""
    return getattr(function, "stands_for", function)


def around(file: str, line: int, text: str) -> Source | None:
    """Return the shortest function found so far that has this line of a file, or None."""
    known = [
        found
        for found in _found.values()
        if found.file == file and dict(found.listing).get(line, "").strip() == text.strip()
    ]
    return min(known, key=lambda found: len(found.listing), default=None)


@functools.lru_cache(maxsize=256)  # reading the source costs more than checking a small launch
def place(function: Callable[..., Any]) -> tuple[str, str, int, str]:
    """Return name, file, line and text of a function's `def`; line 0 if its source is missing."""
    name, file = function.__name__, function.__code__.co_filename
    try:
        found = find(function)
    except errors.SourceError:
        return name, file, 0, ""
    return name, file, found.tree.lineno, found.line(found.tree.lineno).strip()


def _keep_spelling(function: ast.FunctionDef, lines: list[str]) -> None:
    """Record the source text of expressions and simple statements, for messages.

    Passes rewrite the nodes themselves.
    """
    for node in ast.walk(function):
        whole_block = isinstance(node, ast.stmt) and tree.blocks(node)
        if isinstance(node, (ast.expr, ast.stmt)) and not whole_block:
            whole = [line.encode() for line in lines[node.lineno - 1 : node.end_lineno]]
            whole[-1] = whole[-1][: node.end_col_offset]  # column offsets are in bytes
            whole[0] = whole[0][node.col_offset :]
            facts.note(node, written=_on_one_line(b"".join(whole).decode()))


def _on_one_line(text: str) -> str:
    """Return code joined to one line, without comments.

    >>> _on_one_line("x[i] +  # left\\n    x[i + 1]")
    'x[i] + x[i + 1]'
    """
    lines = text.splitlines()
    if len(lines) > 1 and "#" in text:
        for token in tokenize.generate_tokens(io.StringIO(f"(\n{text}\n)").readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start[0] - 2, token.start[1]
                lines[row] = lines[row][:column]
    return " ".join(line.strip() for line in lines)


def _texts(function: Callable[..., Any]) -> Iterator[list[str]]:
    """Yield the lines of the texts that a function may come from, the most likely first."""
    file, scope = function.__code__.co_filename, function.__globals__
    run = unsaved.known(function)
    if run:
        yield [f"{line}\n" for line in run.split("\n")]
    known = linecache.getlines(file, scope)  # perhaps cached when the file was imported
    if known:
        yield known
    linecache.checkcache(file)
    now = linecache.getlines(file, scope)
    if now and now is not known:
        yield now


def _missing(function: Callable[..., Any], *, edited: bool) -> str:
    file, name = function.__code__.co_filename, function.__name__
    if edited:
        return (
            f"The source of {name!r} is no longer in {file}: it was edited after it was imported "
            "or run. Restart the kernel or import it again."
        )
    fix = (
        "code from a pipe cannot be read again: save the program in a file and run that."
        if file == "<stdin>"
        else "define the kernel in a file or a notebook cell (not below %%timeit); where exec "
        "runs it, keep its text in a variable: text = ...; exec(text)."
    )
    return (
        f"The source of kernel {name!r} is not available ({file}). gpukit compiles from source: "
        f"{fix}"
    )
