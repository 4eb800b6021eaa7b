"""Which accesses a row of threads makes, as far as it is known before its loop runs."""

from __future__ import annotations

import ast

from numba.core import types

from gpukit.compiler import checker_state, tree
from gpukit.compiler.analysis import arrays
from gpukit.compiler.analysis.affine import Form
from gpukit.compiler.emit.kernel import Kernel
from gpukit.compiler.lowering import access, region_tree

# An access of every thread of a row: its node, what it does, its indices.
RowAccess = tuple[ast.Subscript, int, list[Form]]
_PLAIN = (ast.Assign, ast.AugAssign, ast.Expr)


def affine(
    kernel: Kernel, thread_loop: region_tree.ThreadLoop
) -> dict[str, tuple[str, list[Form]]]:
    """Return the accesses whose range over the row is known before the loop: array and indices."""
    found: dict[str, tuple[str, list[Form]]] = {}
    # Not of arrays that each thread has its own of: their shapes may differ.
    varying = (
        tree.writes(thread_loop.body) | kernel.rewriter.thread_arrays | kernel.schedule.live_across
    )
    for node in (n for s in thread_loop.body for n in ast.walk(s)):
        if not isinstance(node, ast.Subscript) or not arrays.is_whole(kernel.unit, node):
            continue
        name = node.value.id  # type: ignore[attr-defined]
        if name in varying or name in thread_loop.forms.rematerialised:
            continue
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        forms = [thread_loop.forms.of(p) for p in parts]
        if all(f is not None for f in forms):
            found[ast.unparse(node)] = (name, forms)  # type: ignore[assignment]
    return found


def of_row(
    kernel: Kernel, thread_loop: region_tree.ThreadLoop, known: dict[str, tuple[str, list[Form]]]
) -> list[RowAccess] | None:
    """Return the accesses of a thread loop in order, if each happens once in every thread of a row.

    `known` are its affine ones.
    """
    found: list[RowAccess] = []
    for s in thread_loop.body:
        if not isinstance(s, _PLAIN) or _hides_accesses(kernel, s):
            if any(touches(kernel, n) for n in ast.walk(s)):
                return None
            continue
        for node, kind in _in_order(s):
            if not touches(kernel, node):
                continue
            text = ast.unparse(node)
            if not isinstance(node, ast.Subscript) or text not in known:
                return None
            found.append((node, kind, known[text][1]))
    return found or None


def of_loop(kernel: Kernel, row: region_tree.RowFor, local: set[str]) -> list[RowAccess]:
    """Return the reads of a loop in step if others see nothing of what it writes, else nothing.

    `local` are arrays of which each thread has its own: no other thread can be in its way.
    """
    found: list[RowAccess] = []
    written = {
        n for inner in region_tree.thread_loops_of(row.body) for n in tree.writes(inner.body)
    }
    for inner in row.body:
        if not isinstance(inner, region_tree.ThreadLoop) or inner.mask is not None:
            return []
        accesses = of_row(kernel, inner, affine(kernel, inner))
        for node, kind, forms in accesses or []:
            if node.value.id in local:  # type: ignore[attr-defined]
                continue
            rests = [f.rest for f in forms]
            moved = any(tree.reads(r) & written for r in rests)
            if (
                kind != checker_state.LOAD
                or moved
                or not all(_linear(r, row.target) for r in rests)
            ):
                return []
            found.append((node, kind, forms))
        nodes = (n for s in inner.body for n in ast.walk(s))
        if accesses is None and any(touches(kernel, n) for n in nodes):
            return []
    return found


def _hides_accesses(kernel: Kernel, s: ast.stmt) -> bool:
    """Tell whether an access stands where it may not be evaluated."""
    hidden = (part for node in ast.walk(s) for part in _hidden(kernel, node))
    return any(touches(kernel, inner) for part in hidden for inner in ast.walk(part))


def _hidden(kernel: Kernel, node: ast.AST) -> list[ast.AST]:
    """Return the parts of a node that may not be evaluated when it is, or are recorded apart."""
    fields = isinstance(node, (ast.Attribute, ast.Subscript))
    if fields and kernel.rewriter.record_field(node) is not None:
        return [node]  # recorded field by field
    if isinstance(node, ast.Lambda) or hasattr(node, "generators"):
        return [node]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return list(node.values[1:])
    return list(node.comparators[1:]) if isinstance(node, ast.Compare) else []


def touches(kernel: Kernel, node: ast.AST) -> bool:
    """Tell whether a node itself reads or writes an array, as far as its form tells."""
    if isinstance(node, ast.Call):
        name = tree.called(node)
        if name is not None:
            return name.startswith("atomic.")
        named = isinstance(node.func, ast.Name) and node.func.id in kernel.unit.devices
        return named and any(_is_array(kernel, a) for a in node.args)
    if not isinstance(node, ast.Subscript):
        return False
    base = node.value
    if isinstance(base, ast.Name):
        if base.id in kernel.rewriter.thread_arrays:
            return False
        kind = kernel.unit.types.get(base.id)
        if kind is not None and not hasattr(kind, "layout"):
            return isinstance(kind, types.Record)
        return True
    return not access._is_shape(base)


def _is_array(kernel: Kernel, node: ast.expr) -> bool:
    return any(
        hasattr(kernel.unit.types.get(n.id), "layout")
        for n in ast.walk(node)
        if isinstance(n, ast.Name)
    )


def rounds_of(over: ast.expr) -> tuple[ast.expr, ast.expr | None]:
    """Return the start of a range with step 1, and how often it goes round."""
    arguments = over.args if isinstance(over, ast.Call) else []
    if len(arguments) == 1:
        return tree.const(0), arguments[0]
    if len(arguments) == 2:
        return arguments[0], tree.expr("b - a", a=arguments[0], b=arguments[1])
    return tree.const(0), None


def _linear(node: ast.expr, name: str) -> bool:
    """Tell whether an expression grows by the same amount with each step of a variable.

    >>> [_linear(tree.expr(e), "k") for e in ("k", "4 * k + i", "n - k", "k * k", "k % 2")]
    [True, True, True, False, False]
    """
    if name not in tree.reads(node):
        return True
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        return _linear(node.left, name) and _linear(node.right, name)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = (node.left, node.right)
        return sum(name in tree.reads(s) for s in sides) == 1 and all(
            _linear(s, name) for s in sides
        )
    return False


def _in_order(s: ast.stmt) -> list[tuple[ast.AST, int]]:
    """Return the nodes of a statement with the kind of access that they would be, reads first."""
    value = [(n, checker_state.LOAD) for n in ast.walk(s.value)]  # type: ignore[attr-defined]
    if isinstance(s, ast.Expr):
        return value
    targets = s.targets if isinstance(s, ast.Assign) else [s.target]  # type: ignore[attr-defined]
    inner = [(n, checker_state.LOAD) for t in targets for n in _below(t)]
    stores = [(t, checker_state.STORE) for t in targets for t in _parts(t)]
    if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Subscript):
        return [*inner, (s.target, checker_state.LOAD), *value, *stores]
    return [*value, *inner, *stores]


def _parts(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, ast.Tuple) else [target]


def _below(target: ast.expr) -> list[ast.AST]:
    """Return what an assignment reads to find its target: the index and what it is made of."""
    parts = _parts(target)
    return [
        n for t in parts if isinstance(t, ast.Subscript)
        for inner in (t.slice, t.value) for n in ast.walk(inner)
    ]  # fmt: skip
