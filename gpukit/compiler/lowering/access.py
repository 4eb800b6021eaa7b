"""Rewrite `a[i]` as calls that check the index, or that rely on an earlier check.

Rewriters give `origin(node, array, what)` (where an error would be reported) and `helper`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gpukit.compiler import context as layout
from gpukit.compiler import refuse, tree
from gpukit.compiler.runtime import views


def is_element(rewrite: Any, node: ast.Subscript) -> bool:
    """Tell whether a subscript may be one element of an array, judged by its form."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for p in parts:
        if isinstance(p, (ast.Slice, ast.Starred)):
            return False
        if isinstance(p, ast.Constant) and not _is_int(p.value):
            return False
    kind = rewrite.unit.types.get(node.value.id) if isinstance(node.value, ast.Name) else None
    if kind is None:
        # Once types are known, `fields` has removed fields of such names.
        return not (rewrite.unit.types and _is_shape(node.value))
    return hasattr(kind, "layout") and len(parts) <= kind.ndim


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_shape(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("shape", "strides")


def check_beside_slices(rewrite: Any, node: ast.Subscript, what: str) -> None:
    """Add checks to the integer indices of `a[i, :]`, `a[..., i]` and `a[None, i]`, in place."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    beside = (_is_slice(p) or _is_constant(p, ...) or _is_constant(p, None) for p in parts)
    if len(parts) > layout.MAX_NDIM or not any(beside):
        return
    axes = [p for p in parts if not _is_constant(p, None)]  # np.newaxis consumes no axis
    middle = next((k for k, p in enumerate(axes) if _is_constant(p, ...)), len(axes))
    for k, part in enumerate(axes):
        if _is_slice(part) or k == middle:
            continue
        at = k if k < middle else k - len(axes)  # after an ellipsis they count from the end
        origin = rewrite.origin(node, ast.unparse(node.value), what)
        check = rewrite.bind(f"axis_{at}".replace("-", "last_"), views.AXIS_CHECKED[at])
        call = tree.call(check, origin, tree.clone(node.value), part)
        parts[parts.index(part)] = tree.at(call, node)
    if not isinstance(node.slice, ast.Tuple):
        node.slice = parts[0]


def _is_slice(part: ast.expr) -> bool:
    return isinstance(part, (ast.Slice, ast.Starred))


def _is_constant(part: ast.expr, value: object) -> bool:
    return isinstance(part, ast.Constant) and part.value is value


def _leave_out_ellipsis(rewrite: Any, node: ast.Subscript) -> None:
    """Turn `a[..., i]` of an array of one axis into `a[i]`, in place: it is an element."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    indices = [p for p in parts if not _is_constant(p, ...)]
    kind = _array_type(rewrite, node)
    if kind is None or any(_is_slice(p) or _is_constant(p, None) for p in indices):
        return
    if len(indices) < len(parts) and len(indices) == kind.ndim > 0:
        node.slice = indices[0] if len(indices) == 1 else ast.Tuple(indices, ast.Load())


def _array_type(rewrite: Any, node: ast.Subscript) -> Any:
    """Return the type of the array in a subscript, None if it is not known to be an array."""
    kind = rewrite.expressions.type_of(node.value)
    return kind if hasattr(kind, "layout") else None


def checked_load(rewrite: Any, node: ast.Subscript, what: str) -> ast.expr:
    """Return the expression that reads an element with a check."""
    _leave_out_ellipsis(rewrite, node)
    check_beside_slices(rewrite, node, what)
    if not isinstance(node.ctx, ast.Load) or not is_element(rewrite, node):
        return node
    origin = rewrite.origin(node, ast.unparse(node.value), what)
    call = tree.call(rewrite.helper("generic", "item"), origin, node.value, node.slice)
    return tree.at(call, node)  # type: ignore[no-any-return]


def checked_store(rewrite: Any, target: ast.Subscript, value: ast.expr, what: str) -> ast.stmt:
    """Return the statement that writes an element with a check."""
    origin = rewrite.origin(target, ast.unparse(target.value), what)
    call = tree.call(
        rewrite.helper("generic", "set_item"), origin, target.value, target.slice, value
    )
    return tree.at(ast.Expr(call), target)  # type: ignore[no-any-return]


def rewrite_assign(rewrite: Any, node: ast.Assign) -> Any:
    """Rewrite `a[i] = v`, also as one of several targets or in a tuple."""
    named = all(isinstance(t, ast.Name) for t in node.targets)
    value = rewrite.visit(tree.clone(node.value))
    if not named:
        value = rewrite.whole_read(node.value, value)
    for inner in (n for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Subscript)):
        _leave_out_ellipsis(rewrite, inner)
    simple = [t for t in node.targets if not _holds_element(rewrite, t)]
    if len(simple) == len(node.targets):
        node.value = value
        recorded = []
        for k, target in enumerate(node.targets):
            what, is_part = refuse.written(target, rewrite.unit), _is_recorded_part(rewrite, target)
            node.targets[k] = rewrite.visit(target)
            recorded += _record_part(rewrite, node.targets[k], what) if is_part else []
        return _after(rewrite, recorded, node)
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
    what, key = refuse.written(target, rewrite.unit), tree.key(target)
    if rewrite.instrumented and rewrite.record_field(target) is not None:
        return tree.at(ast.Assign([rewrite.visit(target)], value), target)
    if not is_element(rewrite, target):
        is_part = _is_recorded_part(rewrite, target)
        target.value = rewrite.visit(target.value)
        target.slice = rewrite.visit(target.slice)
        check_beside_slices(rewrite, target, what)
        made = tree.at(ast.Assign([target], value), target)
        return _after(rewrite, _record_part(rewrite, target, what) if is_part else [], made)
    target.value = rewrite.visit(target.value)
    target.slice = rewrite.visit(target.slice)
    return (
        rewrite.element_store(target, value, what, key)
        if hasattr(rewrite, "element_store")
        else checked_store(rewrite, target, value, what)
    )


