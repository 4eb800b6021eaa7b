"""What a benchmark case launches: the kernel, the shape, and the arguments before it ran."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpukit.bench.cases import CASES
from gpukit.cpu.launch import launcher


class Launched(NamedTuple):
    """One launch, with arguments that are nobody else's."""

    kernel: Any
    shape: Any
    arguments: tuple[Any, ...]


def launches(name: str) -> list[Launched]:
    """Return what the case called `name`, made small, launches of the kernel it is about.

    The launches run, on the CPU: a case may launch more than once, each on what came before.
    """
    wanted = CASES[name].kernel.py_func
    found: list[Launched] = []

    def observer(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        if kernel.py_func is wanted:
            found.append(Launched(kernel, shape, copied(arguments)))
        launcher.observe_launches(before)
        try:
            kernel[shape.grid, shape.block, 0, shape.shared](*arguments)
        finally:
            launcher.observe_launches(observer)

    contest = CASES[name].make(True)
    before = launcher.observe_launches(observer)
    try:
        contest.ours()
    finally:
        launcher.observe_launches(before)
    return found


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments whose arrays are copies."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)
