"""What a compiler does with the lines of a kernel: which loops it unrolls, what divisions become.

The counters say how often a line runs; how many instructions it becomes is read from its source.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpukit.checked.profile import source
from gpukit.checked.profile.source import Place

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile


@dataclass
class Lines:
    """Lines: the `headers` of loops, `unrolled` ones, and the divisions of each.

    A line that uses a local array is unrolled, because the array lies in registers; so is the
    header of a loop whose body has no other lines. Divisions by constants are not counted.
    """

    headers: set[Place] = field(default_factory=set)
    unrolled: set[Place] = field(default_factory=set)
    divisions: dict[Place, int] = field(default_factory=dict)


def read(profile: Profile) -> Lines:
    """Return what the source of a kernel and of what it calls says about its lines."""
    counts = {place: c.values for place, c in profile.lines.items()}
    found = Lines(unrolled={at for at, values in counts.items() if values.get("local_requests")})
    constants = _constants(profile)
    for file, tree in source.parsed(profile):
        for loop in _loops(tree):  # inner loops before outer ones
            numbers = range(loop.body[0].lineno, (loop.end_lineno or loop.lineno) + 1)
            header, body = Place(file, loop.lineno), {Place(file, n) for n in numbers}
            found.headers.add(header)
            if {at for at in body if counts.get(at, {}).get("warp_steps")} <= found.unrolled:
                found.unrolled.add(header)
        for line in _divisions(tree, constants):
            at = Place(file, line)
            found.divisions[at] = found.divisions.get(at, 0) + 1
    return found


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
    local = set(function.__code__.co_varnames)
    known = {**function.__globals__, **captured(function)}
    return {name: value for name, value in known.items() if name not in local}


def captured(function: Any) -> dict[str, Any]:
    """Return the values that a function takes from the functions around it, by name.

    >>> x, y = 1, 2
    >>> captured(lambda: x), captured((lambda n: lambda: n)(3))
    ({}, {'n': 3})
    """
    found = {}
    free = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    for name, cell in free:
        with contextlib.suppress(ValueError):  # it has no value yet
            found[name] = cell.cell_contents
    return found
