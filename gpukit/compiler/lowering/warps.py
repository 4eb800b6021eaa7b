"""Lower shuffles, votes and matches to reads of the values that the other lanes published."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from gpukit.compiler import checker_state, facts, refuse, tree

if TYPE_CHECKING:
    from gpukit.compiler.lowering.rewrite import Rewriter

MODES = {"shfl_sync": 0, "shfl_up_sync": 1, "shfl_down_sync": 2, "shfl_xor_sync": 3}
_CLAMPS = {"shfl_sync": 31, "shfl_up_sync": 0, "shfl_down_sync": 31, "shfl_xor_sync": 31}


def lower(rewriter: Rewriter, name: str, node: ast.Call) -> ast.expr:
    """Return the expression for `cuda.warp.<name>(published, active, ...)`."""
    if name == "activemask":
        active = node.args[0]
        full = tree.const(0xFFFFFFFF)
        return _cast(rewriter, "uint32", _helper(rewriter, "members", active, full))
    if name == "check_mask":
        return _check(rewriter, node, node.args[1])
    if name == "check_source":
        return _check_source(rewriter, node)
    published, active, *others = node.args
    if name in MODES:
        _mask, offset = others
        mode: ast.expr = tree.const(MODES[name])
        clamp: ast.expr = tree.const(_CLAMPS[name])
        source = _helper(rewriter, "source_lane", None, mode, offset, clamp)
        return tree.call(rewriter.helper("warps", "taken"), published, tree.name("thread"), source)
    if name == "shfl_sync_intrinsic":
        _mask, mode, offset, clamp = others
        source = _helper(rewriter, "source_lane", None, mode, offset, clamp)
        taken = rewriter.helper("warps", "taken_and_valid")
        return tree.call(taken, published, tree.name("thread"), source)
    return _vote(rewriter, name, published, active, others)


def _check_source(rewriter: Rewriter, node: ast.Call) -> ast.expr:
    """Return the call that checks from which lane a shuffle reads (instrumented kernels only)."""
    _active, mask, named, *others = node.args
    name: str = named.value  # type: ignore[attr-defined]
    if name in MODES:
        others = [tree.const(MODES[name]), others[0], tree.const(_CLAMPS[name])]
    parts = [tree.name("thread"), tree.name("first_thread"), *others]
    source = tree.call(rewriter.helper("warps", "wanted"), *parts)
    from_ = tree.expr("s - first_thread if s >= 0 else -1", s=source)
    return _check(rewriter, node, mask, "check_source", from_)


def _check(
    rewriter: Rewriter,
    node: ast.Call,
    mask: ast.expr,
    name: str = "check_mask",
    source: ast.expr | None = None,
) -> ast.expr:
    """Return the call that checks the mask of a warp operation (instrumented kernels only)."""
    active = node.args[0]
    call = facts.of(node).checked or node
    location = (
        rewriter.location(call, "", refuse.written(call, rewriter.unit))
        >> checker_state.LOCATION_SHIFT
    )
    at = rewriter.helper("hooks", "mask_at")
    everyone = isinstance(active, ast.Constant)
    here = tree.const(0) if everyone else tree.call(at, active, tree.name("first_thread"))
    gone: ast.expr = tree.const(0) if source is None else source
    if rewriter.returned and source is None:
        gone = tree.call(at, tree.name(rewriter.returned), tree.name("first_thread"))
    number = tree.expr("thread - first_thread")
    parts = [tree.const(location), number, tree.name("threads"), here, gone, mask]
    hook = rewriter.helper("hooks", name)
    return tree.call(hook, tree.name("_context"), ast.Tuple(parts, ast.Load()))


def _vote(
    rewriter: Rewriter, name: str, published: ast.expr, active: ast.expr, others: list[ast.expr]
) -> ast.expr:
    mask = others[0] if others else tree.const(0xFFFFFFFF)
    if name.startswith("match"):
        same = _helper(rewriter, "same", active, mask, published=published)
        if name == "match_any_sync":
            return _cast(rewriter, "int32", same)
        every = _helper(rewriter, "members", active, mask)
        return tree.call(rewriter.helper("warps", "match_all"), same, every)
    ballot = _helper(rewriter, "ballot", active, mask, published=published)
    every = _helper(rewriter, "members", active, mask)
    if name == "ballot_sync":
        return _cast(rewriter, "int32", ballot)
    if name == "vote_sync_intrinsic":
        return tree.call(rewriter.helper("warps", "vote"), others[1], ballot, every)
    forms = {"all_sync": "b == e", "any_sync": "b != 0", "eq_sync": "b == 0 or b == e"}
    return tree.expr(forms[name], b=ballot, e=every)


def _helper(
    rewriter: Rewriter,
    name: str,
    active: ast.expr | None,
    *arguments: ast.expr,
    published: Any = None,
) -> ast.expr:
    suffix = ""
    parts: list[ast.expr] = [tree.name("thread"), tree.name("first_thread"), tree.name("threads")]
    if published is not None:
        parts.append(published)
    if active is not None:
        everyone = isinstance(active, ast.Constant)
        suffix = "_all" if everyone else ""
        parts += [] if everyone else [active]
    return tree.call(rewriter.helper("warps", name + suffix), *parts, *arguments)


def _cast(rewriter: Rewriter, kind: str, value: ast.expr) -> ast.expr:
    return rewriter._cast(kind, value)
