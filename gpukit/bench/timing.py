"""Measure two ways of doing one thing: warm, in turns, medians."""

from __future__ import annotations

import functools
import gc
import logging
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukit.launch import Cost

Clock = Callable[[], float]
Work = Callable[[], object]

# A sample shorter than this says more about the clock than about the work.
LEAST_SAMPLE = 200e-6
LEAST_ROUNDS = 5
MOST_ROUNDS = 1000


@dataclass(frozen=True)
class Timing:
    """Median seconds of one call on each side, and how they compare.

    `varied` is how far the samples of a side lie apart, as a part of their median: of two sides
    that of the one which varied more. The rounds each give a ratio: `paired` is their median, `low`
    and `high` are those that a fifth of the rounds lie below and above.
    """

    ours: float
    numpy: float
    rounds: int
    varied: float = 0.0
    low: float = 0.0
    high: float = 0.0
    paired: float = 0.0

    @property
    def speedup(self) -> float:
        """How many times faster ours is than NumPy; below 1 it is slower.

        A round times both sides one after the other, so its ratio suffers less than the medians
        of the sides where the machine's speed changes meanwhile; and it lies within `low` and
        `high`, which are of the same rounds.
        """
        if self.paired:
            return self.paired
        return self.numpy / self.ours if self.ours else math.inf


# A side whose samples lie further apart than this part of their median is compared with nothing.
MOST_VARIED = 0.25
OURS = "gpukit"  # our side, among those that are measured on a GPU


@dataclass(frozen=True)
class Spread:
    """Seconds of some samples: the median, and those that a fifth lie below and a fifth above."""

    median: float
    low: float
    high: float
    samples: int

    @property
    def varied(self) -> float:
        """How far the samples between lie apart, as a part of the median."""
        return (self.high - self.low) / self.median if self.median else 0.0

    @classmethod
    def of(cls, samples: Sequence[float]) -> Spread:
        """Return the spread of some samples."""
        ordered = sorted(samples)
        last = len(ordered) - 1
        low, high = ordered[round(0.2 * last)], ordered[round(0.8 * last)]
        return cls(statistics.median(ordered), low, high, len(ordered))


def units(name: str) -> str:
    """Return what the tensor cores of a case round its factors to; nothing where it has none.

    >>> units("matmul_tensor_tf32"), units("matmul_warpgroup_bf16"), units("matmul_tiled")
    ('tf32', 'bf16', '')
    """
    last = name.rpartition("_")[2]
    return last if name.startswith("matmul_") and last in ("tf32", "bf16") else ""


@dataclass(frozen=True)
class Comparison:
    """One kernel against NumPy: two ways to work on data of their own, and how to check ours.

    `ours` returns when the GPU is done. `work` takes NumPy, or a library with its names, and its
    arrays, `given`; it returns the answer or writes it into the last of them. `result` fetches what
    ours wrote; `expected` is an independent answer in float64; `terms` is how many values were
    added into each element. `least` are the bytes that anyone must move: each input read once, each
    output written once.
    """

    name: str
    group: str
    size: str
    ours: Work
    work: Callable[..., Any]
    given: tuple[Any, ...]
    result: Callable[[], NDArray[Any]]
    expected: Callable[[], NDArray[Any]]
    cost: Cost
    terms: int = 1
    least: int = 0

    @property
    def units(self) -> str:
        """What tensor cores round its factors to, `tf32` or `bf16`; nothing elsewhere."""
        return units(self.name)

    def on(self, library: Any) -> Work:
        """Return the work of NumPy or of a library with its names, on arrays that it has made."""
        moved = [library.asarray(a) if isinstance(a, np.ndarray) else a for a in self.given]
        return functools.partial(self.work, library, *moved)

    def answer(self, library: Any) -> Any:
        """Return what the work of a library comes to."""
        work = self.on(library)
        returned = work()
        return work.args[-1] if returned is None else returned  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Result:
    """What came out of a comparison. `first` is the first launch, with compiling or loading.

    `gpu` are the times of all sides as a GPU's own clock has them, where there is one, `failed`
    what libraries said that could not do the work there.
    """

    name: str
    group: str
    size: str
    right: bool
    error: str
    first: float
    timing: Timing | None
    cost: Cost
    least: int = 0
    gpu: Mapping[str, Spread] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long the kernel takes: by the GPU's own clock, where there is one."""
        if self.gpu:
            return self.gpu[OURS].median
        return self.timing.ours if self.timing else math.inf

    @property
    def flops_rate(self) -> float:
        """Floating-point operations a second; 0 where nothing was timed."""
        return self.cost.flops / self.seconds


