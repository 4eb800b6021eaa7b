"""The mutants of the book: found, named, described and compiled."""

from __future__ import annotations

import ast
import difflib
import importlib
import itertools
import linecache
import pkgutil
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.mutation import operators, places
from benchmarks.mutation.code import Code, Edit, definition, device_name
from gpukit import kernels

# Both files of operators have been read by now, so the register is full.
OPERATORS = {**places.OPERATORS, **operators.OPERATORS}


@dataclass(frozen=True)
class Mutant:
    """A kernel with one mistake in it.

    `line` counts from the `def`, so that an id outlives changes elsewhere in the file; `number`
    tells apart the mutants of one operator in one line. `kernel` is what to launch.
    """

    id: str
    subject: str
    operator: str
    room: str
    function: str
    kernel: str
    text: str
    diff: str
    right_kinds: frozenset[str]

    @property
    def change(self) -> str:
        """The lines that were changed, before and after."""
        changed = [s for s in self.diff.splitlines()[2:] if s[:1] in ("-", "+")]
        return "\n".join(f"{s[0]} {s[1:].strip()}" for s in changed)


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all edits made; the last one first, so that places stay right."""
    for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def of(code: Code) -> Iterator[Mutant]:
    """Yield the mutants of one function; two operators that make the same one count once."""
    seen = {ast.dump(code.tree)}
    for operator in OPERATORS.values():
        numbers: dict[int, Iterator[int]] = {}
        for edits in operator.find(code):
            text = apply(code.text, edits)
            dump = ast.dump(_own_definition(code, text))
            if dump in seen:
                continue
            seen.add(dump)
            first = min(edit.start for edit in edits)
            line = code.text.count("\n", 0, first) + 2 - code.tree.lineno
            number = next(numbers.setdefault(line, itertools.count(1)))
            yield Mutant(
                f"{code.subject}:{operator.name}:{line}.{number}",
                code.subject,
                operator.name,
                code.room,
                code.name,
                code.kernel,
                text,
                _diff(code, text),
                operator.right_kinds,
            )


def _own_definition(code: Code, text: str) -> ast.FunctionDef:
    """Return the tree of a function in its module's text after edits of the function alone.

    Thousands of mutants are made: nothing around the function is parsed again.
    """
    tree = code.tree
    first = min(node.lineno for node in (tree, *tree.decorator_list))
    begin = sum(map(len, code.lines[: first - 1]))
    own = text[begin : code.end(tree) + len(text) - len(code.text)]
    return definition(f"if True:\n{own}" if tree.col_offset else own, code.name)


def _diff(code: Code, text: str) -> str:
    path = f"gpukit/kernels/{code.room.replace('.', '/')}.py"
    lines = difflib.unified_diff(code.text.splitlines(), text.splitlines(), path, path, "", "", 1)
    return "\n".join(line.rstrip() for line in lines)


# ---- finding and making kernels -------------------------------------------------------------


def book() -> list[Code]:
    """Return every kernel and device function of gpukit.kernels, found by looking."""
    rooms = [m.name for m in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}.")]
    return [code for room in sorted(rooms) for code in _functions(importlib.import_module(room))]


def every() -> list[Mutant]:
    """Return the mutants of the whole book."""
    return [mutant for code in book() for mutant in of(code)]


def sample(chosen: list[Mutant], number: int) -> list[Mutant]:
    """Return so many of some mutants, in the same order; a larger sample holds the smaller.

    Their names decide, so that a change of one kernel leaves those of all others in the sample.
    """
    taken = set(sorted(chosen, key=lambda mutant: zlib.crc32(mutant.id.encode()))[:number])
    return [mutant for mutant in chosen if mutant in taken]


def _functions(module: ModuleType) -> Iterator[Code]:
    made = {n: v for n, v in vars(module).items() if _is_own(module, n, v)}
    whole = [n for n, v in made.items() if not device_name(v)]
    yield from (Code(module, name) for name in whole)
    for name in made:
        users = [kernel for kernel in whole if name in called(Code(module, kernel))]
        if device_name(made[name]) and users:
            yield Code(module, name, users[-1])


def _is_own(module: ModuleType, name: str, value: Any) -> bool:
    function = getattr(value, "py_func", None)
    return (
        function is not None
        and function.__module__ == module.__name__
        and function.__name__ == name
    )


def called(code: Code) -> set[str]:
    """Return the device functions that a function calls or hands on, and those that they call.

    Only those of its room: what it calls from another is changed and launched there.
    """
    calls = [n for s in code.body for n in ast.walk(s) if isinstance(n, ast.Call)]
    values = [code.resolve(node) for call in calls for node in (call.func, *call.args)]
    own = [v for v in values if device_name(v) and v.py_func.__module__ == code.module.__name__]
    direct = {device_name(value) for value in own}
    return direct.union(*(called(Code(code.module, name)) for name in direct))


def build(mutant: Mutant, folder: Path) -> Any:
    """Return the kernel that a mutant makes, compiled from a file of its own.

    The file is the whole module with the mistake in it. Only the functions that differ are made
    again: the mutated one, and those that call it; they share a copy of the module's names.
    """
    module = importlib.import_module(f"{kernels.__name__}.{mutant.room}")
    path = folder / f"{mutant.id.replace(':', '-')}.py"
    path.write_text(mutant.text, encoding="utf-8")
    linecache.checkcache(str(path))
    scope = dict(vars(module))
    users = [
        n for n, v in vars(module).items()
        if _is_own(module, n, v) and mutant.function in called(Code(module, n))
    ]  # fmt: skip
    devices = [n for n in users if device_name(vars(module)[n])]
    order = dict.fromkeys([mutant.function, *devices, mutant.kernel])
    # Python compiles calls of what a module imports in another way: the code must be the file's.
    imports = [
        s for s in ast.parse(mutant.text).body if isinstance(s, (ast.Import, ast.ImportFrom))
    ]
    for name in order:
        tree = definition(mutant.text, name)
        exec(compile(ast.Module([*imports, tree], []), str(path), "exec"), scope)
    return scope[mutant.kernel]


def own_text(mutant: Mutant) -> str:
    """Return what a mutant's file says that its kernel depends on, without words for readers.

    That is the kernel, the functions of the file that it calls, and the names that these use.
    """
    module = importlib.import_module(f"{kernels.__name__}.{mutant.room}")
    made = {s.name: s for s in ast.parse(mutant.text).body if isinstance(s, ast.FunctionDef)}
    needed = {mutant.kernel, mutant.function, *called(Code(module, mutant.kernel))}
    functions = [tree for name, tree in made.items() if name in needed]
    for tree in functions:
        tree.body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    kept: list[ast.stmt] = list(functions)
    for s in reversed(ast.parse(mutant.text).body):
        if isinstance(s, (ast.Assign, ast.AnnAssign)) and _names(s, ast.Store) & {
            name for other in kept for name in _names(other, ast.Load)
        }:
            kept.insert(0, s)
    return "\n".join(ast.unparse(s) for s in kept)


def _names(tree: ast.AST, context: type[ast.expr_context]) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}
