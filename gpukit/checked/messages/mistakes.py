"""Words for what a kernel's text says and cannot mean."""

from __future__ import annotations

import ast

from gpukit.checked.messages.phrases import Facts, parsed, segment

Words = tuple[str, str]


def lost_value(facts: Facts) -> Words:
    """A parameter that is set and not read again; `reason` says what it is."""
    name = str(facts.get("what", "a parameter"))
    reason = facts.get("reason")
    if reason == "array":
        return (
            f"the kernel assigns to the name `{name}`{facts.here}, which does not change the "
            f"array `{name}`",
            f"write to an element: `{name}[i] = ...`",
        )
    if reason == "function":
        return (
            f"`{name}` is assigned{facts.here} and not read again; the caller's value does not "
            "change",
            f"return it with `return {name}`, and let the caller store it",
        )
    return (
        f"`{name}` is a number, so each thread assigns to its own copy{facts.here}, and the value "
        "is lost",
        f"pass an array of one element, and write `cuda.atomic.add({name}, 0, value)`",
    )


def no_effect(facts: Facts) -> Words:
    """A statement that computes a value, and does nothing with it."""
    what = facts.get("what")
    message = f"{facts.quoted('an expression')}{facts.here} computes a value that is not used"
    tree = parsed(what)
    if facts.get("reason") == "equality" and isinstance(tree, ast.Compare):
        left, right = segment(what, tree.left), segment(what, tree.comparators[0])
        return f"{message}: `==` compares and stores nothing", f"write `{left} = {right}`"
    return message, "store it, as in `y = ...`, or remove the line"


def zero_division(facts: Facts) -> Words:
    """A division by a literal 0."""
    what = f"`{facts.get('what')}`" if facts.get("what") else "a division"
    return (
        f"{what}{facts.here} divides by zero, which is not an error on a GPU: the result is "
        "meaningless",
        "divide by something else, or remove the line",
    )


def stale_constant(facts: Facts) -> Words:
    """A global that was changed after the first launch."""
    name = str(facts.get("what", "a global"))
    return (
        f"`{name}`{facts.here} was changed after the kernel was compiled, but a GPU still uses the "
        "old value: in a kernel, variables from outside are compile-time constants",
        f"pass `{name}` to the kernel as an argument",
    )
