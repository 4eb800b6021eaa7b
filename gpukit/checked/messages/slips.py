"""Words for what a kernel's text says and cannot mean."""

from __future__ import annotations

from gpukit.checked.messages.phrases import Facts

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
