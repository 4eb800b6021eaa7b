"""The mutants of the book: found, named, described and compiled."""

from __future__ import annotations

import ast
import difflib
import functools
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
from benchmarks.mutation.code import (
    Code,
    Edit,
    definition,
    device_name,
    full_name,
    home,
    name_of,
    package_of,
)
from gpukit import collectives, kernels

# Both files of operators have been read by now, so the register is full.
OPERATORS = {**places.OPERATORS, **operators.OPERATORS}


@dataclass(frozen=True)
class Mutant:
    """A kernel with one mistake in it.

    `line` counts from the `def`, so that an id outlives changes elsewhere in the file; `number`
    tells apart the mutants of one operator in one line. `kernel` is what to launch, by its full
    name: it may lie in another module than the function.
    """

    id: str
    subject: str
    operator: str
    module: str
    function: str
    kernel: str
    text: str
    diff: str
    right_kinds: frozenset[str]

    @property
    def package(self) -> str:
        """The module as reports call it: `matmul.tiled`."""
        return package_of(self.module)

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
                code.module.__name__,
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
    path = f"{code.module.__name__.replace('.', '/')}.py"
    lines = difflib.unified_diff(code.text.splitlines(), text.splitlines(), path, path, "", "", 1)
    return "\n".join(line.rstrip() for line in lines)


# ---- finding and making kernels -------------------------------------------------------------


def packages() -> list[ModuleType]:
    """Return the modules of the book, and what they share."""
    found = pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}.")
    names = sorted(module.name for module in found)
    return [*map(importlib.import_module, names), collectives]


def book() -> list[Code]:
    """Return every kernel and device function of the book, found by looking.

    A device function is tried on a kernel that calls it, of its own module where there is one.
    """
    own = {
        module: [f for n, f in vars(module).items() if _is_own(module, n, f)]
        for module in packages()
    }
    whole = [f for functions in own.values() for f in functions if not device_name(f)]
    found = []
    for module, functions in own.items():
        found += [Code(module, name_of(f)) for f in functions if f in whole]
        for function in (f for f in functions if f not in whole):
            users = [kernel for kernel in whole if function in called(kernel)]
            near = [kernel for kernel in users if home(kernel) is module]
            if users:
                found.append(Code(module, name_of(function), full_name((near or users)[-1])))
    return found


def every() -> list[Mutant]:
    """Return the mutants of the whole book."""
    return [mutant for code in book() for mutant in of(code)]


def sample(chosen: list[Mutant], number: int) -> list[Mutant]:
    """Return so many of some mutants, in the same order; a larger sample holds the smaller.

    Their names decide, so that a change of one kernel leaves those of all others in the sample.
    """
    taken = set(sorted(chosen, key=lambda mutant: zlib.crc32(mutant.id.encode()))[:number])
    return [mutant for mutant in chosen if mutant in taken]


def _is_own(module: ModuleType, name: str, value: Any) -> bool:
    function = getattr(value, "py_func", None)
    return (
        function is not None
        and function.__module__ == module.__name__
        and function.__name__ == name
    )


@functools.cache
def called(function: Any) -> frozenset[Any]:
    """Return the device functions that a function calls or hands on, and those that they call."""
    code = Code(home(function), name_of(function))
    calls = [n for s in code.body for n in ast.walk(s) if isinstance(n, ast.Call)]
    values = [code.resolve(node) for call in calls for node in (call.func, *call.args)]
    direct = frozenset(value for value in values if device_name(value))
    return direct.union(*map(called, direct))


def build(mutant: Mutant, folder: Path) -> Any:
    """Return the kernel that a mutant makes, compiled from a file of its own.

    The file is the whole module with the mistake in it. Only the functions that differ are made
    again: the mutated one, and those that call it. Those of a module share a copy of its names, in
    which the new ones stand for the old ones; so modules import functions of others by their names.
    """
    path = folder / f"{mutant.id.replace(':', '-')}.py"
    path.write_text(mutant.text, encoding="utf-8")
    linecache.checkcache(str(path))
    mutated, kernel = _mutated(mutant), _found(mutant.kernel)
    remade = {mutated, kernel, *(f for f in called(kernel) if mutated in called(f))}
    scopes = {module: dict(vars(module)) for module in map(home, remade)}
    for function in remade:
        changed = home(function) is home(mutated)
        text = mutant.text if changed else _text(home(function))
        # Python compiles calls of what a module imports in another way: the code must be the file's
        imports = [s for s in ast.parse(text).body if isinstance(s, (ast.Import, ast.ImportFrom))]
        tree = ast.Module([*imports, definition(text, name_of(function))], [])
        source = path if changed else home(function).__file__
        exec(compile(tree, str(source), "exec"), scopes[home(function)])
    new = {id(f): scopes[home(f)][name_of(f)] for f in remade}
    for scope in scopes.values():
        scope.update({name: new[id(value)] for name, value in scope.items() if id(value) in new})
    return new[id(kernel)]


def own_text(mutant: Mutant) -> str:
    """Return what the text says that the kernel of a mutant depends on, without words for readers.

    That is the kernel, the functions of the book that it calls, and the names that these use.
    """
    kernel = _found(mutant.kernel)
    needed = {_mutated(mutant), kernel, *called(kernel)}
    modules = [
        module for module in packages() if any(home(function) is module for function in needed)
    ]
    return "\n".join(
        _own_part(
            mutant.text if module.__name__ == mutant.module else _text(module),
            {name_of(function) for function in needed if home(function) is module},
        )
        for module in modules
    )


def _own_part(text: str, needed: set[str]) -> str:
    body = ast.parse(text).body
    functions = [s for s in body if isinstance(s, ast.FunctionDef) and s.name in needed]
    for tree in functions:
        tree.body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    kept: list[ast.stmt] = list(functions)
    for s in reversed(body):
        if isinstance(s, (ast.Assign, ast.AnnAssign)) and _names(s, ast.Store) & {
            name for other in kept for name in _names(other, ast.Load)
        }:
            kept.insert(0, s)
    return "\n".join(ast.unparse(s) for s in kept)


def _names(tree: ast.AST, context: type[ast.expr_context]) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def _text(module: ModuleType) -> str:
    return Path(str(module.__file__)).read_text(encoding="utf-8")


def _mutated(mutant: Mutant) -> Any:
    return _found(f"{mutant.module}.{mutant.function}")


def _found(name: str) -> Any:
    """Return the function of a full name."""
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(module), function)
