"""Which top-level statements of a submission its entry needs, and the text that they leave.

A statement is needed if it binds the entry, binds a name that a needed statement uses, or changes
the object of such a name (`TABLE[0] = 1`, `np.copyto(TABLE, rows)`, a call of the submission's own
function that does so). Everything else, such as a self-test below the kernel, is left out, so it is
not run.
"""

from __future__ import annotations

import ast
import symtable
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from types import MappingProxyType

# Methods of a list, a dictionary or an array that change it.
_CHANGES = {"append", "clear", "extend", "fill", "insert", "pop", "remove", "reverse", "setdefault"}
_CHANGES |= {"sort", "update"}
# Functions of NumPy and of `random` that change their first argument.
_FILLS = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "shuffle"}


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement at the top level: the names that it binds or changes, and those that it uses.

    `calls` are the names of the functions that it calls.
    """

    node: ast.stmt
    binds: frozenset[str]
    uses: frozenset[str]
    calls: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Function:
    """A function of the submission: what it changes where it is called, and what it calls."""

    changes: frozenset[str]
    changes_arguments: bool
    calls: frozenset[str]


_NONE: Mapping[str, _Function] = MappingProxyType({})


@dataclass(frozen=True)
class _Users:
    """Which statements and functions have something to do with a name."""

    binding: dict[str, list[Statement]] = field(default_factory=lambda: defaultdict(list))
    calling: dict[str, list[Statement]] = field(default_factory=lambda: defaultdict(list))
    changing: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    callers: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def of(self, name: str) -> Iterator[Statement]:
        """Yield the statements that bind a name or change its object, each only once for it."""
        yield from self.binding.pop(name, ())
        functions = self.changing.pop(name, [])
        while functions:
            function = functions.pop()
            yield from self.calling.pop(function, ())
            functions += self.callers.pop(function, ())


def statements(tree: ast.Module, entry: str) -> list[ast.stmt]:
    """Return the statements that bind `entry`, and what these need, in order."""
    nodes = [node for node in tree.body if not _is_for_a_script(node)]
    functions = {n.name: _function(n) for n in nodes if isinstance(n, ast.FunctionDef)}
    imports = [n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom)]
    modules = {bound(alias) for node in imports for alias in node.names}  # `np.sort` is no change
    every = [statement(node, functions, modules) for node in nodes]
    users = _users(every, functions)
    needed, asked = {entry, "*"}, [entry, "*"]
    chosen = {s for s in every if _is_for_the_compiler(s.node)}
    while asked:
        for one in users.of(asked.pop()):
            if one not in chosen:
                chosen.add(one)
                asked += one.uses - needed
                needed |= one.uses
    return [_only(s.node, needed) for s in every if s in chosen]


def _users(every: list[Statement], functions: Mapping[str, _Function]) -> _Users:
    users = _Users()
    for one in every:
        for name in one.binds:
            users.binding[name].append(one)
        for name in one.calls:
            users.calling[name].append(one)
    for name, function in functions.items():
        for changed in function.changes:
            users.changing[changed].append(name)
        for called in function.calls:
            users.callers[called].append(name)
    return users


def _is_for_the_compiler(node: ast.stmt) -> bool:
    """Tell whether a statement is `from __future__ import annotations`, which binds no name."""
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_for_a_script(node: ast.stmt) -> bool:
    """Tell whether a statement is `if __name__ == "__main__":`."""
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
    )


def statement(
    node: ast.stmt, functions: Mapping[str, _Function] = _NONE, modules: Set[str] = frozenset()
) -> Statement:
    """Return what a statement binds, changes and uses, in a file that defines and imports these."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return Statement(node, frozenset(map(bound, node.names)), frozenset())
    table = symtable.symtable(ast.unparse(node), "<submission>", "exec")
    binds, uses, calls = set[str](), set[str](), list[ast.Call]()
    if not isinstance(node, ast.FunctionDef):  # which changes nothing before it is called
        binds, calls = set(_changed(node)) - modules, _calls(node)
    for symbol in table.get_symbols():
        if symbol.is_assigned() or symbol.is_imported():
            binds.add(symbol.get_name())
        if symbol.is_referenced():
            uses.add(symbol.get_name())
    for inner in _inner(table):
        uses.update(s.get_name() for s in inner.get_symbols() if s.is_global())
    for call in calls:
        function = functions.get(_name(call))
        if function is not None and function.changes_arguments:
            binds.update(_roots((*call.args, *(word.value for word in call.keywords))))
    return Statement(node, frozenset(binds), frozenset(uses), frozenset(map(_name, calls)))


