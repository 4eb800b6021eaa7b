"""The register of benchmark cases: which there are, and what every maker of one needs."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpukit import cuda, errors, launch, target
from gpukit.bench.timing import Contest


class BenchError(errors.GpukitError):
    """There is no such case."""


class Entry(NamedTuple):
    """A case of the registry: the kernel it times, its family, and how to make it."""

    kernel: Any
    family: str
    make: Callable[[bool], Contest]


CASES: dict[str, Entry] = {}
Maker = Callable[[str, Any, bool], Contest]


def family(module: Any, *names: str) -> Callable[[Maker], Maker]:
    """Register a maker for kernels of one module, one entry for each name."""
    room = module.__name__.rpartition(".")[2]

    def register(maker: Maker) -> Maker:
        for name in names:
            kernel = getattr(module, f"{name}_kernel")
            CASES[name] = Entry(
                kernel,
                room,
                lambda quick, n=name, k=kernel: maker(n, k, quick),  # type: ignore[misc]
            )
        return maker

    return register


def choose(names: Sequence[str]) -> list[str]:
    """Return the cases meant by names: a kernel, a family, or how kernels' names begin.

    No name means all. `sum` means all rungs of the sum, from sum_interleaved to sum_vectorised.
    """
    if not names:
        return list(CASES)
    chosen = {name: _meant(name) for name in names}
    for name, found in chosen.items():
        if not found:
            raise BenchError(f"bench: expected a kernel or a family, got {name!r}. {_guess(name)}")
    return [name for name in CASES if any(name in found for found in chosen.values())]


def choose_one(name: str) -> str:
    """Return the case meant by a kernel's name, its own or the one that it has in its module."""
    short = name.removesuffix("_kernel")
    if short not in CASES:
        raise BenchError(f"expected the name of a kernel, got {name!r}. {_guess(short)}")
    return short


def _meant(name: str) -> list[str]:
    if name in CASES:
        return [name]
    return [
        case for case, entry in CASES.items() if name == entry.family or case.startswith(f"{name}_")
    ]


def _guess(name: str) -> str:
    known = {*CASES, *(entry.family for entry in CASES.values())}
    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]}?" if close else f"There are: {', '.join(sorted(known))}."


def make(name: str, *, quick: bool = False) -> Contest:
    """Return the contest called `name`, with its data."""
    return CASES[name].make(quick)


def random(*shape: int) -> Any:
    """Return normal float32 numbers with a mean, so that no sum is nearly zero."""
    return np.random.default_rng(20261120).normal(0.25, 1, shape).astype(np.float32)


def launcher(kernel: Any, grid: Any, block: Any, *arguments: Any) -> Callable[[], None]:
    """Return a call that launches and waits; arrays are on the device already."""
    moved = [launch.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    if target.active().name != "cuda":
        # Launches return when the kernel is done.
        return lambda: kernel[grid, block](*moved)

    def run() -> None:
        kernel[grid, block](*moved)
        cuda.synchronize()

    return run


def contest(name: str, size: str, ours: Any, numpy: Any, out: Any, **rest: Any) -> Contest:
    return Contest(
        name=name,
        family=CASES[name].family,
        size=size,
        ours=ours,
        numpy=numpy,
        result=lambda: launch.to_host(out),
        **rest,
    )
