"""The mutants of the book: how they are made, named, described and compiled."""

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

# Importing both modules has registered all operators.
OPERATORS = {**places.OPERATORS, **operators.OPERATORS}


@dataclass(frozen=True)
class Mutant:
    """A kernel with one mistake in it.

    In the id, the line counts from the `def`, so that it survives changes elsewhere in the file;
    the number distinguishes the mutants of one operator in one line. `kernel` is the qualified name
    of the kernel to launch, which may be in another module than the function.
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
        """The module's name in reports: `matmul.tiled`."""
        return package_of(self.module)

    @property
    def change(self) -> str:
        """The changed lines, before and after."""
        changed = [s for s in self.diff.splitlines()[2:] if s[:1] in ("-", "+")]
        return "\n".join(f"{s[0]} {s[1:].strip()}" for s in changed)


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all edits applied, the last one first, so that offsets stay valid."""
    for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def of(code: Code) -> Iterator[Mutant]:
    """Yield the distinct mutants of one function."""
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
    """Return the tree of a function after edits of the function alone.

    There are thousands of mutants, so the rest of the module is not parsed again.
    """
    tree: Any = code.tree
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
    """Return the modules of the book, and `collectives`."""
    found = pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}.")
    names = sorted(module.name for module in found)
    return [*map(importlib.import_module, names), collectives]


def book() -> list[Code]:
    """Return every kernel and device function of the book.

    A device function is tried on a kernel that calls it, preferably of its own module.
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
    """Return a sample of mutants, in the same order; a larger sample contains the smaller.

    It is chosen by their names, so that a change of one kernel does not affect the other mutants.
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
    """Return the device functions that a function calls or passes on, and their callees."""
    code = Code(home(function), name_of(function))
    calls = [n for s in code.body for n in ast.walk(s) if isinstance(n, ast.Call)]
    values = [code.resolve(node) for call in calls for node in (call.func, *call.args)]
    direct = frozenset(value for value in values if device_name(value))
    return direct.union(*map(called, direct))


def build(mutant: Mutant, folder: Path) -> Any:
    """Return the kernel of a mutant, compiled from its own file.

    The file is the whole module with the mistake in it. Only the mutated function and its callers
    are compiled again. Those of a module share a copy of its globals, in which they replace the old
    ones; modules therefore import functions of others by name.
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
        # Python compiles calls of imported names differently: include the imports of the file.
        imports = [s for s in ast.parse(text).body if isinstance(s, (ast.Import, ast.ImportFrom))]
        tree = ast.Module([*imports, definition(text, name_of(function))], [])
        source = path if changed else home(function).__file__
        exec(compile(tree, str(source), "exec"), scopes[home(function)])
    new = {id(f): scopes[home(f)][name_of(f)] for f in remade}
    for scope in scopes.values():
        scope.update({name: new[id(value)] for name, value in scope.items() if id(value) in new})
    return new[id(kernel)]


def own_text(mutant: Mutant) -> str:
    """Return the source that the kernel of a mutant depends on, without docstrings.

    That is the kernel, the functions of the book that it calls, and the globals that these use.
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
    """Return the function with a qualified name."""
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(module), function)
