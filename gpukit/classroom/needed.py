"""Which top-level statements of a submission its entry needs, and the text that they leave.

A statement is needed if it binds the entry, binds a name that a needed statement uses, or changes
the object of such a name (`TABLE[0] = 1`). Everything else, such as a self-test below the kernel,
is left out, so it is not run.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from dataclasses import dataclass

# Methods of a list, a dictionary or an array that change it.
_CHANGES = {"append", "clear", "extend", "fill", "insert", "pop", "remove", "reverse", "setdefault"}
_CHANGES |= {"sort", "update"}


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement at the top level: the names that it binds or changes, and those that it uses."""

    node: ast.stmt
    binds: frozenset[str]
    uses: frozenset[str]


def statements(tree: ast.Module, entry: str) -> list[ast.stmt]:
    """Return the statements that bind `entry`, and what these need, in order."""
    every = [statement(node) for node in tree.body if not _is_for_a_script(node)]
    needed, chosen = {entry}, {s for s in every if _is_for_the_compiler(s.node)}
    while new := [s for s in every if s not in chosen and s.binds & {*needed, "*"}]:
        chosen.update(new)
        needed.update(name for one in new for name in one.uses)
    return [_only(s.node, needed) for s in every if s in chosen]


def _is_for_the_compiler(node: ast.stmt) -> bool:
    """Tell whether a statement is `from __future__ import annotations`, which binds no name."""
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_for_a_script(node: ast.stmt) -> bool:
    """Tell whether a statement is `if __name__ == "__main__":`."""
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
    )


def statement(node: ast.stmt) -> Statement:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return Statement(node, frozenset(map(bound, node.names)), frozenset())
    table = symtable.symtable(ast.unparse(node), "<submission>", "exec")
    binds, uses = set(_changed(node)), set[str]()
    for symbol in table.get_symbols():
        if symbol.is_assigned() or symbol.is_imported():
            binds.add(symbol.get_name())
        if symbol.is_referenced():
            uses.add(symbol.get_name())
    for inner in _inner(table):
        uses.update(s.get_name() for s in inner.get_symbols() if s.is_global())
    return Statement(node, frozenset(binds), frozenset(uses))


def _inner(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _inner(child)


def bound(alias: ast.alias) -> str:
    """Return the name that an import binds: of `import numpy.linalg` it is numpy."""
    return alias.asname or alias.name.partition(".")[0]


def _changed(node: ast.stmt) -> Iterator[str]:
    """Yield the names of objects of which a statement changes a part: `TABLE[0] = 1`."""
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript | ast.Attribute) and not isinstance(part.ctx, ast.Load):
            yield from _root(part)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            if part.func.attr in _CHANGES:
                yield from _root(part.func)


def _root(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _only(node: ast.stmt, needed: set[str]) -> ast.stmt:
    """Return an import without the names that are not needed; any other statement as it is."""
    if not isinstance(node, ast.Import | ast.ImportFrom) or _is_for_the_compiler(node):
        return node
    names = [alias for alias in node.names if bound(alias) in {*needed, "*"}]
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
