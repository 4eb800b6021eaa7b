"""Which mistake in an index leaves just these elements unwritten.

Each axis of an output belongs to an axis of the launch, the last one to x. A candidate says which
indices an axis gets; one axis is wrong, or all are. Where several cases fail, only a sentence that
holds in all of them is worth saying (`verdicts.hint`).
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gpukit.course.case import Case
from gpukit.course.compare import Mask


class Axis(NamedTuple):
    """One axis of a launch: its letter, the elements along it, its blocks and their threads."""

    letter: str
    size: int
    grid: int
    block: int

    @property
    def numbers(self) -> Any:
        """`cuda.grid(1)` of each thread along this axis."""
        return np.arange(self.grid * self.block)

    @property
    def block_index(self) -> Any:
        """`cuda.blockIdx` of each thread."""
        return self.numbers // self.block

    @property
    def thread_index(self) -> Any:
        """`cuda.threadIdx` of each thread."""
        return self.numbers % self.block


def _spaced(step: int, axis: Axis) -> Any:
    """Return the indices of blocks that stand `step` apart."""
    return axis.block_index * step + axis.thread_index


# What stands where the index should be, which indices come of it, and what to say.
_MISTAKES: tuple[tuple[Callable[[Axis], Any], str], ...] = (
    (
        lambda axis: axis.thread_index,
        "Only the first block{along} wrote its elements: the index is missing `cuda.blockIdx.{a} * "
        "cuda.blockDim.{a}`. {grid}",
    ),
    (
        lambda axis: axis.block_index,
        "One element per block{along} was written: the index is missing `cuda.threadIdx.{a}`, and "
        "`cuda.blockIdx.{a}` must be multiplied by `cuda.blockDim.{a}`. {grid}",
    ),
    (
        lambda axis: axis.block_index * axis.block,
        "Only the first element of each block{along} was written: the index is missing "
        "`cuda.threadIdx.{a}`. {grid}",
    ),
    (
        lambda axis: axis.block_index + axis.thread_index,
        "The blocks{along} overlap: `cuda.blockIdx.{a}` must be multiplied by "
        "`cuda.blockDim.{a}`. {grid}",
    ),
    (
        lambda axis: axis.thread_index * axis.block + axis.block_index,
        "Block and thread index{along} are swapped: write `cuda.blockIdx.{a} * cuda.blockDim.{a} + "
        "cuda.threadIdx.{a}`. {grid}",
    ),
    (
        lambda axis: np.arange(axis.size // axis.block * axis.block),
        "The last block{along}, which is only partly filled, wrote nothing: a division rounds "
        "down, or a guard skips the whole block.",
    ),
    (
        lambda axis: np.arange(axis.size - 1),
        "The last element{along} was not written: a guard or a range ends one element too early.",
    ),
    (
        lambda axis: np.arange(1, axis.size),
        "The first element{along} was not written: a guard or a range starts one element too late.",
    ),
    (
        lambda axis: axis.numbers,
        "Each thread{along} wrote one element, and there are more elements than threads: use a "
        "grid-stride loop, whose stride is the total number of threads.",
    ),
)
_STEPS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
_GRID = "`cuda.grid({n})` {gives}."
_GIVES = {
    1: "is shorthand for the whole expression",
    2: "returns column and row",
    3: "returns column, row and plane",
}
_EXCHANGED = {
    2: "Rows and columns are swapped, in the index or in its guard: x is the column, y the row.",
    3: "The axes are swapped, in the index or in its guard: x is the column, y the row, "
    "z the plane.",
}


def sentences(case: Case, got_written: Mask, source: str = "") -> list[str]:
    """Return what may explain that an output was written just here and nowhere else.

    An answer whose `source` takes the place of a thread from `cuda.grid` alone computes it right.
    """
    axes = _axes(case, got_written.shape)
    is_right = "cuda.grid(" in source and not re.search("(block|thread)Idx", source)
    if not axes or not got_written.size:
        return []
    found = []
    for wrong in _which(len(axes)):
        for indices, words in _MISTAKES:
            kept = [
                _mask(axis, indices(axis) if k in wrong else np.arange(axis.size))
                for k, axis in enumerate(axes)
            ]
            if _is(kept, got_written) and not (is_right and "cuda." in words):
                found.append(_say(words, axes, wrong))
        for step in () if is_right else _STEPS:
            kept = [
                _mask(axis, _spaced(step, axis) if k in wrong else np.arange(axis.size))
                for k, axis in enumerate(axes)
            ]
            if _is(kept, got_written) and step not in [axes[k].block for k in wrong]:
                found.append(_apart(step, axes, wrong))
    if any(_is(kept, got_written) for kept in _exchanged(axes)):
        found.append(_EXCHANGED[len(axes)])
    return list(dict.fromkeys(found))


def _axes(case: Case, shape: tuple[int, ...]) -> list[Axis]:
    """Return the axes of a launch that fit the axes of an output; none where they do not."""
    if case.per != "thread" or not 1 <= len(shape) <= 3:
        return []
    grid, block = _triple(case.grid), _triple(case.block)
    if any(n > 1 for n in (*grid[len(shape) :], *block[len(shape) :])):
        return []
    return [Axis("xyz"[k], shape[-1 - k], grid[k], block[k]) for k in reversed(range(len(shape)))]


def _triple(sizes: int | tuple[int, ...]) -> tuple[int, ...]:
    given = sizes if isinstance(sizes, tuple) else (sizes,)
    return (*given, 1, 1, 1)[:3]


def _which(count: int) -> list[tuple[int, ...]]:
    """Return the axes that may be wrong: each alone, the last first, then all."""
    alone: list[tuple[int, ...]] = [(k,) for k in reversed(range(count))]
    return alone if count == 1 else [*alone, tuple(range(count))]


def _mask(axis: Axis, indices: Any) -> Mask:
    mask = np.zeros(axis.size, bool)
    mask[indices[(indices >= 0) & (indices < axis.size)]] = True
    return mask


def _is(kept: list[Mask], got_written: Mask) -> bool:
    """Tell whether just the elements were written whose index is kept along every axis."""
    if all(mask.all() for mask in kept):
        return False
    return np.array_equal(functools.reduce(np.logical_and.outer, kept), got_written)


def _exchanged(axes: list[Axis]) -> Iterator[list[Mask]]:
    """Yield what is kept where each index comes from another axis; forwards and backwards."""
    for order in itertools.permutations(axes):
        if list(order) != axes:
            kept = [_mask(a, theirs.numbers) for a, theirs in zip(axes, order, strict=True)]
            yield kept
            for k in range(len(kept)):
                yield [*kept[:k], kept[k][::-1], *kept[k + 1 :]]


def _say(words: str, axes: list[Axis], wrong: tuple[int, ...]) -> str:
    """Name the axis that is wrong; where there is only one, nothing has to be named."""
    letter = axes[wrong[-1]].letter
    along = f" along {letter}" if len(wrong) == 1 else " along each axis"
    grid = _GRID.format(n=len(axes), gives=_GIVES[len(axes)])
    return words.format(along="" if len(axes) == 1 else along, a=letter, grid=grid)


def _apart(step: int, axes: list[Axis], wrong: tuple[int, ...]) -> str:
    """Say that blocks start another number of elements apart than they have threads."""
    axis = axes[wrong[-1]]
    if len(wrong) > 1:
        return (
            f"The blocks start {step} elements apart along each axis: the distance must be the "
            "number of threads of a block along that axis (`cuda.blockDim`)."
        )
    along = "" if len(axes) == 1 else f" along {axis.letter}"
    more = ", or let each thread take more" if step > axis.block else ""
    effect = "and one element per thread was written" if more else "so they overlap"
    return (
        f"The blocks{along} start {step} elements apart, but each has {axis.block} threads{along}, "
        f"{effect}: start them {axis.block} apart (`cuda.blockDim.{axis.letter}`){more}."
    )
