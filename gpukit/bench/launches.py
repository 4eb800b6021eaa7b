"""What a benchmark case launches: the kernel, the shape, and the arguments before it ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

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
    found: list[Launched] = []
    _observe(name, found.append)
    return found


def first_launch(name: str) -> Launched:
    """Return the first of `launches(name)`, which does not run: its kernel is not compiled."""
    try:
        _observe(name, _stop)
    except _Stopped as stopped:
        return stopped.launched
    raise LookupError(f"the case {name} does not launch its kernel")


class _Stopped(Exception):
    def __init__(self, launched: Launched) -> None:
        self.launched = launched


def _stop(launched: Launched) -> NoReturn:
    raise _Stopped(launched)


def _observe(name: str, see: Callable[[Launched], None]) -> None:
    """Run the case called `name`, made small; see each launch of its kernel before it runs."""
    wanted = CASES[name].kernel.py_func

    def observer(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        if kernel.py_func is wanted:
            see(Launched(kernel, shape, copied(arguments)))
        launcher.observe_launches(before)
        try:
            kernel[shape.grid, shape.block, 0, shape.shared](*arguments)
        finally:
            launcher.observe_launches(observer)

    comparison = CASES[name].make(True)
    before = launcher.observe_launches(observer)
    try:
        comparison.ours()
    finally:
        launcher.observe_launches(before)


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments whose arrays are copies."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)
