"""Mistakes in what a kernel computes and stores."""

from __future__ import annotations

import ast
import operator
import re

import numpy as np

from gpukit.compiler import intrinsics
from gpukit.compiler.diagnostics.mistakes.line import Advice, Line
from gpukit.compiler.frontend import captures


def global_array(line: Line) -> Advice | None:
    """A store into a captured array."""
    if "readonly array" not in line.said:
        return None
    for node in line.of_kind(ast.Name):
        value = line.meaning(node)
        if isinstance(value, np.ndarray) and captures.is_array(value):
            given = ", ".join([a.arg for a in line.function.args.args] + [node.id])
            return Advice(
                f"{node.id} is an array defined outside the kernel, which is a constant inside it.",
                f"pass it as an argument: def {line.function.name}({given})",
            )
    return None


def text(line: Line) -> Advice | None:
    """String formatting: "%d" % i, "{}".format(i), "i = " + str(i)."""
    for node in line.of_kind(ast.Attribute, ast.BinOp):
        joined = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.Add))
        parts = [node.left, node.right] if joined else []
        if isinstance(node, ast.Attribute) and node.attr == "format":
            parts = [node.value]
        if any(isinstance(p, ast.Constant) and isinstance(p.value, str) for p in parts):
            return NO_TEXT
    return None


NO_TEXT = Advice("A kernel cannot format text.", "print the parts: print('i =', i)")


def atomic(line: Line) -> Advice | None:
    """An atomic on a number, `cuda.atomic.add(out[0], 1)`: it takes an array and an index."""
    if not re.search(r"[gs]etitem\((u?int|float|complex|bool)", line.said):
        return None
    for node in line.of_kind(ast.Call):
        called = intrinsics.name_of(line.meaning(node.func)) or ""
        if not called.startswith("atomic.") or not node.args:
            continue
        given, name = node.args[0], ast.unparse(node.func)
        fix = "pass an array of one element: np.array([x])"
        if isinstance(given, ast.Subscript):
            fix = f"write {name}({ast.unparse(given.value)}, {ast.unparse(given.slice)}, ...)"
        return Advice(f"{name} takes an array and an index; {ast.unparse(given)} is a number.", fix)
    return None


def power(line: Line) -> Advice | None:
    """Bitwise operators by mistake: `x ^ 2` for a power, `&` for `and`."""
    said = re.search(r"<built-in function (xor|and_|or_)>", line.said)
    if said is None or not re.search(r"float|complex", line.said):
        return None
    if said[1] == "xor":
        return Advice("^ is exclusive or, for integers.", "write ** for a power: x ** 2")
    sign, word = ("&", "and") if said[1] == "and_" else ("|", "or")
    return Advice(
        f"{sign} works on the bits of integers, and has higher precedence than a comparison.",
        f"write `{word}`, or put each comparison in parentheses",
    )


def attribute(line: Line) -> Advice | None:
    """An unknown attribute: `out.append(x)`, `a.length`, `a[i].astype(np.float32)`."""
    said = re.search(r"Unknown attribute '(\w+)' of type (array|\w+)", line.said)
    for node in line.of_kind(ast.Attribute) if said else ():
        if not said or node.attr != said[1]:
            continue
        owner = ast.unparse(node.value)
        fixes = {
            "append": f"an array cannot grow; write {owner}[i] = ... with an index of this thread",
            "astype": f"write np.float32({owner})",
            "length": f"write {owner}.size",
            "len": f"write len({owner})",
        }
        known = "an array has shape, size, ndim and dtype"
        what = "an array" if said[2] == "array" else f"of type {said[2]}"
        return Advice(
            f"{owner} is {what} and has no {said[1]} in a kernel.",
            fixes.get(said[1], known if said[2] == "array" else "a number has no such attribute"),
        )
    return None


def whole_array(line: Line) -> Advice | None:
    """A function or operator for numbers that is applied to a whole array."""
    said = re.search(r"found for signature: >>> (\w+)\((.*?)\) There are", line.said)
    if said is None or "raised a specific error" in line.said:
        return None
    if not re.search(r"\barray\([^\[]", said[2]) or said[1] in _NOT_NUMBERS:
        return None
    if said[1] not in _OPERATORS:
        name = next((ast.unparse(n.func) for n in line.of_kind(ast.Call)), said[1])
        return Advice(
            f"{name} takes numbers, but gets a whole array.", "give the array an index: a[i]"
        )
    return Advice(
        "This computes with a whole array; a thread computes with single elements.",
        "give the array an index: a[i]",
    )


_NOT_NUMBERS = frozenset(["getitem", "setitem", "static_getitem", "static_setitem", "type"])
_OPERATORS = frozenset(n for n in dir(operator) if n[0] != "_")
