"""The launches of a benchmark case: kernel, shape, the arguments before it ran; a GPU's time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from gpukit import target
from gpukit.bench import estimated
from gpukit.bench.cases import CASES
from gpukit.bench.timing import Comparison
from gpukit.cpu.launch import launcher


class Launched(NamedTuple):
    """One launch, with its own copies of the arguments."""

    kernel: Any
    shape: Any
    arguments: tuple[Any, ...]


def launches(name: str) -> list[Launched]:
    """Return the launches of its own kernel by the case called `name`, with small sizes.

    The launches run on the CPU: a case may launch several times, each on the results before.
    """
    found: list[Launched] = []
    _observe(name, found.append)
    return found


def first_launch(name: str) -> Launched:
    """Return the first of `launches(name)` without running it: its kernel is not compiled."""
    try:
        _observe(name, _stop)
    except _Stopped as stopped:
        return stopped.launched
    raise LookupError(f"the case {name} does not launch its kernel")


def gpu_time(make: Callable[[], Comparison], gpu: str) -> estimated.GpuTime | None:
    """Return what a GPU needs for a case, which `make` returns; None where kernels run on a GPU.

    Kernels that stride get the grid of that GPU.
    """
    with target.planned_for(estimated.limits(gpu)):
        comparison = make()
    return estimated.time_of(comparison.ours, gpu)


class _Stopped(Exception):
    def __init__(self, launched: Launched) -> None:
        self.launched = launched


def _stop(launched: Launched) -> NoReturn:
    raise _Stopped(launched)


def _observe(name: str, see: Callable[[Launched], None]) -> None:
    """Run the case called `name` with small sizes; call `see` before each launch of its kernel."""
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