@contextmanager
def _no_collector() -> Iterator[None]:
    """Keep the garbage collector from running inside a sample."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _sample(work: Work, repeats: int, clock: Clock) -> float:
    start = clock()
    for _ in range(repeats):
        work()
    return (clock() - start) / repeats


def _repeats(work: Work, clock: Clock) -> int:
    """Return how many calls make a sample long enough to time. The call also warms up."""
    work()
    once = _sample(work, 1, clock)
    return max(1, math.ceil(LEAST_SAMPLE / max(once, 1e-9))) if once < LEAST_SAMPLE else 1


def compare(
    ours: Work, numpy: Work, *, seconds: float = 1.0, clock: Clock = time.perf_counter
) -> Timing:
    """Time both sides in turns for about `seconds` and return their medians.

    Whoever goes first changes from round to round, so neither always finds the other's data in
    the cache.
    """
    sides = (ours, numpy)
    repeats = [_repeats(side, clock) for side in sides]
    samples: tuple[list[float], list[float]] = ([], [])
    start = clock()
    with _no_collector():
        for number in range(MOST_ROUNDS):
            if number >= LEAST_ROUNDS and clock() - start >= seconds:
                break
            for side in (0, 1) if number % 2 == 0 else (1, 0):
                samples[side].append(_sample(sides[side], repeats[side], clock))
    mine, theirs = map(Spread.of, samples)
    varied = max(mine.varied, theirs.varied)
    ratio = Spread.of([theirs / ours for ours, theirs in zip(*samples, strict=True) if ours])
    return Timing(
        mine.median, theirs.median, mine.samples, varied, ratio.low, ratio.high, ratio.median
    )


def allowed(expected: NDArray[Any], dtype: np.dtype[Any], terms: int) -> float:
    """Return the error that rounding explains: it grows with the root of the terms added."""
    if dtype.kind != "f":
        return 0.0
    largest = float(np.max(np.abs(expected), initial=0.0))
    return 8 * float(np.finfo(dtype).eps) * math.sqrt(max(terms, 1)) * largest


def mistake(comparison: Comparison) -> str:
    """Return what is wrong with our answer, or nothing."""
    got, expected = np.asarray(comparison.result()), np.asarray(comparison.expected())
    return difference(got, expected, comparison.terms)


def difference(got: NDArray[Any], expected: NDArray[Any], terms: int) -> str:
    """Return where `got` differs from `expected` (float64) by more than rounding, or nothing.

    `terms` is how many numbers were added up into each value.
    """
    if got.shape != expected.shape:
        return f"the answer has shape {got.shape}, not {expected.shape}"
    error = np.abs(got.astype(np.float64) - expected)
    wrong = ~(error <= allowed(expected, got.dtype, terms))
    if not wrong.any():
        return ""
    index = tuple(int(n) for n in np.argwhere(wrong)[0])
    return (
        f"{int(wrong.sum())} of {wrong.size} values are wrong, the first at {index}: "
        f"expected {expected[index]:.7g}, got {got[index]:.7g}"
    )


def first_answer(comparison: Comparison) -> tuple[float, str]:
    """Launch once; return the seconds that it took and what is wrong with the answer, or nothing.

    An exception is wrong too: one kernel's failure must not hide the others' figures.
    """
    start = time.perf_counter()
    try:
        comparison.ours()
        first = time.perf_counter() - start
        return first, mistake(comparison)
    except Exception as failure:
        logging.getLogger(__name__).info("%s", comparison.name, exc_info=True)
        return time.perf_counter() - start, f"{type(failure).__name__}: {failure}"


def run(comparison: Comparison, seconds: float = 1.0) -> Result:
    """Launch once, check the answer, and only then time."""
    first, error = first_answer(comparison)
    timing = None if error else compare(comparison.ours, comparison.on(np), seconds=seconds)
    return Result(
        comparison.name,
        comparison.group,
        comparison.size,
        not error,
        error,
        first,
        timing,
        comparison.cost,
        comparison.least,
    )
