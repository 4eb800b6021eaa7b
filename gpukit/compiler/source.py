"""Find the Python source of a function and parse it, with the line numbers of its file.

Works for functions in files, in notebook cells, made by factories, written as lambdas, and
made by `exec` from text that was registered with `linecache`.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpukit import errors
from gpukit.compiler import tree


@dataclass(frozen=True)
class Source:
    """A function's syntax tree; `lines` are those of the whole file, for error messages."""

    tree: ast.FunctionDef
    file: str
    lines: tuple[str, ...]

    def line(self, number: int) -> str:
        """Return the text of one line of the file, or an empty string."""
        return self.lines[number - 1].rstrip("\n") if 0 < number <= len(self.lines) else ""


def find(function: Callable[..., Any]) -> Source:
    """Return the parsed source of `function`; raise `errors.SourceError` if there is none."""
    code = getattr(function, "__code__", None)
    if code is None:
        raise errors.SourceError(
            f"{function!r} is not a Python function. @cuda.jit needs one, written with def."
        )
    linecache.checkcache(code.co_filename)
    try:
        lines, start = inspect.getsourcelines(function)
    except (OSError, TypeError, IndexError) as error:
        raise errors.SourceError(
            f"The source of kernel {function.__name__!r} is not available ({code.co_filename}). "
            "gpukit compiles from source: define the kernel in a file or a notebook cell, or "
            "register the text with linecache before exec."
        ) from error
    text = textwrap.dedent("".join(lines))
    tree = _parse(text, function)
    ast.increment_lineno(tree, max(start, 1) - 1)
    whole = tuple(linecache.getlines(code.co_filename)) or tuple(lines)
    return Source(tree, code.co_filename, whole)


def _parse(text: str, function: Callable[..., Any]) -> ast.FunctionDef:
    try:
        module = ast.parse(text)
    except SyntaxError:
        module = ast.parse(_lambda_text(text))
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name == function.__code__.co_name:
            return node
    for node in ast.walk(module):
        if isinstance(node, ast.Lambda):
            return tree.of_lambda("lambda_", node)
    raise errors.SourceError(
        f"No def was found in the source of {function.__name__!r}. Define it in a file or a "
        "notebook cell. Was it edited after it was imported? Restart the kernel or import it again."
    )


def _lambda_text(text: str) -> str:
    """Cut `lambda ...` out of a line that does not parse on its own."""
    start = text.find("lambda")
    for end in range(len(text), start, -1):
        try:
            ast.parse(text[start:end], mode="eval")
        except SyntaxError:
            continue
        return text[start:end]
    raise errors.SourceError(f"Could not parse this source:\n{text}")
