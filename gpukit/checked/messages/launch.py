"""Words for launches, for answers that depend on chance, and for types of unintended precision."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gpukit.checked.messages.phrases import Facts, name_element, one_line, parsed, segment, some

Words = tuple[str, str]


def launch_refused(facts: Facts) -> Words:
    """A launch that a GPU refuses; `reason` may be a LaunchError's text, advice included."""
    smaller = "use smaller blocks and more of them"
    if facts.has("reason"):
        reason, _, advice = str(facts.get("reason")).strip().partition(". ")
        advice = one_line(advice) or smaller
        return f"a GPU refuses this launch: {one_line(reason)}", advice[:1].lower() + advice[1:]
    if facts.has("given", "limit"):
        what = facts.get("what", "threads per block")
        asked = f"the launch asks for {facts.get('given')} {what}"
        return f"{asked}, but a GPU allows at most {facts.get('limit')}", smaller
    return "a GPU refuses this launch", "check the grid, the block and the shared memory"


def returned_local(facts: Facts) -> Words:
    """A device function that returns its local array; `reason` and `advice` are the compiler's."""
    reason = one_line(facts.get("reason", "a device function returns its local array"))
    return reason.removesuffix("."), one_line(facts.get("advice", "pass the array in"))


def raised(facts: Facts) -> Words:
    """An exception that the kernel's own code raised."""
    who = facts.who if facts.get("threads", ()) else "the kernel"
    what = one_line(facts.get("reason", facts.get("what", "an exception")))
    known = facts.line and not facts.get("somewhere", False)  # else the line is that of its `def`
    check = f"check the values that line {facts.line} uses" if known else "check what leads there"
    return f"{who} stopped{facts.here if known else ''} with {what}", (
        f"{check}; a GPU reports it only if the kernel is compiled with `debug=True`"
    )


def idle_threads(facts: Facts) -> Words:
    """Whole blocks in which no thread touched memory; `idle` and `total` count blocks."""
    idle, total = facts.get("idle", None), facts.get("total", None)
    if idle is None:
        message = "in some blocks no thread reads or writes memory"
    else:
        of = some(idle, "block") if total is None else f"{idle} of {some(total, 'block')}"
        message = f"in {of} no thread reads or writes memory"
    return message, ("launch only as many blocks as the data needs: `launch.ceil_div(n, threads)`")


def block_order(facts: Facts) -> Words:
    """An answer that changes with the order in which blocks run."""
    count, total = facts.get("count", None), facts.get("elements", None)
    order = one_line(facts.get("reason", "in a different order"))
    place = name_element(facts.get("array"), facts.index) if facts.index else facts.array
    more = f" ({count} of {total} elements)" if count and total else ""
    message = f"when the blocks run {order}, {place} has a different value{more}"
    return f"{message}, and a GPU runs blocks in any order", (
        "do not let a block use what another block writes in the same launch: use an atomic, or "
        "do the second step in a second launch"
    )


def not_reproducible(facts: Facts) -> Words:
    """A sum of floats to which threads add in any order."""
    message = (
        f"several threads add floats to one element of {facts.array}{facts.here}, in any order, "
        "and each sum is rounded: the last bits may differ from run to run"
    )
    return message, (
        "if results must be bit-identical, sum in a fixed order (a partial sum per block, then one "
        "block that adds the partial sums), or add integers, as in fixed-point arithmetic; "
        "otherwise compare with a tolerance"
    )


def int32_overflow(facts: Facts) -> Words:
    """An index that 32 bits cannot hold."""
    value = f" reaches {facts.get('given')}" if facts.has("given") else " grows too large"
    limit = facts.get("limit", 2**31 - 1)
    message = (
        f"the index {facts.quoted(facts.element)}{facts.here}{value}, but an int32 holds at most "
        f"{limit}"
    )
    return message, (
        "compute it in 64 bits, for example `np.int64(row) * width + col`, or split the data "
        "into smaller arrays"
    )


def float64(facts: Facts) -> Words:
    """An expression of a float32 kernel that is float64; `reason` says what made it so."""
    reason, what = str(facts.get("reason")), facts.get("what")
    causes = [str(c) for c in facts.get("causes", ())]
    why = "is float64"
    if causes and causes != [what]:
        why = f"is float64 because of {_causes(causes, facts.get('kinds', ()))}"
    elif "literal" in reason:
        why = "is a literal of type float64"
    elif "division" in reason:
        why = "divides integers, which gives float64"
    elif "math" in reason or "call" in reason:
        why = "is a call that returns float64"
    subject = facts.quoted("an expression") if what else "an expression"
    message = (
        f"{subject}{facts.here} {why}, although the kernel's arrays are float32, and most GPUs "
        "compute float64 many times more slowly"
    )
    if causes:
        return message, f"write {_listed(f'np.float32({c})' for c in causes)}"
    if reason == "chosen":
        single = str(what).replace("float64", "float32")
        return message, f"write `{single}`" if single != what else "make it float32"
    if reason == "call":
        return message, "call the float32 version of the function, if it has one"
    return message, _as_float32(what)


def _causes(causes: list[str], kinds: Iterable[str]) -> str:
    """Name what makes an expression float64, with its types unless all are literals.

    >>> _causes(["2", "-0.5"], ["int64", "float64"]), _causes(["0.1", "n"], ["float64", "int32"])
    ('the literals `2` and `-0.5`', '`0.1` (float64) and `n` (int32)')
    """
    if all(_is_literal(cause) for cause in causes):
        return f"the literal{'s' if len(causes) > 1 else ''} {_listed(causes)}"
    return _joined([f"`{c}` ({k})" for c, k in zip(causes, kinds, strict=True)])


def _is_literal(text: str) -> bool:
    node = parsed(text)
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def _listed(texts: Iterable[str]) -> str:
    """Write pieces of code side by side.

    >>> _listed(["2"]), _listed(["a", "b", "c"])
    ('`2`', '`a`, `b` and `c`')
    """
    return _joined([f"`{text}`" for text in texts])


def _joined(texts: list[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def _as_float32(what: str) -> str:
    """Write the expression so that it stays float32, where that is easy to see.

    >>> _as_float32("0.5"), _as_float32("math.sqrt(n)"), _as_float32("total /= n")
    ('write `np.float32(0.5)`', 'write `math.sqrt(np.float32(n))`',
     'write `total /= np.float32(n)`')
    """
    tree = parsed(what) if what else None
    if isinstance(tree, (ast.Constant, ast.UnaryOp)):
        return f"write `np.float32({what})`"
    if isinstance(tree, ast.AugAssign):
        value = segment(what, tree.value)
        return f"write `{what.removesuffix(value)}np.float32({value})`"
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Div):
        left, right = segment(what, tree.left), segment(what, tree.right)
        return f"write `np.float32({left}) / np.float32({right})`"
    if isinstance(tree, ast.Call) and tree.args and not tree.keywords:
        inner = ", ".join(f"np.float32({segment(what, part)})" for part in tree.args)
        return f"write `{segment(what, tree.func)}({inner})`"
    return "make its operands float32, for example `np.float32(0.5)` instead of `0.5`"
