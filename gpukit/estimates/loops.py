"""What a compiler does with the lines of a kernel: which loops it unrolls, what divisions become.

The counters say how often a line runs; how many instructions it becomes is read from its source.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile


@dataclass
class Lines:
    """Line numbers: `headers` of loops with their bodies, `unrolled` ones, divisions by line.

    A line that uses a local array is unrolled, because the array lies in registers; so is the
    header of a loop whose body has no other lines. Divisions by constants are not counted.
    """

    headers: dict[int, range] = field(default_factory=dict)
    unrolled: set[int] = field(default_factory=set)
    divisions: dict[int, int] = field(default_factory=dict)


def read(profile: Profile) -> Lines:
    """Return what the source of a kernel and of what it calls says about its lines."""
    counts = {line: c.values for line, c in profile.lines.items()}
    found = Lines(unrolled={n for n, values in counts.items() if values.get("local_requests")})
    constants = _constants(profile)
    for listing in (profile.source, *(one.lines for one in profile.called)):
        tree = _parsed(listing)
        if tree is None:
            continue
        for loop in _loops(tree):  # inner loops before outer ones
            body = range(loop.body[0].lineno, (loop.end_lineno or loop.lineno) + 1)
            found.headers[loop.lineno] = body
            if {n for n in body if counts.get(n, {}).get("warp_steps")} <= found.unrolled:
                found.unrolled.add(loop.lineno)
        for line in _divisions(tree, constants):
            found.divisions[line] = found.divisions.get(line, 0) + 1
    return found


def _parsed(lines: Sequence[tuple[int, str]]) -> ast.Module | None:
    text = textwrap.dedent("\n".join(text for _, text in lines))
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    return ast.increment_lineno(tree, lines[0][0] - 1) if lines else None


def _loops(tree: ast.AST) -> Iterator[ast.For]:
    for node in ast.iter_child_nodes(tree):
        yield from _loops(node)
        if isinstance(node, ast.For):
            yield node


def _divisions(tree: ast.AST, constants: Mapping[str, Any]) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.FloorDiv)):
            if not _constant(node.right, constants):
                yield node.lineno
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Mod, ast.FloorDiv)):
            if not _constant(node.value, constants):
                yield node.lineno


def _constant(node: ast.expr, constants: Mapping[str, Any]) -> bool:
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    calls = any(isinstance(one, (ast.Call, ast.Attribute, ast.Subscript)) for one in ast.walk(node))
    return not calls and all(isinstance(constants.get(name), int) for name in names)


def _constants(profile: Profile) -> dict[str, Any]:
    """Return the values of names that a kernel takes from around it."""
    if profile.remembered is None:
        return {}
    function = profile.remembered.kernel.py_func
    free = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    local = set(function.__code__.co_varnames)
    inside = {name: cell.cell_contents for name, cell in free if _filled(cell)}
    return {k: v for k, v in {**function.__globals__, **inside}.items() if k not in local}


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