def _function(node: ast.FunctionDef) -> _Function:
    changes = set(_changed(node))
    for part in ast.walk(node):
        if isinstance(part, ast.Global):
            changes.update(part.names)
    listed = node.args
    arguments = {a.arg for a in (*listed.posonlyargs, *listed.args, *listed.kwonlyargs)}
    calls = frozenset(map(_name, _calls(node)))
    return _Function(frozenset(changes - arguments), not changes.isdisjoint(arguments), calls)


def _calls(node: ast.AST) -> list[ast.Call]:
    """Return the calls of functions by their name in a statement."""
    every = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    return [call for call in every if isinstance(call.func, ast.Name)]


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _inner(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _inner(child)


def bound(alias: ast.alias) -> str:
    """Return the name that an import binds: of `import numpy.linalg` it is numpy."""
    return alias.asname or alias.name.partition(".")[0]


def _changed(node: ast.AST) -> Iterator[str]:
    """Yield the names of objects of which a statement changes a part: `TABLE[0] = 1`."""
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript | ast.Attribute) and not isinstance(part.ctx, ast.Load):
            yield from _roots([part])
        elif isinstance(part, ast.Call):
            yield from _roots(word.value for word in part.keywords if word.arg == "out")
            if _name(part) in _FILLS:
                yield from _roots(part.args[:1])
            elif _name(part) in _CHANGES:
                yield from _roots([part.func])


def _roots(values: Iterable[ast.expr]) -> Iterator[str]:
    """Yield the names that parts of objects begin with: `table` of `table.rows[0]`."""
    for value in values:
        root = value
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name):
            yield root.id


def _only(node: ast.stmt, needed: set[str]) -> ast.stmt:
    """Return an import without the names that are not needed; any other statement as it is."""
    if not isinstance(node, ast.Import | ast.ImportFrom) or _is_for_the_compiler(node):
        return node
    names = [alias for alias in node.names if bound(alias) in needed]
    if isinstance(node, ast.Import):
        return ast.copy_location(ast.Import(names), node)
    return ast.copy_location(ast.ImportFrom(node.module, names, node.level), node)


# ---- the text that is left --------------------------------------------------------------------


def written(source: str, chosen: list[ast.stmt]) -> str:
    """Return a text of as many lines, with the chosen statements where they were."""
    before = source.encode().split(b"\n")
    after = [b""] * len(before)
    for node in chosen:
        first, start = _start(node, before)
        last, end = (node.end_lineno or 1) - 1, node.end_col_offset or 0
        lines = before[first : last + 1]
        lines[-1] = lines[-1][:end]
        if isinstance(node, ast.Import | ast.ImportFrom):  # maybe fewer names than there were
            lines = [lines[0][:start] + ast.unparse(node).encode()]
        after[first] = _after_others(after[first], lines[0], start)
        after[first + 1 : first + len(lines)] = lines[1:]
    return b"\n".join(after).decode()


def _start(node: ast.stmt, lines: list[bytes]) -> tuple[int, int]:
    """Return the line, from 0, and the byte in it where a statement begins: at its first `@`."""
    decorators = getattr(node, "decorator_list", [])
    if not decorators:
        return node.lineno - 1, node.col_offset
    line = decorators[0].lineno - 1
    while not lines[line].lstrip().startswith(b"@"):
        line -= 1
    return line, 0


def _after_others(written: bytes, line: bytes, start: int) -> bytes:
    """Return a line with the statement that begins at byte `start` behind those written before."""
    if written:
        return written + b"; " + line[start:]
    if not line[:start].strip():
        return line  # a form feed may stand before it
    return line[start:]
