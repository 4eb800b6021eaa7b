"""Time two sides in turns after a warm-up, and compare their medians."""

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

# In a shorter sample the clock's resolution matters.
LEAST_SAMPLE = 200e-6
LEAST_ROUNDS = 5
MOST_ROUNDS = 1000


@dataclass(frozen=True)
class Timing:
    """Median seconds of one call on each side, and how they compare.

    `varied` is the spread of the samples over their median, of the side that varied more. Each
    round gives a ratio: `paired` is their median, `low` and `high` are their quintiles. `sides` are
    the samples of both sides, where there are any.
    """

    ours: float
    numpy: float
    rounds: int
    varied: float = 0.0
    low: float = 0.0
    high: float = 0.0
    paired: float = 0.0
    sides: tuple[Spread, Spread] | None = None

    @property
    def speedup(self) -> float:
        """NumPy's time over the kernel's; below 1 the kernel is slower.

        A round times both sides one after the other, so a change of the machine's speed affects
        its ratio less than the medians; and it lies within `low` and `high`.
        """
        if self.paired:
            return self.paired
        return self.numpy / self.ours if self.ours else math.inf


# Above this spread, as a fraction of the median, a side is not compared.
MOST_VARIED = 0.25
OURS = "gpukit"  # among the sides measured on a GPU


@dataclass(frozen=True)
class Spread:
    """Seconds of some samples: the median, and the quintiles `low` and `high`."""

    median: float
    low: float
    high: float
    samples: int

    @property
    def varied(self) -> float:
        """The distance between the quintiles over the median."""
        return (self.high - self.low) / self.median if self.median else 0.0

    @classmethod
    def of(cls, samples: Sequence[float]) -> Spread:
        """Return the spread of some samples."""
        ordered = sorted(samples)
        last = len(ordered) - 1
        low, high = ordered[round(0.2 * last)], ordered[round(0.8 * last)]
        return cls(statistics.median(ordered), low, high, len(ordered))


def units(name: str) -> str:
    """Return the operand type of a case's tensor cores; an empty string if it uses none.

    >>> units("matmul_tensor_tf32"), units("matmul_warpgroup_bf16"), units("matmul_tiled")
    ('tf32', 'bf16', '')
    """
    last = name.rpartition("_")[2]
    return last if name.startswith("matmul_") and last in ("tf32", "bf16") else ""


@dataclass(frozen=True)
class Comparison:
    """One kernel against NumPy: both works, each on its own data, and the expected result.

    `ours` returns when the GPU is done. `work` takes NumPy, or a library with its names, and the
    arrays `given`; it returns the answer or writes it into the last array. `result` fetches the
    kernel's output; `expected` is an independent answer in float64; `terms` is how many values are
    added into each element. `least` are the bytes of reading each input and writing each output
    once.
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
        """The operand type of tensor cores, `tf32` or `bf16`; empty for other kernels."""
        return units(self.name)

    def on(self, library: Any) -> Work:
        """Return the work of NumPy, or of a library with its names, on arrays of that library."""
        moved = [library.asarray(a) if isinstance(a, np.ndarray) else a for a in self.given]
        return functools.partial(self.work, library, *moved)

    def answer(self, library: Any) -> Any:
        """Return the answer of a library's work."""
        work = self.on(library)
        returned = work()
        return work.args[-1] if returned is None else returned  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Result:
    """The result of a comparison. `first` is the first launch, with compiling or loading.

    `gpu` are the times of all sides by GPU events, on a GPU; `failed` the errors of libraries that
    could not do the work.
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
        """The kernel's time, by GPU events on a GPU."""
        if self.gpu:
            return self.gpu[OURS].median
        return self.timing.ours if self.timing else math.inf

    @property
    def flops_rate(self) -> float:
        """Floating-point operations per second; 0 if nothing was timed."""
        return self.cost.flops / self.seconds


@contextmanager
def no_collector() -> Iterator[None]:
    """Disable the garbage collector inside a `with` block, so that it runs in no sample."""
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
    """Return the number of calls in a sample that is long enough to time. This also warms up."""
    work()
    once = _sample(work, 1, clock)
    return max(1, math.ceil(LEAST_SAMPLE / max(once, 1e-9))) if once < LEAST_SAMPLE else 1


def compare(
    ours: Work, numpy: Work, *, seconds: float = 1.0, clock: Clock = time.perf_counter
) -> Timing:
    """Time both sides in turns for about `seconds` and return their medians.

    The side that goes first changes from round to round, so that neither always finds the other's
    data in the cache.
    """
    sides = (ours, numpy)
    repeats = [_repeats(side, clock) for side in sides]
    samples: tuple[list[float], list[float]] = ([], [])
    start = clock()
    with no_collector():
        for number in range(MOST_ROUNDS):
            if number >= LEAST_ROUNDS and clock() - start >= seconds:
                break
            for side in (0, 1) if number % 2 == 0 else (1, 0):
                samples[side].append(_sample(sides[side], repeats[side], clock))
    mine, theirs = map(Spread.of, samples)
    varied = max(mine.varied, theirs.varied)
    ratio = Spread.of([theirs / ours for ours, theirs in zip(*samples, strict=True) if ours])
    return Timing(
        mine.median,
        theirs.median,
        mine.samples,
        varied,
        ratio.low,
        ratio.high,
        ratio.median,
        (mine, theirs),
    )


def allowed(expected: NDArray[Any], dtype: np.dtype[Any], terms: int) -> float:
    """Return the error that rounding explains: it grows with the square root of the terms."""
    if dtype.kind != "f":
        return 0.0
    largest = float(np.max(np.abs(expected), initial=0.0))
    return 8 * float(np.finfo(dtype).eps) * math.sqrt(max(terms, 1)) * largest


def mistake(comparison: Comparison) -> str:
    """Return what is wrong with the kernel's answer, or an empty string."""
    got, expected = np.asarray(comparison.result()), np.asarray(comparison.expected())
    return difference(got, expected, comparison.terms)


def difference(got: NDArray[Any], expected: NDArray[Any], terms: int) -> str:
    """Return where `got` differs from `expected` (float64) by more than rounding, or nothing.

    `terms` is how many values were added into each element.
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
    """Launch once; return its seconds and what is wrong with the answer, or an empty string.

    An exception counts as wrong: one kernel's failure must not hide the others' figures.
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