def _is_recorded_part(rewrite: Any, target: ast.expr) -> bool:
    """Tell whether a store to a slice of an array, `a[i, :] = v`, is recorded by the checker."""
    if not rewrite.instrumented or not isinstance(target, ast.Subscript):
        return False
    return _array_type(rewrite, target) is not None and rewrite.expressions.is_view(target)


def _record_part(rewrite: Any, target: Any, what: str) -> list[ast.stmt]:
    """Return the statements that record `a[i, :] = v` before the store.

    They evaluate the array and the indices once; `target` is changed to use these values.
    """
    new = _worked_out(rewrite, target, _calls)
    if _calls(target.value):
        name = rewrite.unit.fresh("part")
        new.insert(0, tree.assign(name, target.value, target))
        target.value = tree.name(name)
    part = tree.clone(target)
    part.ctx = ast.Load()
    origin = rewrite.origin(target, ast.unparse(target.value), what)
    return [*new, *_record(rewrite, origin, part, target)]


def _after(rewrite: Any, recorded: list[ast.stmt], node: ast.Assign) -> list[ast.stmt]:
    """Return the statements that evaluate the value, record the store, then do it."""
    if not recorded or not _calls(node.value):
        return [*recorded, node]
    held = rewrite.unit.fresh("value")
    first = tree.assign(held, node.value, node)
    node.value = tree.name(held)
    return [first, *recorded, node]


def _calls(e: ast.expr) -> bool:
    """Tell whether an expression contains a call, which must run once and in order."""
    return any(isinstance(n, ast.Call) for n in ast.walk(e))


