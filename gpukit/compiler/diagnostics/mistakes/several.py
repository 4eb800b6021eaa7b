"""A number where a tuple is required, or a tuple for a number: indices, shapes, loops."""

from __future__ import annotations

import ast
import re

from gpukit.compiler import intrinsics, tree
from gpukit.compiler.diagnostics.mistakes.line import Advice, Line


def whole_index(line: Line) -> Advice | None:
    """`cuda.threadIdx` without an axis."""
    if not re.search(r"int32 x 3\)|with 3 indices", line.said):
        return None
    single = {id(n.value) for n in line.of_kind(ast.Attribute)}
    for node in line.of_kind(ast.Attribute, ast.Name):
        if id(node) not in single and isinstance(line.meaning(node), intrinsics.Dim3):
            name = ast.unparse(node)
            return Advice(f"{name} is (x, y, z), not a number.", f"name an axis: {name}.x")
    return None


def several(line: Line) -> Advice | None:
    """A tuple, such as `cuda.grid(2)` or `a.shape`, where a number is required."""
    if "UniTuple(int64 x" not in line.said:
        return None
    indexed = {id(n.value) for n in line.of_kind(ast.Subscript)}
    for node in line.of_kind(ast.Name, ast.Call, ast.Attribute):
        if id(node) in indexed and not isinstance(node, ast.Name):
            continue
        values = line.values(node.id) if isinstance(node, ast.Name) else [node]
        for value in values:
            advice = _tuple(line, ast.unparse(node), value)
            if advice is not None:
                return advice
    return None


def _tuple(line: Line, name: str, value: ast.expr) -> Advice | None:
    text = ast.unparse(value)
    if isinstance(value, ast.Attribute) and value.attr == "shape":
        is_it = "is" if name == text else f"is {text},"
        return Advice(f"{name} {is_it} a tuple with one size per axis.", f"name an axis: {text}[0]")
    called = intrinsics.name_of(line.meaning(value.func)) if isinstance(value, ast.Call) else None
    if called not in ("grid", "gridsize") or not isinstance(value, ast.Call) or not value.args:
        return None
    axes = {"2": "x, y", "3": "x, y, z"}.get(ast.unparse(value.args[0]))
    if axes is None:
        return None
    call = ast.unparse(value.func)
    is_it = "is" if name == text else f"is {text},"
    return Advice(
        f"{name} {is_it} the tuple ({axes}), not a number.",
        f"write {axes} = {text}, or {call}(1) for one number",
    )


def unpacked(line: Line) -> Advice | None:
    """A number, or a tuple of another length, that is unpacked."""
    said = re.search(r"failed to unpack|wrong tuple length|values to unpack", line.said)
    for node in line.of_kind(ast.Assign) if said else ():
        if isinstance(node.targets[0], ast.Tuple):
            names, value = len(node.targets[0].elts), ast.unparse(node.value)
            return Advice(
                f"{value} does not unpack into the {names} names before the =.",
                "use one name per value: cuda.grid(2) has two, a shape has one per axis",
            )
    return None


def no_sequence(line: Line) -> Advice | None:
    """A loop over a number: `for k in 10`."""
    if "Invalid use of getiter" not in line.said:
        return None
    owner = next((s for s in tree.statements(line.function.body) if _heads(s, line)), None)
    if not isinstance(owner, ast.For):
        return None
    text = ast.unparse(owner.iter)
    return Advice(f"A loop cannot iterate over {text}.", f"write range({text})")


def _heads(statement: ast.stmt, line: Line) -> bool:
    return any(head is node for head in tree.heads(statement) for node in line.nodes[:1])
