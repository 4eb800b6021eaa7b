"""Every kernel of the book: the launches of its benchmark, and loops by hand where threads meet."""

from __future__ import annotations

from benchmarks.plain_loops import by_hand
from benchmarks.plain_loops.case import Case, Launch
from gpukit.bench import cases, register

assert cases  # registers the kernels


def make(name: str) -> Case:
    """Return the case of a kernel of the book, with the data that `gpukit bench` gives it."""
    comparison = register.make(name)
    launches = [
        Launch(
            function := part.kernel.py_func,
            *part.shape[:2],
            tuple(part.arguments),
            by_hand.LOOPS.get(function.__name__.removesuffix("_kernel")),
            part.shape[3],
        )
        for part in register.parts_of(comparison.ours)
    ]
    return Case(launches, [(comparison.result(), comparison.expected())], comparison.terms)
