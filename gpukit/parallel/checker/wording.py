"""What the findings about gradients have in common: their words and numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpukit.parallel.checker.cases import Case
from gpukit.parallel.checker.findings import Finding, make


def say(kind: str, case: Case, message: str, fix: str, place: Any, other: Any = None) -> Finding:
    """Return a finding about the gradient of a case."""
    return make(
        kind,
        f"{message[:1].upper()}{message[1:]}",
        fix,
        place,
        other,
        parameters=(case.name,),
        ranks=case.ranks,
        step=case.step,
    )


def gradient(case: Case) -> str:
    """Return in words which gradient a case is about."""
    return f"the gradient of `{case.name}` in update {case.step}"


def total(case: Case) -> str:
    """Return in words how the gradients of the ranks make up that of one process, or ""."""
    if case.expected is None:
        return ""
    total = np.sum(list(case.found.values()), axis=0)
    if case.close(total, case.expected):
        return "; their sum is the gradient of one process"
    if case.close(total / len(case.ranks), case.expected):
        return "; their mean is the gradient of one process"
    return ""


def number(c: float) -> str:
    """Return a factor in words.

    >>> number(0.25), number(3.0), number(1.7)
    ('1/4', '3', '1.7')
    """
    for text, value in ((f"{round(c)}", round(c)), (f"1/{round(1 / c) if c else 0}", None)):
        exact = value if value is not None else (1 / round(1 / c) if c and round(1 / c) else None)
        if exact and math.isclose(c, exact, rel_tol=0.01):
            return text
    return f"{c:.3g}"
