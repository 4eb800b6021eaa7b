"""Turn `a[i]` into calls that check the index, or that know it was checked before.

Rewriters give `place(node, array, what)` (where an error would be reported) and `helper`.
"""

from __future__ import annotations

import ast
from typing import Any

from gpukit.compiler import context as layout
from gpukit.compiler import tree
from gpukit.compiler.runtime import memory


def is_element(rewrite: Any, node: ast.Subscript) -> bool:
    """Tell whether a subscript may be one element of an array, as far as its form tells."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for p in parts:
        if isinstance(p, (ast.Slice, ast.Starred)):
            return False
        if isinstance(p, ast.Constant) and not _is_int(p.value):
            return False
    kind = rewrite.unit.types.get(node.value.id) if isinstance(node.value, ast.Name) else None
    if kind is None:
        return not _is_shape(node.value)
    return hasattr(kind, "layout") and len(parts) <= kind.ndim


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_shape(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("shape", "strides")


def array_name(node: ast.expr) -> str:
    """Return how the person wrote the array."""
    return ast.unparse(node)


def check_beside_slices(rewrite: Any, node: ast.Subscript, what: str) -> None:
    """Let the single indices of `a[i, :]` be checked, in place."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not any(isinstance(p, ast.Slice) for p in parts) or len(parts) > layout.MAX_NDIM:
        return
    if any(isinstance(p, ast.Constant) and p.value is ... for p in parts):
        return  # which axis an index stands for is Numba's to say
    for k, part in enumerate(parts):
        if not isinstance(part, (ast.Slice, ast.Starred)):
            place = rewrite.place(node, array_name(node.value), what)
            check = rewrite.bind(f"axis_{k}", memory.AXIS_CHECKED[k])
            parts[k] = tree.at(tree.call(check, place, tree.clone(node.value), part), node)


def checked_load(rewrite: Any, node: ast.Subscript, what: str) -> ast.expr:
    """Return the expression that reads an element with a check."""
    check_beside_slices(rewrite, node, what)
    if not isinstance(node.ctx, ast.Load) or not is_element(rewrite, node):
        return node
    place = rewrite.place(node, array_name(node.value), what)
    call = tree.call(rewrite.helper("generic", "item"), place, node.value, node.slice)
    return tree.at(call, node)  # type: ignore[no-any-return]


def checked_store(rewrite: Any, target: ast.Subscript, value: ast.expr, what: str) -> ast.stmt:
    """Return the statement that writes an element with a check."""
    place = rewrite.place(target, array_name(target.value), what)
    call = tree.call(
        rewrite.helper("generic", "set_item"), place, target.value, target.slice, value
    )
    return tree.at(ast.Expr(call), target)  # type: ignore[no-any-return]


def rewrite_assign(rewrite: Any, node: ast.Assign) -> Any:
    """Rewrite `a[i] = v`, also as one of several targets or in a tuple."""
    value = rewrite.visit(node.value)
    simple = [t for t in node.targets if not _holds_element(rewrite, t)]
    if len(simple) == len(node.targets):
        node.value = value
        node.targets = [rewrite.visit(t) for t in node.targets]
        return node
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        return _store(rewrite, node.targets[0], value)
    new: list[ast.stmt] = []
    held = rewrite.unit.fresh("value")
    new.append(tree.assign(held, value, node))
    for target in node.targets:
        new += _spread(rewrite, target, tree.name(held))
    return new


def _holds_element(rewrite: Any, target: ast.expr) -> bool:
    return any(
        isinstance(n, ast.Subscript) and is_element(rewrite, n) for n in ast.walk(target)
    ) or (
        isinstance(target, (ast.Tuple, ast.Attribute))
        and any(isinstance(n, ast.Subscript) for n in ast.walk(target))
    )


def _spread(rewrite: Any, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
    if isinstance(target, ast.Tuple):
        parts = [ast.Subscript(value, tree.const(k), ast.Load()) for k in range(len(target.elts))]
        pairs = zip(target.elts, parts, strict=True)
        return [s for t, v in pairs for s in _spread(rewrite, t, tree.at(v, target))]
    if isinstance(target, ast.Subscript):
        made = _store(rewrite, target, value)
        return made if isinstance(made, list) else [made]
    return [tree.at(ast.Assign([rewrite.visit(target)], value), target)]


def _store(rewrite: Any, target: ast.Subscript, value: ast.expr) -> Any:
    what = ast.unparse(target)
    if getattr(rewrite, "watched", "") and rewrite.record_field(target) is not None:
        return tree.at(ast.Assign([rewrite.visit(target)], value), target)
    if not is_element(rewrite, target):
        target.value = rewrite.visit(target.value)
        target.slice = rewrite.visit(target.slice)
        check_beside_slices(rewrite, target, what)
        return tree.at(ast.Assign([target], value), target)
    target.value = rewrite.visit(target.value)
    target.slice = rewrite.visit(target.slice)
    return (
        rewrite.element_store(target, value, what)
        if hasattr(rewrite, "element_store")
        else checked_store(rewrite, target, value, what)
    )


def rewrite_aug_assign(rewrite: Any, node: ast.AugAssign) -> Any:
    """Rewrite `a[i] += v` as a read and a write of the same element."""
    if not isinstance(node.target, ast.Subscript):
        node.value = rewrite.visit(node.value)
        if isinstance(node.target, ast.Attribute):
            old = tree.clone(node.target)
            old.ctx = ast.Load()
            node.target = rewrite.visit(node.target)
            value = ast.BinOp(rewrite.visit(old), node.op, node.value)
            return tree.at(ast.Assign([node.target], value), node)
        return node
    old = tree.clone(node.target)
    old.ctx = ast.Load()
    assign = ast.Assign([node.target], ast.BinOp(old, node.op, node.value))
    return rewrite_assign(rewrite, tree.at(assign, node))
