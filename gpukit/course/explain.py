"""Say what went wrong: first the fact, then the place, then what to look at."""

from __future__ import annotations

import difflib
import signal
from typing import Any

from gpukit.course.compare import Mismatch
from gpukit.course.runner import Outcome


def mismatch(found: Mismatch) -> str:
    """Explain a wrong output."""
    element = f"{found.output}[{', '.join(map(str, found.index))}]"
    verb = "is" if found.wrong == 1 else "are"
    lines = [
        f"{found.wrong} of {found.total} elements of {found.output} {verb} wrong: {found.where}."
        if found.total > 1
        else f"The only element of {found.output} is wrong."
    ]
    got = "nothing: it was never written" if found.first_unwritten else _value(found.got)
    lines.append(f"The first is {element}: expected {_value(found.expected)}, got {got}.")
    if found.unwritten and found.wrong > 1:
        lines.append(_never_written(found))
    if found.resembles:
        lines.append(f"Look: {found.resembles}.")
    return "\n".join(lines)


def _never_written(found: Mismatch) -> str:
    if found.unwritten == found.wrong:
        return "None of the wrong ones was ever written: no thread stored anything there."
    return f"{found.unwritten} of the wrong ones were never written; the others hold wrong values."


def _value(value: Any) -> str:
    """Return a number as a person writes it, with as many digits as its type holds.

    >>> import numpy as np
    >>> _value(np.float32(0.1)), _value(np.int32(7))
    ('0.1', '7')
    """
    return str(value)


def changed(names: list[str]) -> str:
    """Explain that a kernel wrote to its inputs."""
    listed = " and ".join(names)
    return (
        f"The outputs are right, but the kernel also wrote to {listed}, which is an input. "
        "Write only to the output."
    )


def outcome(found: Outcome, source: str) -> str:
    """Explain why a case has no answer."""
    facts = found.facts
    if found.kind == "timeout":
        return (
            f"Stopped after {facts['seconds']:g} seconds without an answer. "
            "Look for a loop whose condition never becomes false."
        )
    if found.kind == "died":
        return _died(int(facts["code"]))
    if found.kind == "missing":
        return _missing(facts)
    if found.kind == "protocol":
        return "The process that ran your file did not send an answer that can be read."
    return _error(facts, source)


def _died(code: int) -> str:
    if code >= 0:
        return f"Your file ended Python itself (exit code {code}) before giving an answer."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"The process that ran your file was ended by {name}."


def _missing(facts: dict[str, Any]) -> str:
    entry, kernels = facts["missing"], facts["kernels"]
    if facts["plain"]:
        return f"{entry} is there, but it is not a kernel. Put @cuda.jit on the line above it."
    text = f"Expected a kernel named {entry}, found none."
    close = difflib.get_close_matches(entry, kernels, n=1, cutoff=0.6)
    if close:
        return f"{text} Did you mean to call {close[0]} that?"
    if kernels:
        return f"{text} Found: {', '.join(kernels)}."
    return f"{text} Define it with @cuda.jit."


def _error(facts: dict[str, Any], source: str) -> str:
    """Explain an exception that the student's file or its kernel raised."""
    kind, number = facts["type"], int(facts["line"])
    ours = "GpukitError" in facts["bases"]
    lines = [f"{kind} in line {number}:" if number else f"{kind}:"]
    lines += _excerpt(source, number)
    lines.append(facts["message"].strip() or "(no message)")
    if ours and facts.get("fix"):
        lines.append(f"What to do: {facts['fix']}")
    return "\n".join(lines)


def _excerpt(source: str, number: int) -> list[str]:
    """Return the line and one above and below, the line itself marked."""
    text = source.splitlines()
    if not 1 <= number <= len(text):
        return []
    numbers = range(max(1, number - 1), min(len(text), number + 1) + 1)
    return [f"  {'>' if n == number else ' '} {n:3d} | {text[n - 1].rstrip()}" for n in numbers]
