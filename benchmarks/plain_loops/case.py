"""A case: launches of kernels, the loops to compare them with, and the expected answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from benchmarks.plain_loops import plain
from gpukit import cuda
from gpukit.bench import timing
from gpukit.launch import ceil_div

Shape = int | tuple[int, ...]
Work = Callable[[], None]


class Launch(NamedTuple):
    """One launch; `by_hand` are loops for a kernel that synchronizes threads."""

    kernel: Any
    grid: Shape
    block: Shape
    arguments: tuple[Any, ...]
    by_hand: Any = None
    shared: int = 0


@dataclass
class Case:
    """Launches one after the other; `answers` are arrays that they write, with the expected values.

    `terms` is how many rounded values are added into an element. Up to `few` elements may be wrong,
    where rounding decides how often a loop runs.
    """

    launches: list[Launch]
    answers: list[tuple[Any, Any]]
    terms: int = 1
    few: int = 0

    @property
    def by_hand(self) -> bool:
        """Whether any of the loops are written by hand."""
        return any(launch.by_hand is not None for launch in self.launches)


def case(
    kernel: Any,
    grid: Shape,
    block: Shape,
    arguments: tuple[Any, ...],
    *expected: Any,
    terms: int = 1,
    few: int = 0,
    by_hand: Any = None,
) -> Case:
    """Return a case of one launch, whose last arrays must equal `expected`."""
    written = [a for a in arguments if isinstance(a, np.ndarray)][-len(expected) :]
    answers = list(zip(written, expected, strict=True))
    return Case([Launch(kernel, grid, block, arguments, by_hand)], answers, terms, few)


def ours(case: Case, *, boundscheck: bool = False) -> Work:
    """Return the launches on gpukit's CPU target."""
    jit = cuda.jit(boundscheck=boundscheck)
    made = {launch.kernel: jit(launch.kernel) for launch in case.launches}

    def work() -> None:
        for kernel, grid, block, arguments, _, shared in case.launches:
            made[kernel][grid, block, 0, shared](*arguments)

    return work


def theirs(case: Case) -> Work:
    """Return the plain loops; raises `plain.Synchronizes` if they have to be written by hand."""
    made = {launch.kernel: launch.by_hand or plain.loops(launch.kernel) for launch in case.launches}

    def work() -> None:
        for kernel, grid, block, arguments, _, _ in case.launches:
            made[kernel](_three(grid), _three(block), *arguments)

    return work


def _three(shape: Shape) -> tuple[int, ...]:
    sizes = shape if isinstance(shape, tuple) else (shape,)
    return (*map(int, sizes), 1, 1)[:3]


def mistake(case: Case) -> str:
    """Return what is wrong with the answers in the arrays; an empty string if nothing is."""
    for got, expected in case.answers:
        for mine, right in zip(_parts(got), _parts(expected), strict=True):
            same = np.isnan(right) & np.isnan(mine)  # elements that stay unwritten
            wrong = timing.difference(np.where(same, 0, mine), np.where(same, 0, right), case.terms)
            many = wrong.partition(" ")[0]  # not a number if a shape is wrong
            if wrong and not (many.isdigit() and int(many) <= case.few):
                return wrong
    return ""


def _parts(array: Any) -> Iterator[Any]:
    """Yield an array, or its real and imaginary parts, or its fields."""
    array = np.asarray(array)
    if array.dtype.names:
        for name in array.dtype.names:
            yield from _parts(array[name])
    elif array.dtype.kind == "c":
        yield from (array.real, array.imag)
    else:
        yield array


# --- Parts of cases -----------------------------------------------------------------------------


def covering(block: Shape, *sizes: int) -> Shape:
    """Return the grid that covers `sizes` elements along x, y and z.

    >>> covering(256, 1000), covering((32, 8), 100, 100)
    (4, (4, 13))
    """
    if isinstance(block, int):
        return ceil_div(sizes[0], block)
    return tuple(map(ceil_div, sizes, block))


def floats(*shape: int, dtype: Any = np.float32, seed: int = 7) -> Any:
    """Return normally distributed numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def integers(low: int, high: int, *shape: int, dtype: Any = np.int32, seed: int = 7) -> Any:
    """Return integers from low to high - 1."""
    return np.random.default_rng(seed).integers(low, high, shape, dtype)


def nan(*shape: int, dtype: Any = np.float32) -> Any:
    """Return an array of NaN for a kernel to write."""
    return np.full(shape, np.nan, dtype)


def unset(*shape: int, dtype: Any = np.int32) -> Any:
    """Return an array for a kernel to write, filled with the largest integer."""
    return np.full(shape, np.iinfo(dtype).max, dtype)