def _worked_out(
    rewrite: Any, target: ast.Subscript, wanted: Callable[[ast.expr], bool]
) -> list[ast.Assign]:
    """Name the wanted indices and slice bounds, in place; return the assignments."""
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    new: list[ast.Assign] = []

    def named(e: ast.expr | None) -> ast.expr | None:
        if e is None or not wanted(e):
            return e
        name = rewrite.unit.fresh("index")
        new.append(tree.assign(name, e, target))
        return tree.name(name)

    for k, part in enumerate(parts):
        if isinstance(part, ast.Slice):
            bounds = (named(part.lower), named(part.upper), named(part.step))
            part.lower, part.upper, part.step = bounds
        else:
            parts[k] = named(part) or part
    if not isinstance(target.slice, ast.Tuple):
        target.slice = parts[0]
    return new


def rewrite_aug_assign(rewrite: Any, node: ast.AugAssign) -> Any:
    """Rewrite `a[i] += v` as a read and a write of the same element; a slice changes in place."""
    if not isinstance(node.target, ast.Subscript):
        if isinstance(node.op, (ast.LShift, ast.RShift, ast.Pow)):  # have their own rewrites
            made = ast.Assign([node.target], tree.updated(node))
            return rewrite.visit(tree.at(made, node))
        node.value = rewrite.divisor(node, rewrite.visit(node.value))
        if isinstance(node.target, ast.Attribute):
            old = tree.clone(node.target)
            old.ctx = ast.Load()
            node.target = rewrite.visit(node.target)
            value = ast.BinOp(rewrite.visit(old), node.op, node.value)
            return tree.at(ast.Assign([node.target], value), node)
        return node
    first = _worked_out(rewrite, node.target, lambda e: _once(rewrite, e))
    for s in first:
        s.value = rewrite.visit(s.value)
    _leave_out_ellipsis(rewrite, node.target)
    if _is_part(rewrite, node.target):
        return [*first, *_in_place(rewrite, node, node.target)]
    assign = ast.Assign([node.target], tree.updated(node))
    made = rewrite_assign(rewrite, tree.at(assign, node))
    return [*first, *made] if isinstance(made, list) else [*first, made]


def _is_part(rewrite: Any, target: ast.Subscript) -> bool:
    """Tell whether a subscript of a known array has a slice, or fewer indices than axes."""
    kind = _array_type(rewrite, target)
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    return kind is not None and (any(map(_is_slice, parts)) or len(parts) < kind.ndim)


def _in_place(rewrite: Any, node: ast.AugAssign, target: ast.Subscript) -> list[ast.stmt]:
    """Return the statements that change all elements of a slice without a new array."""
    what = refuse.written(target, rewrite.unit)
    part = rewrite.unit.fresh("part")
    target.ctx = ast.Load()  # take a view, whose indices are checked as those of a load
    view = rewrite.visit(tree.clone(target))
    made = [tree.assign(part, rewrite.whole_read(target, view), node)]
    value = rewrite.whole_read(node.value, rewrite.visit(tree.clone(node.value)))
    change = tree.at(ast.AugAssign(tree.store(part), node.op, value), node)
    if not rewrite.instrumented:
        return [*made, change]
    target.ctx = ast.Store()
    origin = rewrite.origin(target, ast.unparse(target.value), what)
    return [*made, *_record(rewrite, origin, tree.name(part), node), change]


def _record(rewrite: Any, origin: ast.expr, view: ast.expr, node: ast.AST) -> list[ast.stmt]:
    """Return the statement that records a store to a slice before it is done."""
    call = tree.call(rewrite.helper("views", "record_part"), origin, view)
    return [tree.at(ast.Expr(call), node)]


def _once(rewrite: Any, e: ast.expr) -> bool:
    """Tell whether an index must be evaluated only once: it has effects or recorded reads."""
    reads = any(isinstance(n, ast.Subscript) for n in ast.walk(e))
    return _acts(rewrite, e) or (reads and bool(rewrite.instrumented))


def _acts(rewrite: Any, e: ast.expr) -> bool:
    """Tell whether an expression may have side effects, so that it must run only once."""
    for node in ast.walk(e):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in rewrite.unit.devices or node.func.id in rewrite.itself:
                return True
        elif (tree.called(node) or "").startswith("atomic."):
            return True
    return False
