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
            f"the kernel gives the name `{name}` another value{facts.here}, so the array `{name}` "
            "stays as it is",
            f"write to an element: `{name}[i] = ...`",
        )
    if reason == "function":
        return (
            f"`{name}` is set{facts.here} and not read again; the caller's value stays as it is",
            f"return it: `return {name}`, and let the caller store that",
        )
    return (
        f"`{name}` is a number, so each thread sets a copy of its own{facts.here}, and nobody gets "
        "it",
        f"pass an array of one element, and write `cuda.atomic.add({name}, 0, value)`",
    )


def no_effect(facts: Facts) -> Words:
    """A statement that computes a value, and does nothing with it."""
    what = facts.get("what")
    message = f"{facts.quoted('an expression')}{facts.here} computes a value that nothing takes"
    tree = parsed(what)
    if facts.get("reason") == "equality" and isinstance(tree, ast.Compare):
        left, right = segment(what, tree.left), segment(what, tree.comparators[0])
        return f"{message}: `==` compares, and stores nothing", f"write `{left} = {right}`"
    return message, "store it, as in `y = ...`, or leave the line out"


def zero_division(facts: Facts) -> Words:
    """A division by a literal 0."""
    what = f"`{facts.get('what')}`" if facts.get("what") else "a division"
    return (
        f"{what}{facts.here} divides by zero, which is no error on a GPU: its value means nothing",
        "divide by something else, or leave the line out",
    )


def stale_constant(facts: Facts) -> Words:
    """A global that was changed after the first launch."""
    name = str(facts.get("what", "a global"))
    return (
        f"`{name}`{facts.here} was changed after the kernel was compiled, and a GPU still computes "
        "with the old value: what a kernel takes from outside is a constant",
        f"pass `{name}` to the kernel as an argument",
    )
