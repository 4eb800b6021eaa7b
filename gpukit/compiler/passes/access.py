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
    """Let the single indices of `a[i, :]` and `a[..., i]` be checked, in place."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(parts) > layout.MAX_NDIM or not any(_is_slice(p) or _is_constant(p, ...) for p in parts):
        return
    axes = [p for p in parts if not _is_constant(p, None)]  # np.newaxis takes no axis
    middle = next((k for k, p in enumerate(axes) if _is_constant(p, ...)), len(axes))
    for k, part in enumerate(axes):
        if _is_slice(part) or k == middle:
            continue
        at = k if k < middle else k - len(axes)  # behind an ellipsis they count from the end
        place = rewrite.place(node, array_name(node.value), what)
        check = rewrite.bind(f"axis_{at}".replace("-", "last_"), memory.AXIS_CHECKED[at])
        call = tree.call(check, place, tree.clone(node.value), part)
        parts[parts.index(part)] = tree.at(call, node)
    if not isinstance(node.slice, ast.Tuple):
        node.slice = parts[0]


def _is_slice(part: ast.expr) -> bool:
    return isinstance(part, (ast.Slice, ast.Starred))


def _is_constant(part: ast.expr, value: object) -> bool:
    return isinstance(part, ast.Constant) and part.value is value


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
        whats = [ast.unparse(t) for t in node.targets]
        node.targets = [rewrite.visit(t) for t in node.targets]
        pairs = zip(node.targets, whats, strict=True)
        return [*(s for t, what in pairs for s in _tell_part(rewrite, t, what)), node]
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
        made = tree.at(ast.Assign([target], value), target)
        return [*_tell_part(rewrite, target, what), made]
    target.value = rewrite.visit(target.value)
    target.slice = rewrite.visit(target.slice)
    return (
        rewrite.element_store(target, value, what)
        if hasattr(rewrite, "element_store")
        else checked_store(rewrite, target, value, what)
    )


def _tell_part(rewrite: Any, target: ast.expr, what: str) -> list[ast.stmt]:
    """Return the statement that tells the watch of `a[i, :] = v`."""
    if not getattr(rewrite, "watched", "") or not isinstance(target, ast.Subscript):
        return []
    kind = rewrite.unit.types.get(target.value.id) if isinstance(target.value, ast.Name) else None
    if not hasattr(kind, "layout"):
        return []
    part = tree.clone(target)
    part.ctx = ast.Load()
    place = rewrite.place(target, array_name(target.value), what)
    call = tree.call(rewrite.helper("memory", "tell_part"), place, part)
    return [tree.at(ast.Expr(call), target)]


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
